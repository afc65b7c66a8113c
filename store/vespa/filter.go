package vespa

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/store/storekit"
)

// These are conditions that match everything or nothing, without a field.
const (
	everything = "true"
	nothing    = "false"
)

// query builds a search. Texts are parameters beside the YQL text, never parts of it.
type query struct {
	schema string
	where  string
	pipe   string // a grouping of the matches in YQL, or ""
	body   object
	params int
}

func newQuery(schema string) *query { return &query{schema: schema, body: object{}} }

// param adds a text as a parameter and returns its name.
func (q *query) param(text string) string {
	name := "p" + strconv.Itoa(q.params)
	q.params++
	q.body[name] = text
	return "@" + name
}

// list adds words as a parameter for the operator "in" of YQL. The words need no quotes there, because they have only
// letters, digits and characters that [folded] keeps.
func (q *query) list(words []string) string { return q.param(strings.Join(words, ",")) }

func (q *query) yql() string {
	out := "select * from " + q.schema + " where " + q.where
	if q.pipe != "" {
		out += " | " + q.pipe
	}
	return out
}

// and() joins conditions, as or() and not() do. A joined condition never contains everything or nothing as a part.
func and(list ...string) string { return combined(list, " and ", everything, nothing) }

func or(list ...string) string { return combined(list, " or ", nothing, everything) }

// combined joins conditions with an operator. It omits the condition neutral, which has no effect. If list has the
// condition decisive, that condition is the result.
func combined(list []string, operator, neutral, decisive string) string {
	if slices.Contains(list, decisive) {
		return decisive
	}
	parts := slices.DeleteFunc(slices.Clone(list), func(c string) bool { return c == neutral })
	switch len(parts) {
	case 0:
		return neutral
	case 1:
		return parts[0]
	}
	return "(" + strings.Join(parts, operator) + ")"
}

func not(c string) string {
	switch c {
	case everything:
		return nothing
	case nothing:
		return everything
	}
	return "(true and !(" + c + "))"
}

func (s *Store) filter(q *query, f sheaf.Filter) (string, error) {
	switch f := f.(type) {
	case nil:
		return everything, nil
	case sheaf.And:
		return s.filters(q, f, and)
	case sheaf.Or:
		return s.filters(q, f, or)
	case sheaf.Not:
		part, err := s.filter(q, f.Filter)
		return not(part), err
	case sheaf.In:
		return inCondition(q, f), nil
	case sheaf.Range:
		return s.between(q, f)
	case sheaf.Exists:
		return "columns contains ({prefix:true}" + q.param(storekit.ColumnWord(f.Column)) + ")", nil
	case sheaf.HasPrefix:
		return "columns contains ({prefix:true}" + q.param(storekit.ColumnWord(f.Column)+storekit.PrefixWord(f.Prefix)) + ")",
			nil
	}
	return nothing, nil
}

func (s *Store) filters(q *query, list []sheaf.Filter, join func(...string) string) (string, error) {
	out := make([]string, len(list))
	for i, f := range list {
		var err error
		if out[i], err = s.filter(q, f); err != nil {
			return "", err
		}
	}
	return join(out...), nil
}

// inCondition returns the condition for f. If the column has its own field, the condition looks up texts in that field.
// It looks up all other values among the words of all columns.
func inCondition(q *query, f sheaf.In) string {
	if f.Column == hiddenColumn && len(f.Values) == 1 && f.Values[0] == sheaf.BoolValue(true) {
		return "hidden = true"
	}
	field := looked(f.Column)
	var names, words []string
	for _, v := range f.Values {
		switch {
		case v.IsZero():
		case v.Kind == sheaf.KindText && field != "" && v.Text != "":
			names = append(names, folded(v.Text))
		default:
			words = append(words, storekit.ColumnWord(f.Column)+storekit.ValueWord(v))
		}
	}
	return or(anyOf(q, field, names), anyOf(q, "columns", words))
}

// hiddenColumn is a column that has its own field, with true or false in every chunk.
const hiddenColumn = "onyx.hidden"

func anyOf(q *query, field string, words []string) string {
	if len(words) == 0 {
		return nothing
	}
	return field + " in (" + q.list(words) + ")"
}

// between returns the condition for a range of numbers. One element of the field "numbers" must meet the whole
// condition, so both bounds apply to the same value. For a range of texts, between returns sheaf.ErrUnsupported.
func (s *Store) between(q *query, f sheaf.Range) (string, error) {
	kind, ok := f.Kind()
	if !ok {
		return nothing, nil
	}
	if kind == sheaf.KindText {
		return "", s.fault(sheaf.ErrUnsupported, "a range of texts in column %q: Vespa orders numbers alone: ask for "+
			"values or a prefix, or use another store", f.Column)
	}
	parts := []string{"column contains " + q.param(storekit.ColumnWord(f.Column)+storekit.KindWord(kind))}
	for _, bound := range []struct {
		value    sheaf.Value
		operator string
	}{{f.Min, ">" + orEqual(f.MinOpen)}, {f.Max, "<" + orEqual(f.MaxOpen)}} {
		if !bound.value.IsZero() {
			parts = append(parts, fmt.Sprintf("value %s %dL", bound.operator, storekit.SortableNumber(bound.value.Number)))
		}
	}
	return "numbers contains sameElement(" + strings.Join(parts, ", ") + ")", nil
}

func orEqual(open bool) string {
	if open {
		return ""
	}
	return "="
}

// bounds returns the condition for the Filter and Within of a request.
func (s *Store) bounds(q *query, f sheaf.Filter, within []sheaf.ID) (string, error) {
	where, err := s.filter(q, f)
	if err != nil || within == nil {
		return where, err
	}
	return and(where, anyOf(q, "chunk", storekit.Hashes(within))), nil
}
