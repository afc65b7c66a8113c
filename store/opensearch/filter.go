package opensearch

import (
	"strings"
	"unicode/utf8"

	"sheaf"
	"sheaf/store/storekit"
)

var (
	everything = object{"match_all": object{}}
	nothing    = object{"match_none": object{}}
)

// filter returns the server's query for f. The query does not change scores.
func (s *Store) filter(f sheaf.Filter) (object, error) {
	switch f := f.(type) {
	case sheaf.And:
		return s.filters(f, "filter", everything)
	case sheaf.Or:
		return s.filters(f, "should", nothing)
	case sheaf.Not:
		part, err := s.filter(f.Filter)
		return object{"bool": object{"must_not": []any{part}}}, err
	case sheaf.In:
		words := []string{}
		for _, v := range f.Values {
			if !v.IsZero() {
				words = append(words, columnWord(f.Column)+valueWord(v))
			}
		}
		return object{"terms": object{"c": words}}, nil
	case sheaf.Range:
		return s.between(f)
	case sheaf.Exists:
		return prefix(columnWord(f.Column)), nil
	case sheaf.HasPrefix:
		if !whole(f.Prefix) {
			return nil, s.fault(sheaf.ErrUnsupported, "a prefix that ends inside a character: %q", f.Prefix)
		}
		if len(f.Prefix) > maxWord {
			return nil, s.fault(sheaf.ErrUnsupported, "a prefix of %d bytes: at most %d", len(f.Prefix), maxWord)
		}
		return prefix(columnWord(f.Column) + "t" + escape(f.Prefix)), nil
	}
	return nothing, nil
}

// whole reports whether text ends with a complete character. If so, a value begins with text exactly when the escaped
// value begins with the escaped text.
func whole(text string) bool {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			return utf8.FullRuneInString(tail)
		}
	}
	return true
}

func prefix(word string) object { return object{"prefix": object{"c": object{"value": word}}} }

func (s *Store) filters(list []sheaf.Filter, clause string, none object) (object, error) {
	if len(list) == 0 {
		return none, nil
	}
	parts := make([]any, len(list))
	for i, f := range list {
		part, err := s.filter(f)
		if err != nil {
			return nil, err
		}
		parts[i] = part
	}
	return object{"bool": object{clause: parts}}, nil
}

func (s *Store) between(f sheaf.Range) (object, error) {
	kind, ok := f.Kind()
	if !ok {
		return nothing, nil
	}
	if kind == sheaf.KindText && (strings.ToValidUTF8(f.Min.Text, "") != f.Min.Text ||
		strings.ToValidUTF8(f.Max.Text, "") != f.Max.Text) {
		return nil, s.fault(sheaf.ErrUnsupported, "a range between texts that are not UTF-8")
	}
	// Without a bound, all words of the kind match: the range goes from its letter to the next character.
	letter := storekit.KindWord(kind)
	low, high := columnWord(f.Column)+letter, columnWord(f.Column)+string(letter[0]+1)
	bounds := object{"gte": low, "lt": high}
	if !f.Min.IsZero() {
		delete(bounds, "gte")
		bounds[map[bool]string{true: "gt", false: "gte"}[f.MinOpen]] = columnWord(f.Column) + valueWord(f.Min)
	}
	if !f.Max.IsZero() {
		delete(bounds, "lt")
		bounds[map[bool]string{true: "lt", false: "lte"}[f.MaxOpen]] = columnWord(f.Column) + valueWord(f.Max)
	}
	return object{"range": object{"c": bounds}}, nil
}

// bounds returns the query clauses for the Filter and Within of a request.
func (s *Store) bounds(f sheaf.Filter, within []sheaf.ID) ([]any, error) {
	var out []any
	if f != nil {
		part, err := s.filter(f)
		if err != nil {
			return nil, err
		}
		out = append(out, part)
	}
	if within != nil {
		out = append(out, object{"terms": object{"id": escapedIDs(within)}})
	}
	return out, nil
}
