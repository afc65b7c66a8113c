// Package vector answers the question "which stored vectors are nearest to this one?". Its main types are [Encoder],
// which encodes vectors, and [Set], the vectors of one field of one segment. A Set can be searched.
//
// A vector is stored as a code and a row. The code has the signs, one bit for each dimension. The row has the
// magnitudes, one byte for each dimension. Before a vector is encoded, a rotation spreads its information over all
// dimensions.
//
// A search has two steps. First it compares the query, as 4-bit numbers, with every code. The best rows survive. Then
// it compares the query with the code and row of each survivor, at nine bits for each dimension. The number of
// survivors decides how often a near vector is lost. Measure finds how many survivors a set needs. A survivor is not
// read if its estimate is too far below the nearest rows so far.
//
// A search of few rows, or an exact one, omits the first step and compares every row. Then no near vector is lost.
// All arithmetic on codes and rows uses integers, so every processor computes the same scores.
//
// The format is documented in doc/formats/vectors.md. This package does not read files. It needs a little-endian
// machine, see Supported.
package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
)

// ErrUnsupported means that this machine cannot read the stored vectors.
var ErrUnsupported = errors.New("unsupported machine")

// Supported returns ErrUnsupported on big-endian machines. Kernels read codes and rows directly from the file.
func Supported() error {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return fmt.Errorf("%w: %s is big-endian, the index is read in place and is little-endian: use it on a "+
			"little-endian machine, such as amd64 or arm64",
			ErrUnsupported, runtime.GOARCH)
	}
	return nil
}
