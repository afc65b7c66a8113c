package eval

import (
	"fmt"
	"time"

	"github.com/zeebo/xxh3"

	"sheaf/eval/dataset"
	"sheaf/index/catalog"
	"sheaf/search"
)

// Collection is a data set with an open index. Package indexing opens it. It is safe for concurrent use.
type Collection struct {
	Dataset *dataset.Dataset
	View    *catalog.View
	// Searcher ranks as in a user's search of the index, but computes no confidence.
	Searcher *search.Searcher
	// Store is the name that reports give the store.
	Store string
	// Hash identifies the version of the documents.
	Hash string
	// Indexed is the duration of indexing. It is 0 if the index existed before.
	Indexed time.Duration
	// Bytes is the size of the index on disk.
	Bytes int64
	// Err returns the first error that occurred when a search read the index.
	Err func() error
	// Close closes the collection. Callers may call it twice.
	Close func()
}

// FilesHash identifies the version of a folder. It is a hash of the content of the folder's files.
func FilesHash(v *catalog.View) string {
	h := xxh3.New()
	for id, state := range v.Files() {
		_, _ = h.WriteString(string(id)) // never fails
		_, _ = h.Write(state.Hash[:])
	}
	return fmt.Sprintf("%016x", h.Sum128().Hi)
}
