package search

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
	"sheaf/internal/suggest"
	"sheaf/store"
	"sheaf/text/query"
)

const (
	// mostAsked is the largest number of filter values that are looked up, because a value may need two requests.
	mostAsked = 4
	// leastMeant is the smallest number of characters in a value that may have a typing error.
	leastMeant = 3
	// mostTold is the largest number of existing values that a message suggests. A message omits values of more than
	// longestTold characters.
	mostTold, longestTold = 5, 60
)

// If a search found nothing, unmet adds a message to Result.Unmet for each filter value that no document has.
func (r *run) unmet(ctx context.Context) {
	counter, counts := r.searcher.Backend.(store.Counter)
	faceter := store.Lists(r.searcher.Backend)
	if len(r.result.Hits) > 0 || r.result.Degraded || !counts || faceter == nil {
		return
	}
	folder := "" // of the scope
	for _, w := range requiredValues(r.opt.Scope) {
		if w.column == sheaf.ColumnFolder {
			folder = w.value + "/"
		}
	}
	for _, w := range requiredValues(r.query.Filter) {
		every := requirement(everything)
		req := store.Request{Filter: sheaf.Both(r.opt.Scope, w.filter), Limit: 1, Text: &every}
		n, err := counter.Count(ctx, req)
		if r.short(err); err != nil || n > 0 {
			continue
		}
		req.Filter = r.opt.Scope
		there, err := facets(ctx, faceter, req, []string{w.column})
		if r.short(err); err == nil {
			r.result.Unmet = append(r.result.Unmet, w.unmet(there[0], folder))
		}
	}
}

// requiredValue is a part of a filter that every hit must match: filter requires that column has value.
type requiredValue struct {
	filter        sheaf.Filter
	column, value string
}

// requiredValues returns the parts of a filter that a document must meet and that name a value, at most mostAsked.
func requiredValues(f sheaf.Filter) []requiredValue {
	var out []requiredValue
	if all, ok := f.(sheaf.And); ok {
		for _, part := range all {
			out = append(out, requiredValues(part)...)
		}
	} else if column, value := requiredOf(f); value != "" && named(column) != "" {
		out = append(out, requiredValue{f, column, value})
	}
	return out[:min(len(out), mostAsked)]
}

// requiredOf returns the column and the value that a filter requires, or "" if no message can name the value. For an
// Or, the part for a file name decides if there is one, otherwise the first part.
func requiredOf(f sheaf.Filter) (column, value string) {
	switch f := f.(type) {
	case sheaf.In:
		if len(f.Values) > 0 && f.Values[0].Kind == sheaf.KindText {
			return f.Column, f.Values[0].String()
		}
	case sheaf.HasPrefix:
		return f.Column, f.Prefix + "*"
	case sheaf.Or:
		for _, part := range f { // a file name says more than a folder of the same name
			if c, v := requiredOf(part); column == "" || c == sheaf.ColumnFile {
				column, value = c, v
			}
		}
	}
	return column, value
}

// named returns the name of a column in the query language, such as "tag" or "path". Sheaf suggests values for these
// columns when a filter finds nothing. For other columns, named returns "".
func named(column string) string {
	switch column {
	case sheaf.ColumnTag:
		return "tag"
	case sheaf.ColumnSet:
		return "set"
	case sheaf.ColumnFolder, sheaf.ColumnFile:
		return "path"
	case query.ColumnExtension:
		return "ext"
	}
	name, property := strings.CutPrefix(column, "prop.")
	if !property {
		return ""
	}
	return name
}

// unmet returns the message that no document has the wanted value. existing has the values to suggest. scope is a
// folder with a slash at its end, or "". If the value is a folder, the message suggests only folders below scope, as
// paths relative to scope.
func (w requiredValue) unmet(existing store.Facet, scope string) string {
	said := "nothing has " + named(w.column) + " " + typed(w.value)
	values := make([]string, 0, len(existing.Values))
	for _, v := range existing.Values {
		text, below := v.Value.String(), true
		if w.column == sheaf.ColumnFolder {
			text, below = strings.CutPrefix(text, scope)
		}
		if below && text != "" { // the top folder has no name
			values = append(values, text)
		}
	}
	switch {
	case len(values) > 0:
	case w.column == sheaf.ColumnFolder:
		return said + "; there are no folders"
	default:
		return said + ", or any other"
	}
	name := strings.TrimSuffix(w.value, "*")
	nearest := suggest.NearestValue
	if w.column == sheaf.ColumnFolder || w.column == sheaf.ColumnFile {
		nearest = suggest.Nearest
	}
	if near := nearest(name, values); near != "" && utf8.RuneCountInString(name) >= leastMeant {
		return said + "; did you mean " + typed(near) + "?"
	}
	told := values[:min(len(values), mostTold)]
	quotes := make([]string, len(told))
	for i, v := range told {
		quotes[i] = typed(v)
	}
	said += "; there is " + strings.Join(quotes, ", ")
	if more := existing.Distinct - len(told) - (len(existing.Values) - len(values)); more > 0 {
		said += fmt.Sprintf(", and %d more", more)
	}
	return said
}

// typed returns a value in the quotation marks with which a query finds it, shortened for a note.
func typed(value string) string {
	value = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, short(value))
	if strings.Contains(value, `"`) {
		return "«" + value + "»"
	}
	return `"` + value + `"`
}

func short(value string) string {
	if utf8.RuneCountInString(value) <= longestTold {
		return value
	}
	return string([]rune(value)[:longestTold]) + "…"
}
