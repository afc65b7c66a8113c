package collection

import (
	"sheaf/collection/access"
	"sheaf/index/catalog"
	"sheaf/store"
)

// Reader is a collection at one moment as one caller may see it. It is safe for concurrent use until it is closed.
// The results of its methods stay valid after Close and must not be changed: answers share parts, such as Parameters.
type Reader struct {
	c     *Collection
	grant access.Grant
	view  *catalog.View
	guard *guard
	// at is the state of the index. versioned is false when the store has no version.
	at        stamp
	versioned bool
	// pinned is a snapshot of the store, or nil if the store has none.
	pinned store.Backend
	done   func() // tells the collection that the reader is closed
}

// Close releases the reader.
func (r *Reader) Close() {
	if r.pinned != nil {
		_ = r.pinned.Close() // it was only read
	}
	r.c.seen(r.Err())
	r.view.Close()
	r.done()
}

// Collection returns the collection of the reader.
func (r *Reader) Collection() *Collection { return r.c }

// Generation returns the generation of the catalog's snapshot.
func (r *Reader) Generation() uint64 { return r.view.Generation() }

// Err returns the first error of a catalog lookup, or nil.
func (r *Reader) Err() error { return r.view.Err() }
