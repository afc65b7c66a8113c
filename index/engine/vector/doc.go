// Package vector answers the question "which stored vectors are nearest to this one?". Its main
// types are [Encoder], which encodes vectors, and [Set], the vectors of one field of one segment,
// which it searches.
//
// A vector is stored as a code of one bit for each dimension, its signs, and a row of one byte for
// each dimension, its magnitudes. Before that, a rotation spreads the information over all
// dimensions. A search has two steps. It compares the query, as 4-bit numbers, with every code. The
// best rows survive, and it compares them with code and row, at nine bits for each dimension. The
// number of survivors decides how often a near vector is lost; Measure finds on vectors of the set
// how many are needed. A survivor is not read when its estimate is too far below the nearest known
// rows.
//
// A search compares a set by rows alone if the set is small, or if a filter makes it small, or on
// request; then nothing is lost. All arithmetic on codes and rows uses integers: every processor
// computes the same scores.
//
// The format is documented in doc/formats/vectors.md. This package does not read files; it needs a
// little-endian machine, see Supported.
package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
)

// ErrUnsupported means that this machine cannot read the stored vectors.
var ErrUnsupported = errors.New("unsupported machine")

// Supported fails with ErrUnsupported on big-endian machines: kernels read codes and rows directly
// from the file.
func Supported() error {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return fmt.Errorf("%w: %s is big-endian, the index is read in place and is little-endian: use it on a "+
			"little-endian machine, such as amd64 or arm64",
			ErrUnsupported, runtime.GOARCH)
	}
	return nil
}
