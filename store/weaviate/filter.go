package weaviate

import (
	"fmt"
	"strings"

	"sheaf"
	"sheaf/store/storekit"
)

// maxParts limits the parts of a filter. A server takes seconds for this number, and minutes for seven times as many.
const maxParts = 10_000

// condition is a filter in GraphQL, or one of the special conditions everything and nothing.
type condition struct {
	where string
	// loose means that the condition lets too many chunks pass. The store must then test each hit with the filter.
	loose bool
}

var (
	everything = condition{where: "true"}
	nothing    = condition{where: "false"}
)

// all reports whether every chunk meets the condition. none reports whether no chunk does.
func (c condition) all() bool  { return c.where == everything.where }
func (c condition) none() bool { return c.where == nothing.where }

func test(path, operator, value string) condition {
	return condition{where: fmt.Sprintf("{path:[%q] operator:%s valueText:%s}", path, operator, value)}
}

// and() joins conditions, as or() and negate() do. A joined condition never contains everything or nothing as a part.
func and(list ...condition) condition { return joined("And", list, everything, nothing) }

func or(list ...condition) condition { return joined("Or", list, nothing, everything) }

// joined joins the conditions in list with an operator. neutral is the condition that changes nothing, so joined omits
// it. decisive is the condition that alone decides: if list has it, the result is decisive.
func joined(operator string, list []condition, neutral, decisive condition) condition {
	var parts []string
	loose, decided := false, false
	for _, c := range list {
		loose, decided = loose || c.loose, decided || c.where == decisive.where
		if c.where != neutral.where {
			parts = append(parts, c.where)
		}
	}
	switch {
	case decided:
		return condition{decisive.where, loose && !decisive.none()}
	case len(parts) == 0:
		return condition{neutral.where, loose}
	case len(parts) == 1:
		return condition{parts[0], loose}
	}
	return condition{"{operator:" + operator + " operands:[" + strings.Join(parts, " ") + "]}", loose}
}

// negate returns the opposite of a condition. For a loose condition, which lets too many chunks pass, it returns
// everything.
func negate(c condition) condition {
	switch {
	case c.loose:
		return condition{everything.where, true}
	case c.all():
		return nothing
	case c.none():
		return everything
	}
	return condition{where: "{operator:Not operands:[" + c.where + "]}"}
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
		return negate(s.filter(f.Filter))
	case sheaf.In:
		var words []string
		for _, v := range f.Values {
			if !v.IsZero() {
				words = append(words, storekit.ColumnWord(f.Column)+storekit.ValueWord(v))
			}
		}
		return anyOf("c", words)
	case sheaf.Range:
		return between(f)
	case sheaf.Exists:
		return test("c", "Like", quote(storekit.ColumnWord(f.Column)+"*"))
	case sheaf.HasPrefix:
		return test("c", "Like", quote(storekit.ColumnWord(f.Column)+storekit.PrefixWord(f.Prefix)+"*"))
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

// between returns a condition with a part for each bound. Two values of a chunk may each meet one bound, so the result
// is loose.
func between(f sheaf.Range) condition {
	kind, ok := f.Kind()
	if !ok {
		return nothing
	}
	beginning := storekit.ColumnWord(f.Column) + storekit.KindWord(kind)
	low, high := test("c", "GreaterThanEqual", quote(beginning)), test("c", "LessThan", quote(beginning+"~"))
	if !f.Min.IsZero() {
		low = test("c", "GreaterThan"+orEqual(f.MinOpen), quote(storekit.ColumnWord(f.Column)+storekit.ValueWord(f.Min)))
	}
	if !f.Max.IsZero() {
		high = test("c", "LessThan"+orEqual(f.MaxOpen), quote(storekit.ColumnWord(f.Column)+storekit.ValueWord(f.Max)))
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
