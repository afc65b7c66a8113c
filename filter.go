package sheaf

import (
	"slices"
	"strings"
)

// These are the names of a document's columns, besides the columns of its properties: see [PropertyColumn].
const (
	ColumnTree   = "tree"   // text, one: the tree of the document
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

// AccessPublic is a value of [ColumnAccess]. It lets all users of the document's tenant see the document. If a document
// has no value in this column, only callers without access limits see it.
const AccessPublic = "public"

// PropertyColumn returns the column for the values of the property called name. Names that differ only in case have the
// same column. The caller must pass a name in NFC, like the names in documents.
func PropertyColumn(name string) string { return "prop." + strings.ToLower(name) }

// CreatedProperties, PublishedProperties and UpdatedProperties are the properties that say when a document was created,
// published and updated, most important first. Many programs write them, each with its own name. Do not change them.
var (
	CreatedProperties = spellings("created", "date.created", "date created", "created at", "created date",
		"created time")
	PublishedProperties = spellings("published", "publish date", "pubdate", "date published", "published at")
	UpdatedProperties   = spellings("updated", "date.updated", "modified", "date modified", "lastmod", "last updated",
		"last update", "last_update.date", "last modified at", "last modified", "updated at", "updated date",
		"date updated", "last edited time")
)

// spellings returns the names in order. After a name of several words come its spellings with "_", with "-", and as one
// word.
func spellings(names ...string) (all []string) {
	for _, name := range names {
		all = append(all, name)
		if strings.Contains(name, " ") {
			for _, between := range []string{"_", "-", ""} {
				all = append(all, strings.ReplaceAll(name, " ", between))
			}
		}
	}
	return all
}

// WrittenColumn returns the column for a property's numbers and dates as text, in the spelling of the document. A
// document has values in this column only if the property has an unusual spelling, such as 000032.
func WrittenColumn(name string) string { return "written." + strings.ToLower(name) }

// Columns gives a filter the values of one chunk in its columns.
type Columns interface {
	// Values returns the values in the named column, in any order, perhaps none. Callers must not change the result.
	Values(column string) []Value
}

// Filter says which chunks a search may find. The method Match defines what a filter means. Stores translate filters to
// their own language, and tests compare the stores with Match. Filters are values, safe for concurrent use. The only
// filters are And, Or, Not, In, Range, Exists and HasPrefix.
type Filter interface {
	// Match reports whether a chunk with these columns may be found.
	Match(Columns) bool
	filter()
}

// And matches if all its parts match. An empty And matches everything.
type And []Filter

// Both returns a filter that passes only what passes a and b. A nil filter passes everything.
func Both(a, b Filter) Filter {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return And{a, b}
}

// Or matches if at least one of its parts matches. An empty Or matches nothing.
type Or []Filter

// Not matches if its part does not match.
type Not struct{ Filter Filter }

// In matches if the column has at least one of Values. Kind and content must be equal, and text compares byte by byte.
// Without Values, In matches nothing.
type In struct {
	Column string
	Values []Value
}

// TextIn returns an In for texts.
func TextIn[T ~string](column string, texts ...T) In {
	return In{Column: column, Values: TextValues(texts...)}
}

// Range matches if at least one value of the column has the bounds' kind and is within them. MinOpen excludes Min, and
// MaxOpen excludes Max. A zero Value is no bound. A Range without bounds, or with bounds of different kinds, matches
// nothing.
type Range struct {
	Column  string
	Min     Value
	Max     Value
	MinOpen bool
	MaxOpen bool
}

// Exists matches if the column has at least one value.
type Exists struct{ Column string }

// HasPrefix matches if at least one text in the column begins with Prefix, byte by byte.
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

// Kind returns the kind of the bounds. If f has no bounds, or bounds of two kinds, ok is false and f matches nothing.
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
