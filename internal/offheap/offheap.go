// Package offheap allocates large buffers outside the heap of the garbage collector, for owners that
// free them. The collector lets its heap grow to twice the live data, so a buffer on the heap uses
// twice its size. A buffer of this package uses only the written bytes, and nothing after it is freed.
//
// The caller frees the memory. It must not contain pointers into the heap, because the collector does
// not read it. When memory cannot be mapped, and in programs built with the race detector, it comes
// from the heap. With the race detector, free fills the memory with 0xdb. A later read gets nonsense,
// and the detector reports a read by another goroutine, but not by the goroutine that freed it.
package offheap

import (
	"os"
	"sync/atomic"
	"unsafe"
)

// block is a piece of memory of whole pages.
type block struct {
	bytes  []byte
	mapped bool
	arena  *arena // the arena that contains it, or nil
}

var inUse, beside atomic.Int64

// InUse returns how many bytes are allocated here and not freed.
func InUse() int64 { return inUse.Load() }

// Beside returns how many of these bytes are outside the heap: all, when memory can be mapped.
func Beside() int64 { return beside.Load() }

// count adds n bytes to the counters for b's kind of memory.
func (b *block) count(n int) {
	inUse.Add(int64(n))
	if b.mapped {
		beside.Add(int64(n))
	}
}

// pageBytes is the size of a page of memory.
var pageBytes = os.Getpagesize()

// pages rounds n up to whole pages.
func pages(n int) int { return (n + pageBytes - 1) &^ (pageBytes - 1) }

// take returns a block of at least n bytes of zeros.
func take(n int) (b block) {
	n = pages(n)
	if n == cellBytes {
		b, b.mapped = arenas.take()
	} else {
		b.bytes, b.mapped = mapped(n)
	}
	if !b.mapped {
		b = block{bytes: make([]byte, n)}
	}
	b.count(n)
	return b
}

// free releases b.
func (b *block) free() {
	if b.bytes == nil {
		return
	}
	b.count(-len(b.bytes))
	switch {
	case b.arena != nil:
		arenas.free(b)
	case b.mapped:
		unmap(b.bytes)
	case poisoned:
		for i := range b.bytes {
			b.bytes[i] = poison
		}
	}
	*b = block{}
}

// poison fills freed memory in programs built with the race detector.
const poison = 0xdb

// grow enlarges b to at least n bytes. It may move b.
func (b *block) grow(n int) {
	n = pages(n)
	if b.mapped && b.arena == nil {
		if bytes, ok := remapped(b.bytes, n); ok {
			b.count(n - len(b.bytes))
			b.bytes = bytes
			return
		}
	}
	larger := take(n)
	copy(larger.bytes, b.bytes)
	b.free()
	*b = larger
}

// List is a list that grows. The zero value is empty.
type List[T any] struct {
	// Items are the elements. Grow adds capacity. Items are valid until the next Grow, Add or Free.
	Items []T
	block block
}

// doubling is the size up to which a list doubles. A larger list grows by a quarter. Its unused
// capacity counts as memory, although it uses none before it is written.
const doubling = 1 << 20

// Grow adds capacity for n more elements.
func (l *List[T]) Grow(n int) {
	if cap(l.Items)-len(l.Items) >= n {
		return
	}
	length, size := len(l.Items), int(unsafe.Sizeof(*new(T)))
	had := len(l.block.bytes)
	more := had
	if had >= doubling {
		more = had / 4
	}
	want := max((length+n)*size, had+more)
	if had == 0 {
		l.block = take(want)
	} else {
		l.block.grow(want)
	}
	l.Items = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(l.block.bytes))), len(l.block.bytes)/size)[:length]
}

// Add appends an element.
func (l *List[T]) Add(v T) {
	if len(l.Items) == cap(l.Items) {
		l.Grow(1)
	}
	l.Items = append(l.Items, v)
}

// Resize sets the length to n. The contents are undefined.
func (l *List[T]) Resize(n int) {
	if cap(l.Items) < n {
		l.Free() // the old content is not needed
	}
	l.Items = l.Items[:0]
	l.Grow(n)
	l.Items = l.Items[:n]
}

// Make replaces the content by n zero elements.
func (l *List[T]) Make(n int) {
	l.Free()
	l.Resize(n)
}

// Free empties the list and releases its memory.
func (l *List[T]) Free() {
	l.block.free()
	l.Items = nil
}

// Bytes returns the memory of the elements, with unused capacity if it uses memory.
func (l *List[T]) Bytes() int64 {
	if !l.block.mapped {
		return int64(len(l.block.bytes))
	}
	return int64(len(l.Items)) * int64(unsafe.Sizeof(*new(T)))
}

// Texts stores texts one after another. The zero value is empty.
type Texts struct {
	pieces []block
	open   []byte
	full   int64 // bytes of the pieces before the last
}

// pieceBytes is the size of a piece of texts; a longer text has its own piece.
const pieceBytes = cellBytes

// Add stores a text. The string is valid until Free.
func (t *Texts) Add(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	if cap(t.open)-len(t.open) < len(text) {
		t.full += int64(len(t.open))
		t.pieces = append(t.pieces, take(max(pieceBytes, len(text))))
		t.open = t.pieces[len(t.pieces)-1].bytes[:0]
	}
	from := len(t.open)
	t.open = append(t.open, text...)
	return unsafe.String(&t.open[from], len(text))
}

// Bytes returns the memory that the texts use.
func (t *Texts) Bytes() int64 { return t.full + int64(len(t.open)) }

// Free drops all texts and releases their memory.
func (t *Texts) Free() {
	for i := range t.pieces {
		t.pieces[i].free()
	}
	*t = Texts{pieces: t.pieces[:0]}
}
