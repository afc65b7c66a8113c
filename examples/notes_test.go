package examples

import (
	"context"
	"os"
	"path/filepath"

	"sheaf/collection"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/store/embedded"
	"sheaf/text/analysis"
)

// openNotes indexes notes, texts by file name, as folder_test.go does step by
// step, for words alone; change, which may be nil, changes the options first.
func openNotes(notes map[string]string, change func(*collection.Options)) (coll *collection.Collection, done func()) {
	dir, err := os.MkdirTemp("", "sheaf")
	check(err)
	for name, text := range notes {
		write(filepath.Join(dir, "notes"), name, text)
	}
	analyzer, err := analysis.New(analysis.Options{Language: "en"})
	check(err)
	documents, err := catalog.Open(vfs.Disk{}, filepath.Join(dir, "catalog"), catalog.Options{})
	check(err)
	store, err := embedded.Open(embedded.Options{Dir: filepath.Join(dir, "engine"), Analyzer: analyzer})
	check(err)
	options := collection.Options{Name: "notes", Catalog: documents, Backend: store, Analyzer: analyzer,
		Ingest: &ingest.Options{Trees: []catalog.Tree{{Name: "notes", Root: filepath.Join(dir, "notes")}}}}
	if change != nil {
		change(&options)
	}
	coll, err = collection.New(options)
	check(err)
	_, err = coll.Refresh(context.Background())
	check(err)
	return coll, func() {
		check(coll.Close())
		check(store.Close())
		check(documents.Close())
		check(os.RemoveAll(dir))
	}
}
