package chunk_test

import (
	"errors"
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/model/static/english"
	"sheaf/text/chunk"
)

// tokensNamed returns the tokens of the built-in model.
func tokensNamed(name string) chunk.Tokens {
	if e, err := english.New(); err == nil && e.Model() == name {
		return e.Pieces
	}
	return nil
}

// TestParse checks that the name of a chunker parses into a chunker with that name. So a token counter
// needs a name of one word.
func TestParse(t *testing.T) {
	for _, o := range []chunk.Options{
		{}, {Chunker: "tree", GitHubSlugs: true}, {Chunker: "sections"},
		{Chunker: "sections", Sections: chunk.SectionOptions{Cap: 123}},
		{Chunker: "window"},
		{Chunker: "window", GitHubSlugs: true,
			Window: chunk.WindowOptions{Size: 384, Overlap: 64, Boundary: "line", Large: true, TitlePrefix: true,
				MetadataSuffix: true}},
		{Chunker: "window", Window: chunk.WindowOptions{Size: 384, Overlap: 64, Tokens: tokensNamed("sheaf-en-1"),
			TokensName: "sheaf-en-1"}},
	} {
		made := must.Get(chunk.New(o))
		parsed, err := chunk.Parse(made.Name(), tokensNamed)
		if err != nil {
			t.Errorf("%s: %v", made.Name(), err)
			continue
		}
		if again, err := chunk.New(parsed); err != nil || again.Name() != made.Name() {
			t.Errorf("%s is read as %v, %v", made.Name(), again, err)
		}
	}
	if o, err := chunk.Parse("window", nil); err != nil || o.Chunker != "window" {
		t.Errorf("a bare name: %v, %v", o, err)
	}
	for _, name := range []string{"", "pages", "tree cap=1", "sections cap=x", "sections cap=1", "window size=5 overlap=9",
		"window tokens=sheaf-en-0", "window bold"} {
		if _, err := chunk.Parse(name, tokensNamed); !errors.Is(err, sheaf.ErrUnsupported) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := chunk.Parse("window tokens=sheaf-en-1", nil); !errors.Is(err, sheaf.ErrUnsupported) {
		t.Errorf("unknown tokens: %v", err)
	}
	one := func(text string, yield func(start, end int) bool) { yield(0, len(text)) }
	for _, o := range []chunk.WindowOptions{{TokensName: "sheaf-en-1"}, {Tokens: one, TokensName: "two words"}} {
		if _, err := chunk.New(chunk.Options{Chunker: "window", Window: o}); !errors.Is(err, sheaf.ErrInvalid) {
			t.Errorf("tokens %q: %v", o.TokensName, err)
		}
	}
}
