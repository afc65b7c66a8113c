package collection_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/location"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestGivenDocumentsOfAnotherStore moves a folder to another store. Sheaf must name the given documents that stay in
// the old store, and TakeGiven must copy them.
func TestGivenDocumentsOfAnotherStore(t *testing.T) {
	folder, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	must.Do(t, os.WriteFile(filepath.Join(folder, "a.md"), []byte("# A\n"), 0o644))
	c, err := collection.Open(folder, collection.WithIndex(index), collection.WithModel(nil))
	must.Do(t, err)
	const id = sheaf.ID("api:g.md")
	_, err = c.Write(t.Context(), access.Unrestricted(),
		[]collection.Change{{ID: id, Put: &collection.DocumentInput{Text: "# G\n\ngiraffes\n"}}})
	must.Do(t, err)
	must.Do(t, c.Close())

	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	real, err := collection.RealFolder(folder)
	must.Do(t, err)
	x := collection.NewIndex(collection.Site{Folder: real, Where: location.Finder{Index: index}.Own(real), Named: true},
		collection.Making{Update: true, Language: "en"}, collection.Events{Notice: say, Warn: say})
	defer x.Close()
	err = x.Open(t.Context(), &memoryOpener{}, collection.IndexOptions{Refresh: true, Make: true})
	must.Do(t, err)
	const want = "1 document that came over HTTP stays in embedded: api:g.md; to copy what stays: " +
		"sheaf copy --given --from embedded --to memory --in "
	check.That(t, slices.Contains(said, want+real), "notices are\n%s\nwithout\n%s", strings.Join(said, "\n"), want)
	for i, want := range [][]sheaf.ID{{id}, nil} { // a second copy finds nothing to do
		got, err := x.TakeGiven(t.Context(), index)
		check.That(t, err == nil && slices.Equal(got, want), "copy %d: %v, %v, want %v", i, got, err, want)
	}
	_, ok := x.View.Document(id)
	check.That(t, ok, "the copied document is not indexed")
}
