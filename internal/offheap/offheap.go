// Package offheap allocates large buffers outside the heap of the garbage collector, for owners that free them. The
// collector lets its heap grow to twice the live data, so a buffer there costs twice its size. A buffer of this package
// uses memory only for the bytes that were written, and only until it is freed.
//
// The caller must free the memory. The memory must not contain pointers into the heap, because the collector does not
// read it. If memory cannot be mapped, and in programs built with the race detector, the package takes it from the
// heap. With the race detector, free fills the memory with 0xdb, so that a later read gets nonsense. The detector
// reports such a read only if another goroutine freed the memory.
package offheap

import (
	"os"
	"sync/atomic"
	"unsafe"
)

// block is a piece of memory. Its size is a number of whole pages.
type block struct {
	bytes  []byte
	mapped bool
}

var inUse, beside atomic.Int64

// InUse returns how many bytes this package has allocated and not freed.
func InUse() int64 { return inUse.Load() }

// Beside returns how many of the bytes that InUse counts are outside the heap. If memory can be mapped, Beside returns
// the same as InUse.
func Beside() int64 { return beside.Load() }

// count adds n bytes to the result of InUse. If b is outside the heap, it also adds n to the result of Beside.
func (b *block) count(n int) {
	inUse.Add(int64(n))
	if b.mapped {
		beside.Add(int64(n))
	}
}

// pageBytes is the size of a memory page in bytes.
var pageBytes = os.Getpagesize()

func pages(n int) int { return (n + pageBytes - 1) &^ (pageBytes - 1) }

func take(n int) (b block) {
	n = pages(n)
	if b.bytes, b.mapped = mapped(n); !b.mapped {
		b.bytes = make([]byte, n)
	}
	b.count(n)
	return b
}

func (b *block) free() {
	if b.bytes == nil {
		return
	}
	b.count(-len(b.bytes))
	switch {
	case b.mapped:
		unmap(b.bytes)
	case poisoned:
		for i := range b.bytes {
			b.bytes[i] = poison
		}
	}
	*b = block{}
}

// poison is the value of all bytes of freed memory in programs built with the race detector.
const poison = 0xdb

// grow makes b at least n bytes long. It may move b.
func (b *block) grow(n int) {
	n = pages(n)
	if b.mapped {
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
	// Items are the elements. The slice is valid until the next call of Grow, Add, Resize, Make or Free. Grow increases
	// its capacity.
	Items []T
	block block
}

// doublingLimit is a size in bytes. A list below doublingLimit doubles when it grows. A larger list grows by a quarter.
// Unused capacity takes no memory before it is written, but [InUse] counts it.
const doublingLimit = 1 << 20

// Grow adds capacity for n more elements.
func (l *List[T]) Grow(n int) {
	if cap(l.Items)-len(l.Items) >= n {
		return
	}
	length, size := len(l.Items), int(unsafe.Sizeof(*new(T)))
	had := len(l.block.bytes)
	more := had
	if had >= doublingLimit {
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

// Resize sets the length to n. The contents of the elements are undefined.
func (l *List[T]) Resize(n int) {
	if cap(l.Items) < n {
		l.Free() // the old content is not needed
	}
	l.Items = l.Items[:0]
	l.Grow(n)
	l.Items = l.Items[:n]
}

// Make replaces the content with n zero elements.
func (l *List[T]) Make(n int) {
	l.Free()
	l.Resize(n)
}

// Free empties the list and releases its memory.
func (l *List[T]) Free() {
	l.block.free()
	l.Items = nil
}

// Bytes returns how many bytes of memory the list uses. Unused capacity counts only if the list is in the heap, because
// outside the heap it takes no memory.
func (l *List[T]) Bytes() int64 {
	if !l.block.mapped {
		return int64(len(l.block.bytes))
	}
	return int64(len(l.Items)) * int64(unsafe.Sizeof(*new(T)))
}

// Texts stores texts outside the Go heap. The zero value is empty. The caller must call Free.
type Texts struct {
	pieces []block
	open   []byte // the used part of the last piece
	full   int64  // bytes used in the pieces before the last
}

// pieceBytes is the size of the first piece of memory for texts. A longer text gets its own piece.
const pieceBytes = 64 << 10

// PieceSize returns the size of the next piece of a list that already has n pieces. first is the size of the first
// piece. After every 64 pieces the size doubles, to at most 16 times the first size. Sizes grow because systems limit
// the number of mappings (usually 65,530 on Linux). The unused end of the last piece stays small compared with the
// whole list.
func PieceSize(first, n int) int { return first << min(n/64, 4) }

// Add stores a text and returns the stored string. The string is valid until Free.
func (t *Texts) Add(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	if cap(t.open)-len(t.open) < len(text) {
		t.full += int64(len(t.open))
		t.pieces = append(t.pieces, take(max(PieceSize(pieceBytes, len(t.pieces)), len(text))))
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
