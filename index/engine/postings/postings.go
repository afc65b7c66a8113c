// Package postings answers the question "which chunks hold this term, how often
// and where?". An [Encoder] makes the posting list of one term in one field, a
// [Cursor] walks it.
//
// A list is cut into blocks of [BlockLen] postings. The last chunk of each block,
// its place and its impacts (see [Impact]) are known before it is decoded, so that
// whole blocks are passed over that cannot hold anything wanted. The format is
// documented in doc/formats/postings.md.
//
// Chunks are ordinals here: numbers from 0 inside one segment, at most
// [MaxOrdinal].
package postings

import "errors"

// MaxOrdinal is the largest ordinal. That differences of ordinals have at most
// 24 bits keeps sums over a block within 32.
const MaxOrdinal = 1<<24 - 1

// End is the ordinal that a [Cursor] shows when there are no more postings.
const End = 1<<32 - 1

// ErrCorrupt says that bytes are no posting list.
var ErrCorrupt = errors.New("corrupt posting list")

// A List is the encoded posting list of one term in one field.
type List struct {
	// DF is the number of postings, at least 1.
	DF int
	// Postings and Positions are the encoded bytes. A list of one posting
	// has no Postings but Single; of one occurrence, no Positions either.
	Postings  []byte
	Positions []byte
	Single    Single
}

// Single is the only posting of a list that has one.
type Single struct {
	Ordinal   uint32
	Frequency uint32
	Position  uint32 // when Frequency is 1
}
