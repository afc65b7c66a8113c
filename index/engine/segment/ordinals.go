package segment

import (
	"encoding/binary"
	"math/bits"
)

// Bitset is a set of ordinals with one bit for each. It has a bit for each chunk of the segment, and bits up to a
// multiple of 64.
type Bitset []uint64

// NewBitset returns an empty set for ordinals below n.
func NewBitset(n int) Bitset { return make(Bitset, (n+63)/64) }

// Set adds i to s.
func (s Bitset) Set(i uint32) { s[i>>6] |= 1 << (i & 63) }

// Clear removes i from s.
func (s Bitset) Clear(i uint32) { s[i>>6] &^= 1 << (i & 63) }

// Has reports whether i is in s.
func (s Bitset) Has(i uint32) bool { return s[i>>6]&(1<<(i&63)) != 0 }

// Count returns the number of ordinals in s.
func (s Bitset) Count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// CountRange returns the number of ordinals in s that are at least start and below end.
func (s Bitset) CountRange(start, end uint32) int {
	n := 0
	for start < end {
		word := s[start>>6] >> (start & 63)
		if room := 64 - start&63; end-start < room {
			word &= 1<<(end-start) - 1
		}
		n += bits.OnesCount64(word)
		start = start&^63 + 64
	}
	return n
}

// Fill adds to s every ordinal below n.
func (s Bitset) Fill(n int) { s.setRange(0, n) }

// setRange adds the ordinals that are at least start and below end.
func (s Bitset) setRange(start, end int) {
	if start >= end {
		return
	}
	first, last := start>>6, (end-1)>>6
	head, tail := ^uint64(0)<<(start&63), ^uint64(0)>>(-end&63)
	if first == last {
		s[first] |= head & tail
		return
	}
	s[first] |= head
	for i := first + 1; i < last; i++ {
		s[i] = ^uint64(0)
	}
	s[last] |= tail
}

// And removes from s the ordinals that are not in t.
func (s Bitset) And(t Bitset) {
	for i := range s {
		s[i] &= t[i]
	}
}

// AndNot removes from s the ordinals that are in t.
func (s Bitset) AndNot(t Bitset) {
	for i := range s {
		s[i] &^= t[i]
	}
}

// Or adds to s the ordinals of t.
func (s Bitset) Or(t Bitset) {
	for i := range s {
		s[i] |= t[i]
	}
}

// Next returns the first ordinal of s at or after i, or -1.
func (s Bitset) Next(i int) int {
	w := i >> 6
	if w >= len(s) {
		return -1
	}
	if rest := s[w] >> (i & 63); rest != 0 {
		return i + bits.TrailingZeros64(rest)
	}
	for w++; w < len(s); w++ {
		if s[w] != 0 {
			return w<<6 + bits.TrailingZeros64(s[w])
		}
	}
	return -1
}

// AppendRuns appends s as runs of adjacent ordinals. A run is two uvarints: the gap after the previous run, and the
// length of the run minus one. The chunks of a document are adjacent, so a set of whole documents has few runs.
func (s Bitset) AppendRuns(dst []byte) []byte {
	w := runWriter{out: dst}
	for i := s.Next(0); i >= 0; i = s.Next(i + 1) {
		w.add(i)
	}
	return w.finish()
}

// ReadRuns reads what AppendRuns wrote and adds it to s, a set of ordinals below n. It returns false for invalid bytes.
func (s Bitset) ReadRuns(b []byte, n int) bool {
	return eachRun(b, n, s.setRange)
}

// eachRun calls f with the bounds of every run in b. It returns false if b is invalid, or if a bound is above n.
func eachRun(b []byte, n int, f func(start, end int)) bool {
	at := uint64(0)
	for len(b) > 0 {
		gap, ok := uvarint(&b)
		length, ok2 := uvarint(&b)
		if !ok || !ok2 || gap > uint64(n)-at || length >= uint64(n)-at-gap {
			return false
		}
		at += gap
		f(int(at), int(at+length+1))
		at += length + 1
	}
	return true
}

// runWriter encodes rising ordinals as runs of adjacent ordinals.
type runWriter struct {
	out        []byte
	start, end int // of the open run
	last       int // end of the run before
}

func (w *runWriter) reset() { *w = runWriter{out: w.out[:0]} }

func (w *runWriter) add(ordinal int) {
	if w.end > w.start && ordinal == w.end {
		w.end++
		return
	}
	w.flush()
	w.start, w.end = ordinal, ordinal+1
}

func (w *runWriter) flush() {
	if w.end > w.start {
		w.out = binary.AppendUvarint(w.out, uint64(w.start-w.last))
		w.out = binary.AppendUvarint(w.out, uint64(w.end-w.start-1))
		w.last = w.end
	}
}

func (w *runWriter) finish() []byte {
	w.flush()
	w.start, w.end = 0, 0
	return w.out
}
