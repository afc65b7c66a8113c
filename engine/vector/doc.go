// Package vector answers the question "which stored vectors are nearest to this
// one?". Its main types are [Encoder], which turns vectors into what is stored of
// them, and [Set], the vectors of one field of one segment, which are searched.
//
// A vector is stored, after a rotation that spreads what it says over all dimensions,
// as nine bits a dimension: a code, its signs; a finer code, the two highest bits of
// its magnitudes; and a row, the other six. A search has three steps: the query, as
// 4-bit numbers, is compared with every code; where that is promising, with the finer
// codes of eight vectors, which says their similarities with a third to a quarter of
// the error; and the survivors, of which that does not say that they cannot be among
// the nearest, are compared to all nine bits. At most so many survive as Depth, which
// is measured on vectors of the set itself, allows.
//
// A set that is small, or of which a filter leaves little, is compared by rows
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
		return fmt.Errorf("%w: %s is big-endian, the index is read in place and is little-endian: use it on a little-endian machine, such as amd64 or arm64",
			ErrUnsupported, runtime.GOARCH)
	}
	return nil
}
