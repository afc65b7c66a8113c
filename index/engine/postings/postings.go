// Package postings answers the question "which chunks have this term, how often and where?". An
// [Encoder] makes the posting list of one term in one field, a [Cursor] walks it.
//
// A list is cut into blocks of [BlockLen] postings. The last chunk of each block, its place and its
// impacts (see [Impact]) are known before the block is decoded. So blocks without wanted chunks are
// skipped. The format is documented in doc/formats/postings.md.
//
// Chunks are ordinals here: numbers from 0 inside one segment, at most [MaxOrdinal].
package postings

import "errors"

// MaxOrdinal is the largest ordinal. Because differences of ordinals have at most 24 bits, sums
// over a block stay within 32.
const MaxOrdinal = 1<<24 - 1

// End is the ordinal that a [Cursor] shows when there are no more postings.
const End = 1<<32 - 1

// ErrCorrupt means that bytes are not a valid posting list.
var ErrCorrupt = errors.New("corrupt posting list")

// A List is the encoded posting list of one term in one field.
type List struct {
	// DF is the number of postings, at least 1.
	DF int
	// Postings and Positions are the encoded bytes. A list of one posting has Single instead of
	// Postings; with one occurrence, it has no Positions either.
	Postings  []byte
	Positions []byte
	Single    Single
}

// Single is the only posting of a list with one posting.
type Single struct {
	Ordinal   uint32
	Frequency uint32
	Position  uint32 // when Frequency is 1
}
