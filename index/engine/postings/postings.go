// Package postings answers the question "which chunks have this term, how often and where?". An [Encoder] makes the
// posting list of one term in one field. A [Cursor] walks the list.
//
// A list is cut into blocks of [BlockLen] postings. Before a reader decodes a block, it knows the block's last chunk,
// offset and impacts (see [Impact]). So it can skip blocks without wanted chunks. doc/formats/postings.md describes the
// format.
//
// This package calls a chunk by its ordinal: a number from 0 inside one segment, at most [MaxOrdinal].
package postings

import "errors"

// MaxOrdinal is the largest ordinal. Differences of ordinals have at most 24 bits, so a sum over a block fits into 32
// bits.
const MaxOrdinal = 1<<24 - 1

// End is the ordinal that a [Cursor] shows when there are no more postings.
const End = 1<<32 - 1

// ErrCorrupt means that bytes are not a valid posting list.
var ErrCorrupt = errors.New("corrupt posting list")

// A List is the encoded posting list of one term in one field.
type List struct {
	// DF is the number of postings, at least 1.
	DF int
	// Postings and Positions are the encoded bytes. A list with one posting has Single instead of Postings. If the
	// frequency of that posting is 1, the list has no Positions either.
	Postings  []byte
	Positions []byte
	Single    Single
}

// Single is the posting of a list that has exactly one posting.
type Single struct {
	Ordinal   uint32
	Frequency uint32
	Position  uint32 // when Frequency is 1
}
