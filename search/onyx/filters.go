package onyx

import (
	"strings"
	"time"

	"sheaf"
	"sheaf/text/query"
)

// These are the columns that this package adds to those of package sheaf.
const (
	columnHidden        = "onyx.hidden"        // true when hidden
	columnSource        = "onyx.source"        // text, one: the source
	columnTag           = "onyx.tag"           // text, "key===value"
	columnProject       = "onyx.project"       // number, list
	columnPersona       = "onyx.persona"       // number, list
	columnNode          = "onyx.node"          // number, list: hierarchy nodes
	columnCreated       = "onyx.created"       // date, one
	columnUpdated       = "onyx.updated"       // date, one
	columnIndex         = "onyx.index"         // number, one: the chunk's position in its document
	columnLarge         = "onyx.large"         // true for large chunks
	columnEntities      = "onyx.entities"      // text, list: "TYPE::name"
	columnTerms         = "onyx.terms"         // text, list
	columnRelationships = "onyx.relationships" // text, list: "source__type__target"
)

// Filters say which chunks a search may find. A chunk must match each field that is set, with at least one value of the
// field. The zero Filters find public chunks that are not hidden, of documents without a tenant.
type Filters struct {
	// AnyTenant finds documents of every tenant. Otherwise the search finds only documents of Tenant.
	AnyTenant bool
	Tenant    string
	// AnyAccess finds all documents and ignores their access lists. Otherwise it finds public documents, and
	// documents whose access list has a name in Access.
	AnyAccess bool
	Access    []string
	// Hidden also finds hidden documents. It is for administrators.
	Hidden  bool
	Sources []string
	Tags    []string // "key===value"
	// ForcedSets are document sets that an operator sets. A document must be in one of these sets. Scope.Sets are less
	// strict: a document may instead match another field of Scope.
	ForcedSets []string
	Scope
	// Created and Updated limit the times of creation and of the last update.
	Created Window
	Updated Window
	// Graph has values of the knowledge graph. A chunk must have one of these entities, one of these terms, and all these
	// relationships. "TYPE::*" matches every entity of the type.
	Graph
}

// Scope limits a search to documents that match at least one of its fields. The zero Scope is no limit.
type Scope struct {
	Sets      []string
	Documents []sheaf.ID
	Nodes     []int
	Personas  []int
	Projects  []int
}

// Window is a range of time that includes both ends. A zero Start or End means no limit.
type Window struct{ Start, End time.Time }

// set reports whether the window has a start or an end.
func (w Window) set() bool { return !w.Start.IsZero() || !w.End.IsZero() }

// maxValues is the largest number of values in one field of Filters.
const maxValues = 65_536

// Filter returns the filter for requests to the store. now is the current time, which decides about documents without a
// date in Updated: see query.MayBeUndated. If a field has too many values, or a window ends before it starts, the error
// is sheaf.ErrInvalid.
func (f Filters) Filter(now time.Time) (sheaf.Filter, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	var all sheaf.And
	add := func(parts ...sheaf.Filter) { all = append(all, parts...) }
	if !f.Hidden {
		add(sheaf.Not{Filter: is(columnHidden, sheaf.BoolValue(true))})
	}
	switch {
	case f.AnyTenant:
	case f.Tenant == "": // documents without a tenant
		add(sheaf.Not{Filter: sheaf.Exists{Column: sheaf.ColumnTenant}})
	default:
		add(is(sheaf.ColumnTenant, sheaf.TextValue(f.Tenant)))
	}
	if !f.AnyAccess {
		add(sheaf.TextIn(sheaf.ColumnAccess, append([]string{sheaf.AccessPublic}, f.Access...)...))
	}
	for _, g := range []struct {
		column string
		values []string
	}{{sheaf.ColumnSet, f.ForcedSets}, {columnSource, f.Sources}, {columnTag, f.Tags}, {columnTerms, f.Terms}} {
		if len(g.values) > 0 {
			add(sheaf.TextIn(g.column, g.values...))
		}
	}
	if scope := f.Scope.filter(); len(scope) > 0 {
		add(scope)
	}
	if len(f.Entities) > 0 {
		add(entityFilter(f.Entities))
	}
	for _, r := range f.Relationships {
		add(is(columnRelationships, sheaf.TextValue(r)))
	}
	if f.Created.set() {
		add(f.Created.filter(columnCreated, true))
	}
	if f.Updated.set() {
		add(f.Updated.filter(columnUpdated, query.MayBeUndated(f.Updated.Start, f.Updated.End, now)))
	}
	return all, nil
}

func (f *Filters) check() error {
	for name, n := range map[string]int{"access": len(f.Access), "sources": len(f.Sources), "tags": len(f.Tags),
		"sets": len(f.Sets), "forced sets": len(f.ForcedSets),
		"documents": len(f.Documents), "nodes": len(f.Nodes), "personas": len(f.Personas), "projects": len(f.Projects),
		"entities": len(f.Entities),
		"terms":    len(f.Terms), "relationships": len(f.Relationships)} {
		if n > maxValues {
			return sheaf.Invalidf("filters: there are %d %s: at most %d are allowed", n, name, maxValues)
		}
	}
	for name, w := range map[string]Window{"created": f.Created, "updated": f.Updated} {
		if !w.Start.IsZero() && !w.End.IsZero() && w.End.Before(w.Start) {
			return sheaf.Invalidf("filters: the window of %s ends at %s, before its start %s", name, w.End.Format(time.RFC3339),
				w.Start.Format(time.RFC3339))
		}
	}
	return nil
}

func (s *Scope) filter() sheaf.Or {
	var scope sheaf.Or
	if len(s.Sets) > 0 {
		scope = append(scope, sheaf.TextIn(sheaf.ColumnSet, s.Sets...))
	}
	if len(s.Documents) > 0 {
		scope = append(scope, sheaf.TextIn(sheaf.ColumnDoc, s.Documents...))
	}
	for _, g := range []struct {
		column string
		values []int
	}{{columnNode, s.Nodes}, {columnPersona, s.Personas}, {columnProject, s.Projects}} {
		if len(g.values) > 0 {
			scope = append(scope, is(g.column, numbers(g.values)...))
		}
	}
	return scope
}

func entityFilter(entities []string) sheaf.Filter {
	var any sheaf.Or
	for _, e := range entities {
		if kind, ok := strings.CutSuffix(e, "::*"); ok {
			any = append(any, sheaf.HasPrefix{Column: columnEntities, Prefix: kind + "::"})
			continue
		}
		any = append(any, is(columnEntities, sheaf.TextValue(e)))
	}
	return any
}

func (w Window) filter(column string, undated bool) sheaf.Filter {
	within := sheaf.Range{Column: column}
	if !w.Start.IsZero() {
		within.Min = sheaf.DateValue(w.Start)
	}
	if !w.End.IsZero() {
		within.Max = sheaf.DateValue(w.End)
	}
	if !undated {
		return within
	}
	return sheaf.Or{within, sheaf.Not{Filter: sheaf.Exists{Column: column}}}
}

// ActiveIn returns windows for Filters.Created and Filters.Updated, which find documents that may have been edited
// within a period. updated has no end, because the index stores only the last update. An end would exclude documents
// that were edited again after the period.
func ActiveIn(period Window) (created, updated Window) {
	return Window{End: period.End}, Window{Start: period.Start}
}

func is(column string, values ...sheaf.Value) sheaf.In {
	return sheaf.In{Column: column, Values: values}
}

func numbers(list []int) []sheaf.Value {
	out := make([]sheaf.Value, len(list))
	for i, n := range list {
		out[i] = sheaf.NumberValue(float64(n))
	}
	return out
}
