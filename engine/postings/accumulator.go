package postings

import "encoding/binary"

// Arena is where accumulators of one index under construction keep their
// postings: bytes in slices that grow as a list grows and are linked, so that a
// list that is added to a million times is never copied. The zero value is
// ready. Not safe for concurrent use.
type Arena struct {
	pages [][]byte
	used  int    // pages that hold something; the others are free
	next  uint32 // address of the first free byte
	end   uint32 // end of the last page in use
}

// An address is the page number, shifted left by pageBits, plus the offset in
// the page; 0 is no address, because the first byte of the arena is not used.
const (
	pageBits  = 16
	pageBytes = 1 << pageBits
	linkBytes = 4
	firstLen  = 12
	maxLen    = 4096
)

// Bytes is how much memory what the arena holds takes.
func (a *Arena) Bytes() int64 { return int64(a.used) * pageBytes }

// Reset forgets everything and keeps the memory.
func (a *Arena) Reset() {
	a.used, a.next, a.end = 0, 0, 0
}

func (a *Arena) slice(size uint32) (start uint32) {
	if a.end-a.next < size || a.end == 0 {
		if a.used == len(a.pages) {
			a.pages = append(a.pages, make([]byte, pageBytes))
		}
		a.next = uint32(a.used) << pageBits
		a.used++
		a.end = a.next + pageBytes - 1 // so that no address overflows
		if a.next == 0 {
			a.next = 1
		}
	}
	start = a.next
	a.next += size
	return start
}

// Accumulator gathers the postings of one term in one field. Every occurrence
// is one number: for the first in a chunk, the difference of ordinals with the
// lowest bit set, and then the position; for others, the difference of
// positions with the lowest bit clear.
type Accumulator struct {
	head    uint32 // address of the first slice
	tail    uint32 // address of the next byte
	end     uint32 // address of the tail slice's link
	lastDoc uint32
	lastPos uint32
	df      uint32
}

// Add counts an occurrence. Ordinals never fall; positions never fall within a
// chunk.
func (l *Accumulator) Add(a *Arena, ordinal, position uint32) {
	if l.df > 0 && l.lastDoc == ordinal {
		v := uint64(position-l.lastPos) << 1
		l.lastPos = position
		if bytes, n := short(v); n > 0 && l.room(n) {
			l.store(a, bytes, n)
			return
		}
		l.put(a, v)
		return
	}
	v := uint64(ordinal-l.lastDoc)<<1 | 1
	l.lastDoc, l.lastPos = ordinal, position
	l.df++
	bytes, n := short(v)
	more, m := short(uint64(position))
	if n > 0 && m > 0 && l.room(n+m) {
		l.store(a, bytes|more<<(8*n), n+m)
		return
	}
	l.put(a, v)
	l.put(a, uint64(position))
}

// short is the varint of v as n bytes, the lowest first; n is 0 when it has more
// than 3.
func short(v uint64) (bytes uint64, n uint32) {
	switch {
	case v < 1<<7:
		return v, 1
	case v < 1<<14:
		return v&0x7f | 0x80 | v>>7<<8, 2
	case v < 1<<21:
		return v&0x7f | 0x80 | (v>>7&0x7f|0x80)<<8 | v>>14<<16, 3
	}
	return 0, 0
}

// room reports whether store may put n bytes into the open slice: it writes 8, which
// may reach into the link, where nothing stands yet.
func (l *Accumulator) room(n uint32) bool {
	return l.end-l.tail >= max(n, 8-linkBytes)
}

func (l *Accumulator) store(a *Arena, bytes uint64, n uint32) {
	page := a.pages[l.tail>>pageBits]
	binary.LittleEndian.PutUint64(page[l.tail&(pageBytes-1):], bytes)
	l.tail += n
}

func (l *Accumulator) put(a *Arena, v uint64) {
	for {
		if l.tail == l.end {
			l.grow(a)
		}
		at := &a.pages[l.tail>>pageBits][l.tail&(pageBytes-1)]
		l.tail++
		if v < 0x80 {
			*at = byte(v)
			return
		}
		*at = byte(v) | 0x80
		v >>= 7
	}
}

// grow gives the list a new slice: the first of firstLen bytes, then each twice
// the one before.
func (l *Accumulator) grow(a *Arena) {
	if l.head == 0 {
		l.head = a.slice(firstLen + linkBytes)
		l.tail, l.end = l.head, l.head+firstLen
		return
	}
	size := uint32(firstLen)
	// The length of a slice is told by the slices before it; a list holds
	// enough bytes for the next length once it has as many postings.
	for size < maxLen && size < l.df*2 {
		size *= 2
	}
	start := a.slice(linkBytes + size + linkBytes)
	link := a.pages[l.end>>pageBits][l.end&(pageBytes-1):]
	putUint32(link, start)
	putUint32(a.pages[start>>pageBits][start&(pageBytes-1):], size)
	l.tail = start + linkBytes
	l.end = l.tail + size
}

func putUint32(b []byte, v uint32) {
	_ = b[3]
	b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
}

func getUint32(b []byte) uint32 {
	_ = b[3]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// DF is the number of chunks that hold the term.
func (l *Accumulator) DF() int { return int(l.df) }

// Replay reads back what an accumulator holds. Not safe for concurrent use.
type Replay struct {
	arena     *Arena
	rest      []byte // of the open slice
	end       uint32 // address of its link
	tail      uint32 // of the list
	last      bool   // the list ends in the open slice
	positions []uint32
	ordinal   uint32
	pending   uint64 // the number that begins the next posting
	more      bool
}

// Start begins with the first posting of l.
func (r *Replay) Start(a *Arena, l *Accumulator) {
	*r = Replay{arena: a, tail: l.tail, positions: r.positions[:0]}
	if l.df > 0 {
		r.open(l.head, firstLen)
		r.pending, r.more = r.get()
	}
}

// Next moves to the next posting; ok is false when there is none. positions are
// valid until the next call.
func (r *Replay) Next() (ordinal uint32, positions []uint32, ok bool) {
	if !r.more {
		return 0, nil, false
	}
	r.ordinal += uint32(r.pending >> 1)
	position, _ := r.get()
	last := uint32(position)
	r.positions = append(r.positions[:0], last)
	for {
		v, more := r.get()
		if !more || v&1 != 0 {
			r.pending, r.more = v, more
			return r.ordinal, r.positions, true
		}
		last += uint32(v >> 1)
		r.positions = append(r.positions, last)
	}
}

func (r *Replay) get() (v uint64, ok bool) {
	if len(r.rest) > 0 && r.rest[0] < 0x80 {
		v = uint64(r.rest[0])
		r.rest = r.rest[1:]
		return v, true
	}
	return r.getLong()
}

// getLong is get for a number of several bytes, which may lie in two slices, and
// for the end of a slice.
func (r *Replay) getLong() (v uint64, ok bool) {
	for shift := uint(0); ; shift += 7 {
		if len(r.rest) == 0 && !r.follow() {
			return 0, false
		}
		b := r.rest[0]
		r.rest = r.rest[1:]
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, true
		}
	}
}

// open makes a slice of size bytes the open one, up to the end of the list.
func (r *Replay) open(start, size uint32) {
	page := r.arena.pages[start>>pageBits][start&(pageBytes-1):]
	r.end = start + size
	if r.tail >= start && r.tail <= r.end {
		size, r.last = r.tail-start, true
	}
	r.rest = page[:size]
}

// follow opens the next slice; false at the end of the list.
func (r *Replay) follow() bool {
	page := func(at uint32) []byte { return r.arena.pages[at>>pageBits][at&(pageBytes-1):] }
	if r.last {
		return false
	}
	start := getUint32(page(r.end))
	r.open(start+linkBytes, getUint32(page(start)))
	return true
}
