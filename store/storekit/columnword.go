package storekit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/store"
)

// Some stores keep all columns in one field of words. A filter can then use any column without an entry in the
// schema. A word has four parts: the column's name in hexadecimal, a dot, the kind's letter, and the sortable value.
// Texts are in hexadecimal, other values are the bits of their number. A server cannot trim, fold or misread such a
// word. ColumnWord and ValueWord write the two halves of a word, ReadWords reads whole words.

// LongestWord is the largest length in bytes of a text, and of a column's name, inside a word. Instead of a longer
// text, a word contains the beginning and a hash of the text. Instead of a longer name, it contains a hash of the name.
const LongestWord = 4000

// ColumnWord returns the text with which the words of the column called name begin, and no other words.
func ColumnWord(name string) string {
	if len(name) > LongestWord {
		sum := sha256.Sum256([]byte(name))
		return "x" + hex.EncodeToString(sum[:]) + "."
	}
	return hex.EncodeToString([]byte(name)) + "."
}

var letters = map[sheaf.Kind]string{sheaf.KindText: "t", sheaf.KindNumber: "n", sheaf.KindDate: "d",
	sheaf.KindBool: "b"}

// KindWord returns the text with which the results of ValueWord begin for all values of a kind.
func KindWord(k sheaf.Kind) string { return letters[k] }

// ValueWord returns the part of a word after ColumnWord. For values of one kind these parts sort like
// sheaf.Value.Compare, except for texts that are longer than LongestWord.
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

// PrefixWord returns the text with which the results of ValueWord begin for all texts with this prefix.
func PrefixWord(text string) string {
	return "t" + hex.EncodeToString([]byte(text[:min(len(text), LongestWord)]))
}

// sortable converts a number to bits, so that bits have the order of their numbers.
func sortable(f float64) uint64 {
	bits := math.Float64bits(f)
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

// SortableNumber converts a number to an integer, so that integers have the order of their numbers.
func SortableNumber(f float64) int64 { return int64(sortable(f) ^ 1<<63) }

// Columns are values by column, as ReadWords returns them.
type Columns map[string][]sheaf.Value

// Values implements sheaf.Columns.
func (c Columns) Values(column string) []sheaf.Value { return c[column] }

// ReadWords decodes the words that ColumnWords returns. Long names and values are shortened in words, so they stay
// shortened in the result. ReadWords skips texts that are no such words.
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

// ReadNumber reverses ValueWord for values that are not texts. It returns false if word is not such a value.
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

// ColumnWords returns the words of all columns of a chunk.
func ColumnWords(c *store.Chunk) []string {
	out := []string{}
	for _, column := range c.Columns {
		name := ColumnWord(column.Name)
		for _, v := range column.Values {
			if !v.IsZero() {
				out = append(out, name+ValueWord(v))
			}
		}
	}
	return out
}
