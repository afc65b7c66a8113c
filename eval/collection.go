package eval

import (
	"fmt"
	"time"

	"github.com/zeebo/xxh3"

	"sheaf/eval/dataset"
	"sheaf/index/catalog"
	"sheaf/search"
)

// Collection is a data set with an open index. It is safe for concurrent use. Package indexing opens it.
type Collection struct {
	Dataset *dataset.Dataset
	View    *catalog.View
	// Searcher asks the index like a search of its folder, but computes no confidence.
	Searcher *search.Searcher
	// Store is the name of the store in reports.
	Store string
	// Hash identifies the version of the documents.
	Hash string
	// Indexed is the time of indexing; 0 when the index existed.
	Indexed time.Duration
	// Bytes is the size of the index on disk.
	Bytes int64
	// Err returns the first error of reading the index while it answered.
	Err func() error
	// Close releases the collection. Callers may call it twice.
	Close func()
}

// FilesHash identifies the version of a folder by the content of its files.
func FilesHash(v *catalog.View) string {
	h := xxh3.New()
	for id, state := range v.Files() {
		_, _ = h.WriteString(string(id)) // never fails
		_, _ = h.Write(state.Hash[:])
	}
	return fmt.Sprintf("%016x", h.Sum128().Hi)
}
