package sheaf

import (
	"slices"
	"strings"
)

// Names of the columns that every document has. The column of a property is [PropertyColumn] of its name.
const (
	ColumnTree   = "tree"   // text, one
	ColumnPath   = "path"   // text, one: the path inside the tree
	ColumnFile   = "file"   // text, one: the last part of the path
	ColumnFolder = "folder" // text, list: every folder above, "a", "a/b"; "" for the top
	ColumnTag    = "tag"    // text, list: lower case, letters composed; "a/b" is also present as "a"
	ColumnDate   = "date"   // date, one: see Dated; local time of its writer, see Clock
	ColumnDepth  = "depth"  // number, one: the chunk's depth
	ColumnDoc    = "doc"    // text, one: the document's ID
	ColumnTenant = "tenant" // text, one: the tenant that owns it
	ColumnAccess = "access" // text, list: viewers; AccessPublic means everyone of the tenant
	ColumnSet    = "set"    // text, list: its document sets
)

// AccessPublic in [ColumnAccess] lets everyone of the document's tenant see it. A document without
// any value is private.
const AccessPublic = "public"

// PropertyColumn returns the column for the values of a property. Names compare without regard to
// case; names in documents have Unicode form NFC.
func PropertyColumn(name string) string { return "prop." + strings.ToLower(name) }

// WrittenColumn returns the column for a property's numbers and dates as the document writes them,
// as texts. It has values only when at least one has an unusual form, such as 000032.
func WrittenColumn(name string) string { return "written." + strings.ToLower(name) }

// Columns gives a filter the column values of one chunk.
type Columns interface {
	// Values returns the values of the named column, in any order; empty when there are none.
	// Callers must not change them.
	Values(column string) []Value
}

// Filter says which chunks a search may find. Its Match method defines its meaning: stores translate
// filters to their own language, and tests compare them with Match. Filters are values, safe for
// concurrent use. The only filters are And, Or, Not, In, Range, Exists and HasPrefix.
type Filter interface {
	// Match reports whether a chunk with these columns may be found.
	Match(Columns) bool
	filter()
}

// And matches when every part does; an empty And matches everything.
type And []Filter

// Or matches when at least one part does; an empty Or matches nothing.
type Or []Filter

// Not matches when its part does not.
type Not struct{ Filter Filter }

// In matches when at least one value of the column equals one of Values in kind and content. Text
// compares byte by byte. Empty Values match nothing.
type In struct {
	Column string
	Values []Value
}

// Range matches when at least one value of the column has the kind of the bounds and is between
// them. Min is included unless MinOpen, Max unless MaxOpen; a zero Value is no bound. Range matches
// nothing without a bound, or with bounds of different kinds.
type Range struct {
	Column  string
	Min     Value
	Max     Value
	MinOpen bool
	MaxOpen bool
}

// Exists matches when the column has at least one value.
type Exists struct{ Column string }

// HasPrefix matches when at least one text value of the column begins with Prefix, byte by byte.
type HasPrefix struct {
	Column string
	Prefix string
}

func (And) filter()       {}
func (Or) filter()        {}
func (Not) filter()       {}
func (In) filter()        {}
func (Range) filter()     {}
func (Exists) filter()    {}
func (HasPrefix) filter() {}

// Match implements [Filter].
func (f And) Match(c Columns) bool {
	return !slices.ContainsFunc(f, func(part Filter) bool { return !part.Match(c) })
}

// Match implements [Filter].
func (f Or) Match(c Columns) bool {
	return slices.ContainsFunc(f, func(part Filter) bool { return part.Match(c) })
}

// Match implements [Filter].
func (f Not) Match(c Columns) bool { return !f.Filter.Match(c) }

// Match implements [Filter].
func (f In) Match(c Columns) bool {
	return slices.ContainsFunc(c.Values(f.Column), func(v Value) bool { return slices.Contains(f.Values, v) })
}

// Match implements [Filter].
func (f Range) Match(c Columns) bool {
	kind, ok := f.Kind()
	if !ok {
		return false
	}
	return slices.ContainsFunc(c.Values(f.Column), func(v Value) bool {
		above, below := 1, -1
		if !f.Min.IsZero() {
			above = v.Compare(f.Min)
		}
		if !f.Max.IsZero() {
			below = v.Compare(f.Max)
		}
		return v.Kind == kind && (above > 0 || above == 0 && !f.MinOpen) && (below < 0 || below == 0 && !f.MaxOpen)
	})
}

// Kind returns the kind of the bounds of f. ok is false when f has no bound or bounds of different
// kinds; f then matches nothing.
func (f Range) Kind() (kind Kind, ok bool) {
	switch {
	case f.Min.IsZero():
		return f.Max.Kind, !f.Max.IsZero()
	case f.Max.IsZero():
		return f.Min.Kind, true
	}
	return f.Min.Kind, f.Min.Kind == f.Max.Kind
}

// Match implements [Filter].
func (f Exists) Match(c Columns) bool { return len(c.Values(f.Column)) > 0 }

// Match implements [Filter].
func (f HasPrefix) Match(c Columns) bool {
	return slices.ContainsFunc(c.Values(f.Column), func(v Value) bool {
		return v.Kind == KindText && strings.HasPrefix(v.Text, f.Prefix)
	})
}
