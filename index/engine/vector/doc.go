// Package vector answers the question "which stored vectors are nearest to this
// one?". Its main types are [Encoder], which turns vectors into what is stored of
// them, and [Set], the vectors of one field of one segment, which are searched.
//
// A vector is stored as a code of one bit a dimension, its signs, and a row of one
// byte a dimension, its magnitudes, both after a rotation that spreads what a
// vector says over all dimensions. A search has two steps: the query, as 4-bit
// numbers, is compared with every code, and those that look best, the survivors,
// are compared with code and row, to nine bits a dimension. How many survive
// decides how often a near vector is lost; Depth measures, on vectors of the set
// itself, how many it takes at most. Of those a row is not read when its estimate
// is so far below the nearest ones that are known that it cannot be one of them.
//
// A set that is small, or that a filter makes small, is compared by rows
// alone, and so is any set on request; then nothing is lost. All arithmetic on
// codes and rows is done in integers: every processor gives the same scores.
//
// The format is documented in doc/formats/vectors.md. This package knows nothing of
// files; it needs a machine that stores numbers with the lowest byte first, as
// Supported says.
package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
)

// ErrUnsupported says that this machine cannot read what is stored.
var ErrUnsupported = errors.New("unsupported machine")

// Supported returns an error that wraps ErrUnsupported on machines that store
// numbers with the highest byte first: kernels read codes and rows as they lie in
// the file.
func Supported() error {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return fmt.Errorf("%w: %s is big-endian, the index is read in place and is little-endian: use it on a "+
			"little-endian machine, such as amd64 or arm64",
			ErrUnsupported, runtime.GOARCH)
	}
	return nil
}
