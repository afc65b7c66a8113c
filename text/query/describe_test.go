package query_test

import (
	"fmt"
	"strings"

	"sheaf"
)

// describe returns a text for people that shows how a query was understood.
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
	in := func(field string) string {
		if field == "" {
			return ""
		}
		return " in " + field
	}
	switch q := q.(type) {
	case sheaf.Match:
		return fmt.Sprintf("any of %q%s", q.Text, in(q.Field))
	case sheaf.Phrase:
		return fmt.Sprintf("the phrase %q%s", q.Text, in(q.Field))
	case sheaf.Prefix:
		return fmt.Sprintf("words that begin with %q%s", q.Text, in(q.Field))
	case sheaf.Fuzzy:
		return fmt.Sprintf("words at most %d letters from %q%s", q.Distance, q.Text, in(q.Field))
	case sheaf.Boost:
		return fmt.Sprintf("%g times (%s)", q.Factor, describeWords(q.Query))
	case sheaf.Bool:
		return describeBool(q)
	}
	return "nothing"
}

func describeBool(q sheaf.Bool) string {
	list := func(before string, queries []sheaf.TextQuery, between string) string {
		if len(queries) == 0 {
			return ""
		}
		parts := make([]string, len(queries))
		for i, q := range queries {
			parts[i] = describeWords(q)
			if _, nested := q.(sheaf.Bool); nested {
				parts[i] = "(" + parts[i] + ")"
			}
		}
		return before + strings.Join(parts, between)
	}
	var parts []string
	for _, s := range []string{list("", q.Must, " and "),
		list(map[bool]string{true: "better with "}[len(q.Must) > 0], q.Should, " or "), list("not ", q.MustNot, ", not ")} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		return "everything"
	}
	return strings.Join(parts, ", ")
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
			return f.Column + map[bool]string{true: " is before ", false: " is at most "}[f.MaxOpen] + f.Max.String()
		case f.Max.IsZero():
			return f.Column + map[bool]string{true: " is after ", false: " is at least "}[f.MinOpen] + f.Min.String()
		}
		return f.Column + " is from " + f.Min.String() + map[bool]string{true: " to before ", false: " to "}[f.MaxOpen] +
			f.Max.String()
	case sheaf.Exists:
		return f.Column + " is given"
	case sheaf.HasPrefix:
		return f.Column + " begins with " + f.Prefix
	}
	return "?"
}
