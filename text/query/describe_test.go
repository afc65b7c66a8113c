package query_test

import (
	"fmt"
	"strings"

	"sheaf"
)

// describe returns a text that shows how a query was understood.
func describe(q sheaf.Query) string {
	var parts []string
	if q.Words != nil {
		parts = append(parts, describeWords(q.Words))
	}
	if q.Filter != nil {
		parts = append(parts, "where "+describeFilter(q.Filter))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

func describeWords(q sheaf.TextQuery) string {
	format, text, field := "", "", ""
	switch q := q.(type) {
	case sheaf.Match:
		format, text, field = "any of %q", q.Text, q.Field
	case sheaf.Phrase:
		format, text, field = "the phrase %q", q.Text, q.Field
	case sheaf.Prefix:
		format, text, field = "words that begin with %q", q.Text, q.Field
	case sheaf.Fuzzy:
		format, text, field = fmt.Sprintf("words at most %d letters from %%q", q.Distance), q.Text, q.Field
	case sheaf.Bool:
		return describeBool(q)
	}
	if field != "" {
		format += " in " + field
	}
	return fmt.Sprintf(format, text)
}

func describeBool(q sheaf.Bool) string {
	var all []string
	list := func(before string, queries []sheaf.TextQuery, between string) {
		var parts []string
		for _, q := range queries {
			part := describeWords(q)
			if _, nested := q.(sheaf.Bool); nested {
				part = "(" + part + ")"
			}
			parts = append(parts, part)
		}
		if len(parts) > 0 {
			all = append(all, before+strings.Join(parts, between))
		}
	}
	list("", q.Must, " and ")
	list(choose(len(q.Must) > 0, "better with ", ""), q.Should, " or ")
	list("not ", q.MustNot, ", not ")
	if len(all) == 0 {
		return "everything"
	}
	return strings.Join(all, ", ")
}

func describeFilter(f sheaf.Filter) string {
	join := func(filters []sheaf.Filter, between string) string {
		parts := make([]string, len(filters))
		for i, f := range filters {
			parts[i] = describeFilter(f)
		}
		return "(" + strings.Join(parts, between) + ")"
	}
	switch f := f.(type) {
	case sheaf.And:
		return join(f, " and ")
	case sheaf.Or:
		return join(f, " or ")
	case sheaf.Not:
		return "not " + describeFilter(f.Filter)
	case sheaf.In:
		values := make([]string, len(f.Values))
		for i, v := range f.Values {
			values[i] = v.String()
		}
		return f.Column + " is " + strings.Join(values, " or ")
	case sheaf.Range:
		switch {
		case f.Min.IsZero():
			return f.Column + choose(f.MaxOpen, " is before ", " is at most ") + f.Max.String()
		case f.Max.IsZero():
			return f.Column + choose(f.MinOpen, " is after ", " is at least ") + f.Min.String()
		}
		return f.Column + " is from " + f.Min.String() + choose(f.MaxOpen, " to before ", " to ") + f.Max.String()
	case sheaf.Exists:
		return f.Column + " is given"
	case sheaf.HasPrefix:
		return f.Column + " begins with " + f.Prefix
	}
	return "?"
}

func choose(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}
