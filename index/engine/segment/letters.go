package segment

import (
	"cmp"
	"slices"
)

// letters is an encoding of the bytes of a dictionary's keys, in units of four bits. The most frequent bytes take one
// unit. The next frequent bytes take two units; the first unit is one of a few values that begin a pair. All other
// bytes take three units; the first unit is the constant literal.
type letters struct {
	pairs int    // number of units that begin a pair: those below literal
	order []byte // the bytes of one unit, then those of two
	// codes[b] has the units of byte b, the first unit in the lowest bits. read is the reverse: its index is the first two
	// units, and its entry has the byte. The upper bits of an entry, from unitsShift or readShift on, have the number of
	// units. In read, 0 means that no byte has these units.
	codes [256]uint16
	read  [256]uint16
}

const (
	literal      = 15
	unitsShift   = 12 // of codes
	readShift    = 8  // of read
	literalUnits = 3
)

// single returns how many different bytes take one unit.
func (l *letters) single() int { return literal - l.pairs }

// newLetters returns the encoding that makes a text shortest. counts says how often each byte occurs in the text.
func newLetters(counts *[256]int) *letters {
	var order []byte
	for b := range counts {
		if counts[b] > 0 {
			order = append(order, byte(b))
		}
	}
	slices.SortFunc(order, func(x, y byte) int { return cmp.Or(counts[y]-counts[x], int(x)-int(y)) })
	best, least := 1, -1
	for pairs := 1; pairs < literal; pairs++ {
		units := 0
		for i, b := range order {
			switch {
			case i < literal-pairs:
				units += counts[b]
			case i < literal+15*pairs:
				units += 2 * counts[b]
			default:
				units += literalUnits * counts[b]
			}
		}
		if least < 0 || units < least {
			best, least = pairs, units
		}
	}
	return makeLetters(best, order[:min(len(order), literal+15*best)])
}

// makeLetters returns the encoding in which pairs values of a unit begin a code of two units. order has the bytes that
// take one or two units, the most frequent byte first.
func makeLetters(pairs int, order []byte) *letters {
	l := &letters{pairs: pairs, order: order}
	for b := range l.codes {
		l.codes[b] = uint16(literalUnits<<unitsShift | b<<4 | literal)
	}
	for i := range 16 {
		l.read[i<<4|literal] = literalUnits << readShift
	}
	for i, b := range order {
		if i < l.single() {
			l.codes[b] = uint16(1<<unitsShift | i)
			for after := range 16 {
				l.read[after<<4|i] = 1<<readShift | uint16(b)
			}
			continue
		}
		pair := i - l.single()
		both := pair%16<<4 | l.single() + pair/16
		l.codes[b] = uint16(2<<unitsShift | both)
		l.read[both] = 2<<readShift | uint16(b)
	}
	return l
}

// append appends an encoded text to dst in whole bytes. If half a byte is left, append fills it with a partial literal.
func (l *letters) append(dst []byte, text string) []byte {
	open, have := uint32(0), 0
	for i := range len(text) {
		code := l.codes[text[i]]
		open |= uint32(code&(1<<unitsShift-1)) << (4 * have)
		for have += int(code >> unitsShift); have >= 2; have -= 2 {
			dst = append(dst, byte(open))
			open >>= 8
		}
	}
	if have > 0 {
		dst = append(dst, byte(open|literal<<4))
	}
	return dst
}

// appendText decodes b and appends the text to dst. ok is false for invalid bytes.
func (l *letters) appendText(dst, b []byte) (text []byte, ok bool) {
	end, at := 2*len(b), 0 // in units
	for at < end {
		i := at >> 1
		units := uint32(b[i])
		if i+1 < len(b) {
			units |= uint32(b[i+1]) << 8
		}
		units >>= 4 * (at & 1)
		known := l.read[byte(units)]
		switch known >> readShift {
		case 0:
			return dst, false
		case literalUnits:
			if at == end-1 {
				return dst, true
			}
			known = uint16(byte(units>>4)) | literalUnits<<readShift
		}
		dst = append(dst, byte(known))
		at += int(known >> readShift)
	}
	return dst, at == end
}

// count adds to counts how often each byte occurs in a text.
func count[T string | []byte](counts *[256]int, text T) {
	for i := range len(text) {
		counts[text[i]]++
	}
}
