package weaviate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"sheaf"
)

// condition is a filter in GraphQL, or one of the two that need no server.
type condition struct {
	where     string
	all, none bool
	// loose says that more may meet it than should: hits have to be tested
	// again with the filter itself.
	loose bool
}

var (
	everything = condition{all: true}
	nothing    = condition{none: true}
)

func test(path, operator, value string) condition {
	return condition{where: fmt.Sprintf("{path:[%q] operator:%s valueText:%s}", path, operator, value)}
}

// and, or and not keep the two special conditions out of what is sent.
func and(list ...condition) condition {
	var parts []string
	loose := false
	for _, c := range list {
		loose = loose || c.loose
		switch {
		case c.none:
			return nothing
		case !c.all:
			parts = append(parts, c.where)
		}
	}
	return joined("And", parts, everything, loose)
}

func or(list ...condition) condition {
	var parts []string
	loose, all := false, false
	for _, c := range list {
		loose = loose || c.loose
		switch {
		case c.all:
			all = true
		case !c.none:
			parts = append(parts, c.where)
		}
	}
	if all {
		return condition{all: true, loose: loose}
	}
	return joined("Or", parts, nothing, loose)
}

func joined(operator string, parts []string, none condition, loose bool) condition {
	out := none
	switch len(parts) {
	case 0:
	case 1:
		out = condition{where: parts[0]}
	default:
		out = condition{where: "{operator:" + operator + " operands:[" + strings.Join(parts, " ") + "]}"}
	}
	out.loose = loose
	return out
}

// not of a loose condition is everything: what should not meet it is not known
// before hits are tested.
func not(c condition) condition {
	switch {
	case c.loose:
		return condition{all: true, loose: true}
	case c.all:
		return nothing
	case c.none:
		return everything
	}
	return condition{where: "{operator:Not operands:[" + c.where + "]}"}
}

// maxWord is how much of a text value is kept; of a longer one the beginning and a
// hash.
const maxWord = 4000

// Every value of a column is one word of the property "c": the column's name in
// hexadecimal, a dot, a letter for the kind, and the value in a form that sorts as
// values do.
func columnWord(name string) string {
	if len(name) > maxWord {
		sum := sha256.Sum256([]byte(name))
		return "x" + hex.EncodeToString(sum[:]) + "."
	}
	return hex.EncodeToString([]byte(name)) + "."
}

var kindLetter = map[sheaf.Kind]string{sheaf.KindText: "t", sheaf.KindNumber: "n", sheaf.KindDate: "d", sheaf.KindBool: "b"}

func valueWord(v sheaf.Value) string {
	if v.Kind == sheaf.KindText {
		if len(v.Text) > maxWord {
			sum := sha256.Sum256([]byte(v.Text))
			return "t" + hex.EncodeToString([]byte(v.Text[:maxWord])) + "." + hex.EncodeToString(sum[:])
		}
		return "t" + hex.EncodeToString([]byte(v.Text))
	}
	bits := math.Float64bits(v.Number)
	if bits>>63 != 0 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return fmt.Sprintf("%s%016x", kindLetter[v.Kind], bits)
}

func (s *Store) filter(f sheaf.Filter) condition {
	switch f := f.(type) {
	case nil:
		return everything
	case sheaf.And:
		return and(s.filters(f)...)
	case sheaf.Or:
		return or(s.filters(f)...)
	case sheaf.Not:
		return not(s.filter(f.Filter))
	case sheaf.In:
		var words []string
		for _, v := range f.Values {
			if !v.IsZero() {
				words = append(words, columnWord(f.Column)+valueWord(v))
			}
		}
		return anyOf("c", words)
	case sheaf.Range:
		return between(f)
	case sheaf.Exists:
		return test("c", "Like", quote(columnWord(f.Column)+"*"))
	case sheaf.HasPrefix:
		return test("c", "Like", quote(columnWord(f.Column)+"t"+hex.EncodeToString([]byte(f.Prefix[:min(len(f.Prefix), maxWord)]))+"*"))
	}
	return nothing
}

func (s *Store) filters(list []sheaf.Filter) []condition {
	out := make([]condition, len(list))
	for i, f := range list {
		out[i] = s.filter(f)
	}
	return out
}

func anyOf(path string, words []string) condition {
	if len(words) == 0 {
		return nothing
	}
	return test(path, "ContainsAny", quoteAll(words))
}

// between is two conditions, each of which another value of the column may meet, so
// it is loose.
func between(f sheaf.Range) condition {
	kind, ok := f.Kind()
	if !ok {
		return nothing
	}
	beginning := columnWord(f.Column) + kindLetter[kind]
	low, high := test("c", "GreaterThanEqual", quote(beginning)), test("c", "LessThan", quote(beginning+"~"))
	if !f.Min.IsZero() {
		low = test("c", "GreaterThan"+orEqual(f.MinOpen), quote(columnWord(f.Column)+valueWord(f.Min)))
	}
	if !f.Max.IsZero() {
		high = test("c", "LessThan"+orEqual(f.MaxOpen), quote(columnWord(f.Column)+valueWord(f.Max)))
	}
	out := and(low, high)
	out.loose = true
	return out
}

func orEqual(open bool) string {
	if open {
		return ""
	}
	return "Equal"
}

// columns are the values that words stand for.
type columns map[string][]sheaf.Value

// Values implements sheaf.Columns.
func (c columns) Values(column string) []sheaf.Value { return c[column] }

// readColumns reads words back; those of very long names and values lack what
// stands behind the limit.
func readColumns(words []string) columns {
	out := columns{}
	for _, w := range words {
		name, value, ok := strings.Cut(w, ".")
		raw, err := hex.DecodeString(name)
		if !ok || err != nil || value == "" {
			continue
		}
		if v, ok := readValue(value[0], value[1:]); ok {
			out[string(raw)] = append(out[string(raw)], v)
		}
	}
	return out
}

func readValue(letter byte, text string) (sheaf.Value, bool) {
	if letter == 't' {
		text, _, _ = strings.Cut(text, ".")
		raw, err := hex.DecodeString(text)
		return sheaf.TextValue(string(raw)), err == nil
	}
	bits, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		return sheaf.Value{}, false
	}
	if bits>>63 != 0 {
		bits &^= 1 << 63
	} else {
		bits = ^bits
	}
	for kind, l := range kindLetter {
		if l == string(letter) {
			return sheaf.Value{Kind: kind, Number: math.Float64frombits(bits)}, true
		}
	}
	return sheaf.Value{}, false
}
