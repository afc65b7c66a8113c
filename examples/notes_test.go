package examples

import (
	"context"
	"os"
	"path/filepath"

	"sheaf/analysis"
	"sheaf/backend/embedded"
	"sheaf/catalog"
	"sheaf/ingest"
	"sheaf/serve"
	"sheaf/vfs"
)

// openNotes indexes notes, texts by file name, as folder_test.go does step by
// step, for words alone; change, which may be nil, changes the options first.
func openNotes(notes map[string]string, change func(*serve.Options)) (collection *serve.Collection, done func()) {
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
	options := serve.Options{Name: "notes", Catalog: documents, Backend: store, Analyzer: analyzer,
		Ingest: &ingest.Options{Trees: []catalog.Tree{{Name: "notes", Root: filepath.Join(dir, "notes")}}}}
	if change != nil {
		change(&options)
	}
	collection, err = serve.New(options)
	check(err)
	_, err = collection.Refresh(context.Background())
	check(err)
	return collection, func() {
		check(collection.Close())
		check(store.Close())
		check(documents.Close())
		check(os.RemoveAll(dir))
	}
}
