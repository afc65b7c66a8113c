package storekit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"sheaf"
)

// Some stores keep all columns in one field of words, so that a filter can use any column without
// an entry in the schema. A word has four parts: the column's name in hexadecimal, a dot, a letter
// for the kind, and the value in a form that sorts like the values. Texts are in hexadecimal,
// everything else is the bits of its number. A server finds nothing in a word to trim, fold or read
// as syntax. ColumnWord and ValueWord write the two halves of a word, ReadWords reads whole words.

// LongestWord is how many bytes of a text value or of a name are kept. A longer text becomes its
// beginning and a hash, a longer name a hash.
const LongestWord = 4000

// ColumnWord returns the beginning of all words of a column, and of no others.
func ColumnWord(name string) string {
	if len(name) > LongestWord {
		sum := sha256.Sum256([]byte(name))
		return "x" + hex.EncodeToString(sum[:]) + "."
	}
	return hex.EncodeToString([]byte(name)) + "."
}

var letters = map[sheaf.Kind]string{sheaf.KindText: "t", sheaf.KindNumber: "n", sheaf.KindDate: "d",
	sheaf.KindBool: "b"}

// KindWord returns the beginning of the values of a kind.
func KindWord(k sheaf.Kind) string { return letters[k] }

// ValueWord returns the rest of a word. Within a kind it sorts as sheaf.Value.Compare says, as far
// as texts are kept whole.
func ValueWord(v sheaf.Value) string {
	if v.Kind == sheaf.KindText {
		if len(v.Text) > LongestWord {
			sum := sha256.Sum256([]byte(v.Text))
			return "t" + hex.EncodeToString([]byte(v.Text[:LongestWord])) + "." + hex.EncodeToString(sum[:])
		}
		return "t" + hex.EncodeToString([]byte(v.Text))
	}
	return fmt.Sprintf("%s%016x", letters[v.Kind], sortable(v.Number))
}

// PrefixWord returns the beginning of all text values that begin with text.
func PrefixWord(text string) string {
	return "t" + hex.EncodeToString([]byte(text[:min(len(text), LongestWord)]))
}

// sortable returns bits that sort as numbers do.
func sortable(f float64) uint64 {
	bits := math.Float64bits(f)
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

// SortableNumber is an integer that orders as numbers do.
func SortableNumber(f float64) int64 { return int64(sortable(f) ^ 1<<63) }

// Columns are the values that words encode.
type Columns map[string][]sheaf.Value

// Values implements sheaf.Columns.
func (c Columns) Values(column string) []sheaf.Value { return c[column] }

// ReadWords decodes words. Long names and values end at the limit; anything that is not a word is
// skipped.
func ReadWords(words []string) Columns {
	out := Columns{}
	for _, w := range words {
		name, value, ok := strings.Cut(w, ".")
		raw, err := hex.DecodeString(name)
		if !ok || err != nil || value == "" {
			continue
		}
		if v, ok := readValue(value); ok {
			out[string(raw)] = append(out[string(raw)], v)
		}
	}
	return out
}

func readValue(word string) (sheaf.Value, bool) {
	text, ok := strings.CutPrefix(word, letters[sheaf.KindText])
	if !ok {
		return ReadNumber(word)
	}
	text, _, _ = strings.Cut(text, ".")
	raw, err := hex.DecodeString(text)
	return sheaf.TextValue(string(raw)), err == nil
}

// ReadNumber reverses ValueWord for a value that is no text.
func ReadNumber(word string) (sheaf.Value, bool) {
	for kind, letter := range letters {
		digits, ok := strings.CutPrefix(word, letter)
		bits, err := strconv.ParseUint(digits, 16, 64)
		if !ok || err != nil {
			continue
		}
		if bits>>63 != 0 {
			bits &^= 1 << 63
		} else {
			bits = ^bits
		}
		return sheaf.Value{Kind: kind, Number: math.Float64frombits(bits)}, kind != sheaf.KindText
	}
	return sheaf.Value{}, false
}
