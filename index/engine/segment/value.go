package segment

import (
	"encoding/binary"
	"math"
)

// A Value of a column has a kind and either a text or a number. The caller defines the kinds, from 1 to 255. The
// number must not be NaN. Values are sorted by kind first, then texts by bytes and numbers by size.
type Value struct {
	Kind   byte
	IsText bool
	Text   string
	Number float64
}

// The key of a value in the table of columns: the column's name, a zero byte, the kind, the value. The value is the
// text, or eight bytes of the number that sort as numbers do. For an empty text the key ends with the kind.

// appendColumn appends to dst the beginning of all keys of a column. It writes a zero byte in the column's name as 1 1,
// and a byte 1 as 1 2. So the zero byte that ends the name does not occur in the name.
func appendColumn(dst []byte, column string) []byte {
	for i := range len(column) {
		switch c := column[i]; c {
		case 0, 1:
			dst = append(dst, 1, c+1)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, 0)
}

func appendValue(dst []byte, v Value) []byte {
	dst = append(dst, v.Kind)
	if v.IsText {
		return append(dst, v.Text...)
	}
	return binary.BigEndian.AppendUint64(dst, sortable(v.Number))
}

// sortable maps a number to an integer, so that integers have the order of their numbers. -0 counts as 0.
func sortable(f float64) uint64 {
	bits := math.Float64bits(f + 0)
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

// DecodeValue reads a value that appendValue wrote. The caller must know which kinds are texts. It returns false for
// invalid bytes.
func DecodeValue(b []byte, isText bool) (v Value, ok bool) {
	switch {
	case len(b) == 0:
		return v, false
	case isText:
		return Value{Kind: b[0], IsText: true, Text: string(b[1:])}, true
	case len(b) != 9:
		return v, false
	}
	bits := binary.BigEndian.Uint64(b[1:])
	if bits>>63 != 0 {
		bits &^= 1 << 63
	} else {
		bits = ^bits
	}
	return Value{Kind: b[0], Number: math.Float64frombits(bits)}, true
}
