package collection

import (
	"sheaf/collection/access"
	"sheaf/index/catalog"
	"sheaf/store"
)

// Reader is a collection at one moment as one caller may see it. It is safe for
// concurrent use until it is closed. What its methods return outlives it and must not be
// changed: answers share parts, such as Parameters, with others.
type Reader struct {
	c     *Collection
	grant access.Grant
	view  *catalog.View
	guard *guard
	// at is the state of the index; told is false when the store does not tell
	// its own.
	at   stamp
	told bool
	// pinned is the store held still, nil for one that does not.
	pinned store.Backend
	done   func() // tells the collection that it is closed
}

// Close ends the use of the reader.
func (r *Reader) Close() {
	if r.pinned != nil {
		_ = r.pinned.Close() // it was only read
	}
	r.c.seen(r.Err())
	r.view.Close()
	r.done()
}

// Collection is what the reader reads.
func (r *Reader) Collection() *Collection { return r.c }

// Generation is that of the catalog's snapshot.
func (r *Reader) Generation() uint64 { return r.view.Generation() }

// Err is the first fault of the catalog that a lookup met, or nil.
func (r *Reader) Err() error { return r.view.Err() }
