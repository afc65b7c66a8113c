// Package offheap is memory beside the heap of the garbage collector, for large
// buffers whose end is known. The collector lets its heap grow to twice what lives in
// it, so a buffer there takes twice its size of the machine; one from here takes its
// size, as far as it is written to, and nothing once it is given back.
//
// The caller that takes memory frees it. The memory holds no pointers into the collector's
// heap, which does not look here. Where the memory cannot be mapped, and in programs
// that look for data races, it is from the heap after all. In the latter freeing fills it
// with 0xdb: who reads it later gets nonsense, and the detector reports that where it is another
// goroutine; a goroutine that goes on with what it has freed itself is not reported.
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
	arena  *arena // that it is a cell of, or nil
}

var inUse, beside atomic.Int64

// InUse is how many bytes are taken and not freed, by the whole program.
func InUse() int64 { return inUse.Load() }

// Beside is how many of them are beside the heap: all, where memory can be mapped.
func Beside() int64 { return beside.Load() }

// count counts n more bytes like those of b.
func (b *block) count(n int) {
	inUse.Add(int64(n))
	if b.mapped {
		beside.Add(int64(n))
	}
}

// pageBytes are those of a page of the machine's memory.
var pageBytes = os.Getpagesize()

// pages is n or more, to whole pages.
func pages(n int) int { return (n + pageBytes - 1) &^ (pageBytes - 1) }

// take takes n bytes at least, zeros.
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

// free gives b back.
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

// poison is what memory is filled with that is freed, in programs that look for data races.
const poison = 0xdb

// grow makes b larger, to n bytes at least; it may be elsewhere then.
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
	// Items are the elements. Appending to them needs room, from Grow; they are valid
	// until the next Grow, Add or Free.
	Items []T
	block block
}

// doubling is how large a list is doubled up to. A larger one grows by a quarter: what
// is not written to takes nothing, but is counted.
const doubling = 1 << 20

// Grow makes room for n more elements.
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

// Resize makes the list n elements long. What it holds then is unknown.
func (l *List[T]) Resize(n int) {
	if cap(l.Items) < n {
		l.Free() // it is not copied, and has no room to grow
	}
	l.Items = l.Items[:0]
	l.Grow(n)
	l.Items = l.Items[:n]
}

// Make makes an empty list n zero elements long.
func (l *List[T]) Make(n int) {
	l.Free()
	l.Resize(n)
}

// Free empties the list and gives its memory back.
func (l *List[T]) Free() {
	l.block.free()
	l.Items = nil
}

// Bytes is the memory that the elements take, with the room that they have where that
// takes memory before it is written to.
func (l *List[T]) Bytes() int64 {
	if !l.block.mapped {
		return int64(len(l.block.bytes))
	}
	return int64(len(l.Items)) * int64(unsafe.Sizeof(*new(T)))
}

// Texts keeps texts one after another. The zero value is empty.
type Texts struct {
	pieces []block
	open   []byte
	full   int64 // bytes of the pieces before the last
}

// pieceBytes is how long a piece of texts is; longer ones have one of their own.
const pieceBytes = cellBytes

// Add keeps a text. The string is valid until Free.
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

// Bytes is the memory that the texts take.
func (t *Texts) Bytes() int64 { return t.full + int64(len(t.open)) }

// Free forgets all texts and gives their memory back.
func (t *Texts) Free() {
	for i := range t.pieces {
		t.pieces[i].free()
	}
	*t = Texts{pieces: t.pieces[:0]}
}
