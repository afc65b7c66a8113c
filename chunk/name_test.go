package chunk_test

import (
	"errors"
	"testing"

	"sheaf"
	"sheaf/chunk"
)

// TestParse: the name of a chunker gives back a chunker of that name.
func TestParse(t *testing.T) {
	for _, o := range []chunk.Options{
		{}, {Chunker: "tree", GitHubSlugs: true}, {Chunker: "sections"}, {Chunker: "sections", Sections: chunk.SectionOptions{Cap: 123}},
		{Chunker: "window"},
		{Chunker: "window", GitHubSlugs: true, Window: chunk.WindowOptions{Size: 384, Overlap: 64, Boundary: "line", Large: true, TitlePrefix: true, MetadataSuffix: true}},
	} {
		made, err := chunk.New(o)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := chunk.Parse(made.Name())
		if err != nil {
			t.Errorf("%s: %v", made.Name(), err)
			continue
		}
		if again, err := chunk.New(parsed); err != nil || again.Name() != made.Name() {
			t.Errorf("%s is read as %v, %v", made.Name(), again, err)
		}
	}
	if o, err := chunk.Parse("window"); err != nil || o.Chunker != "window" {
		t.Errorf("a bare name: %v, %v", o, err)
	}
	for _, name := range []string{"", "pages", "tree cap=1", "sections cap=x", "sections cap=1", "window size=5 overlap=9", "window tokens=wordpiece", "window bold"} {
		if _, err := chunk.Parse(name); !errors.Is(err, sheaf.ErrUnsupported) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
