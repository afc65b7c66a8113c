package catalog

import (
	"errors"
	"fmt"
	"testing"

	"sheaf"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/chunk"
)

// TestDocumentsFiledByOtherVersion checks documents that another version of the program filed in another way. Check
// does not report them as damage. Once they are replaced and all segments are written again,
// nothing of the old filing remains.
func TestDocumentsFiledByOtherVersion(t *testing.T) {
	c := must.Get(Open(vfs.NewMem(), "/c", Options{}))
	defer c.Close()
	k := must.Get(chunk.New(chunk.Options{}))
	encoded := func(path string) Encoded {
		e := must.Get(Encode(&Record{Document: k.Chunk("t", path, []byte("# A\n\nx\n"))}))
		return e
	}
	u := Update{}
	for i := range 30 {
		e := encoded(fmt.Sprintf("n%02d.md", i))
		if i == 7 {
			e.names = append(e.names, keyItem{key: nameKey("t", "another")})
			e.labels = []labelKey{{labelTag, "another"}}
		}
		u.Encoded = append(u.Encoded, e)
	}
	faults := func(what string, want int) []error {
		t.Helper()
		v := c.View()
		defer v.Close()
		found := v.Check()
		for _, err := range found {
			check.That(t, errors.Is(err, ErrMisfiled) && errors.Is(err, sheaf.ErrCorrupt),
				"%s: %v is no fault of filing", what, err)
		}
		check.Equal(t, len(found), want, "%s: %v", what, found)
		return found
	}
	must.Do(t, c.Update(t.Context(), u))
	faults("stored under another name", 2)
	again := Update{Encoded: []Encoded{encoded("n07.md")}}
	must.Do(t, c.Update(t.Context(), again))
	faults("replaced", 2)
	for _, again := range []Update{{Whole: true}, {Whole: true, Delete: []sheaf.ID{"t:n08.md"}}, {Whole: true}} {
		must.Do(t, c.Update(t.Context(), again))
		faults("written as a whole", 0)
		v := c.View()
		check.That(t, len(v.segments) == 1 && v.segments[0].n == v.Docs(), "%d segments, %d documents", len(v.segments),
			v.Docs())
		v.Close()
	}
	all := Update{Whole: true}
	for i := range 30 {
		all.Delete = append(all.Delete, sheaf.DocumentID("t", fmt.Sprintf("n%02d.md", i)))
	}
	must.Do(t, c.Update(t.Context(), all))
	faults("without documents", 0)
}

// TestLengthOfTextContradictsPieces checks that neither reading nor merging accepts a text whose stored length differs
// from the sizes of its pieces.
func TestLengthOfTextContradictsPieces(t *testing.T) {
	c := must.Get(Open(vfs.NewMem(), "/c", Options{}))
	defer c.Close()
	r := Record{HasText: true, Text: []byte("some text")}
	r.Document.Tree, r.Document.Path, r.Document.ID = "t", "a.md", sheaf.DocumentID("t", "a.md")
	e := must.Get(Encode(&r))
	e.textSize++
	must.Do(t, c.Update(t.Context(), Update{Encoded: []Encoded{e}}))
	v := c.View()
	defer v.Close()
	check.Is(t, must.Err(v.Text(r.Document.ID)), sheaf.ErrCorrupt, "reading")
	check.Is(t, c.Update(t.Context(), Update{Whole: true}), sheaf.ErrCorrupt, "merging")
}
