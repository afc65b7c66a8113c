package catalog

import (
	"sync"

	"sheaf"
)

// room is memory for what is decoded of documents, in pieces for many of them: views
// keep thousands, and whoever looks for garbage looks at every piece of memory. What
// lies in a piece is kept as long as anything in it is used, so pieces are small. Who
// holds the lock decodes; the zero value is ready.
type room struct {
	mu sync.Mutex
	pieces
}

// pieces are what is left of each piece: empty, with some capacity.
type pieces struct {
	records  []Record
	chunks   []sheaf.Chunk
	lists    []string
	outlines []sheaf.Outline
	nodes    []sheaf.Node
	text     []byte
}

// renew begins new pieces. Outlines and their nodes point at each other and lie beside
// others, which may chain all pieces there ever were to the last one.
func (r *room) renew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pieces = pieces{}
}

// How many there are in a piece, and how many bytes of text.
const (
	roomDocuments = 16
	roomParts     = 32
	roomText      = 8 << 10
)

// open is memory to append n elements to, or more: what is left of a piece, or a new
// one for many. What is left once they are appended goes back with closed.
func open[T any](left []T, n, many int) []T {
	if cap(left) < n {
		return make([]T, 0, max(n, many))
	}
	return left
}

// closed is what is left of a piece after what was appended to it. Where that moved to
// a larger piece it is what is left there.
func closed[T any](used []T) []T { return used[len(used):] }

// one is an element, zero, of a piece for many.
func one[T any](left *[]T, many int) *T {
	some := append(open(*left, 1, many), *new(T))
	*left = closed(some)
	return &some[0]
}

// passingRoom is memory for one record at a time that nobody keeps. What does not fit lies
// elsewhere.
type passingRoom struct {
	record Record
	pieces
}

var passingRooms = sync.Pool{New: func() any {
	return &passingRoom{pieces: pieces{chunks: make([]sheaf.Chunk, 0, roomParts), lists: make([]string, 0, 4*roomParts), text: make([]byte, 0, roomText)}}
}}

// release ends the use of the record.
func (r *passingRoom) release() {
	clear(r.chunks[:min(len(r.record.Document.Chunks), cap(r.chunks))])
	clear(r.lists[:cap(r.lists)])
	r.record = Record{}
	passingRooms.Put(r)
}
