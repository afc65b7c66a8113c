package onyx_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/search/onyx"
	"sheaf/store/memory"
	"sheaf/text/analysis"
)

var drawnNow = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// times draws times at the ends of windows, just beside them, and at the assumed age of undated documents.
func times(t *rapid.T, name string) time.Time {
	days := rapid.SampledFrom([]int{-1, 10, 89, 90, 91, 200}).Draw(t, name)
	if days < 0 {
		return time.Time{}
	}
	return drawnNow.AddDate(0, 0, -days).Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, name+" seconds")) * time.Second)
}

func drawnMetadata(t *rapid.T) onyx.Metadata {
	some := func(name string, of ...string) []string {
		return rapid.SliceOfN(rapid.SampledFrom(of), 0, 2).Draw(t, name)
	}
	numbers := func(name string) []int { return rapid.SliceOfN(rapid.IntRange(1, 3), 0, 2).Draw(t, name) }
	return onyx.Metadata{
		Public: true, Hidden: rapid.Bool().Draw(t, "hidden"),
		Source: rapid.SampledFrom([]string{"", "web", "slack"}).Draw(t, "source"),
		Sets:   some("sets", "a", "b"), Tags: some("tags", "k===v", "k===w"), Projects: numbers("projects"),
		Personas: numbers("personas"), Nodes: numbers("nodes"),
		Created: times(t, "created"), Updated: times(t, "updated"),
		Graph: onyx.Graph{Entities: some("entities", "P::x", "P::y", "PQ::x", "Q::x"), Terms: some("terms", "x", "y"),
			Relationships: some("relationships", "x__is__y", "y__is__x")},
	}
}

func drawnFilters(t *rapid.T) onyx.Filters {
	none := func() bool { return rapid.IntRange(0, 2).Draw(t, "asked for") > 0 }
	some := func(name string, of ...string) []string {
		if none() {
			return nil
		}
		return rapid.SliceOfN(rapid.SampledFrom(of), 1, 2).Draw(t, name)
	}
	numbers := func(name string) []int {
		if none() {
			return nil
		}
		return rapid.SliceOfN(rapid.IntRange(1, 3), 1, 2).Draw(t, name)
	}
	window := func(name string) onyx.Window {
		if none() {
			return onyx.Window{}
		}
		w := onyx.Window{Start: times(t, name+" from"), End: times(t, name+" to")}
		if !w.End.IsZero() && w.End.Before(w.Start) {
			w.Start, w.End = w.End, w.Start
		}
		return w
	}
	f := onyx.Filters{
		Hidden: rapid.Bool().Draw(t, "hidden too"), Sources: some("of sources", "web", "slack"),
		Tags:       some("of tags", "k===v", "k===w"),
		ForcedSets: some("forced sets", "a", "b"),
		Scope: onyx.Scope{Sets: some("of sets", "a", "b"), Nodes: numbers("of nodes"),
			Personas: numbers("of personas"), Projects: numbers("of projects")},
		Created: window("created"), Updated: window("updated"),
		Graph: onyx.Graph{Entities: some("of entities", "P::x", "P::*", "Q::x"), Terms: some("of terms", "x", "y"),
			Relationships: some("of relationships", "x__is__y", "y__is__x")},
	}
	if !none() {
		f.Documents = []sheaf.ID{"t:0"}
	}
	return f
}

// lets reports whether the specification finds the document. It checks group by group.
func lets(f *onyx.Filters, id sheaf.ID, m *onyx.Metadata) bool {
	within := func(w onyx.Window, at time.Time) bool {
		return !at.Before(w.Start) && (w.End.IsZero() || !at.After(w.End))
	}
	bounded := func(w onyx.Window) bool { return !w.Start.IsZero() || !w.End.IsZero() }
	entity := func(e string) bool {
		return slices.ContainsFunc(f.Entities, func(want string) bool {
			return e == want || want == "P::*" && strings.HasPrefix(e, "P::")
		})
	}
	switch {
	case m.Hidden && !f.Hidden,
		f.Sources != nil && !slices.Contains(f.Sources, m.Source),
		f.Tags != nil && !shares(f.Tags, m.Tags),
		f.Terms != nil && !shares(f.Terms, m.Terms),
		f.ForcedSets != nil && !shares(f.ForcedSets, m.Sets),
		f.Entities != nil && !slices.ContainsFunc(m.Entities, entity),
		slices.ContainsFunc(f.Relationships, func(r string) bool { return !slices.Contains(m.Relationships, r) }):
		return false
	}
	if f.Sets != nil || f.Documents != nil || f.Nodes != nil || f.Personas != nil || f.Projects != nil {
		if !shares(f.Sets, m.Sets) && !slices.Contains(f.Documents, id) && !shares(f.Nodes, m.Nodes) &&
			!shares(f.Personas, m.Personas) && !shares(f.Projects, m.Projects) {
			return false
		}
	}
	if bounded(f.Created) && !m.Created.IsZero() && !within(f.Created, m.Created) {
		return false
	}
	if !bounded(f.Updated) {
		return true
	}
	if m.Updated.IsZero() {
		return f.Updated.End.IsZero() && drawnNow.Sub(f.Updated.Start) > 90*24*time.Hour
	}
	return within(f.Updated, m.Updated)
}

func shares[T comparable](a, b []T) bool {
	return slices.ContainsFunc(a, func(x T) bool { return slices.Contains(b, x) })
}

// TestFiltersGroupByGroup checks that every group of filters must match, by any of its values, and that windows
// include ends. It compares a store with a check of each group.
func TestFiltersGroupByGroup(t *testing.T) {
	a := must.Get(analysis.New(analysis.Options{}))
	let, kept := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		x := onyx.New(memory.New(a), contents(), func() time.Time { return drawnNow })
		var docs []onyx.Document
		for i := range 6 {
			docs = append(docs, onyx.Document{ID: sheaf.ID(fmt.Sprint("t:", i)), Metadata: drawnMetadata(t),
				Chunks: []onyx.Chunk{{Text: "cat"}}})
		}
		must.Get(x.Write(ctx, docs))
		f := drawnFilters(t)
		r := must.Get(x.Keyword(ctx, cat, f, 10))
		want := []sheaf.ID{}
		for i := range docs {
			if lets(&f, docs[i].ID, &docs[i].Metadata) {
				want = append(want, docs[i].ID+"#0")
				let++
			} else {
				kept++
			}
		}
		got := ids(r)
		slices.Sort(got)
		must.That(t, slices.Equal(got, want), "%+v of %+v finds %v, want %v", f, docs, got, want)
	})
	// The few cases of a short run may let nothing through.
	check.That(t, testing.Short() || let != 0 && kept != 0,
		"%d documents were let through and %d were not: nothing is shown", let, kept)
}

// TestActiveIn checks that a document edited in a period was created before its end and updated after its start. Only
// the last update is known.
func TestActiveIn(t *testing.T) {
	period := onyx.Window{Start: drawnNow.AddDate(0, -2, 0), End: drawnNow.AddDate(0, -1, 0)}
	created, updated := onyx.ActiveIn(period)
	want := (onyx.Window{End: period.End})
	check.That(t, created == want, "created within %+v, want %+v", created, want)
	want = (onyx.Window{Start: period.Start})
	check.That(t, updated == want, "updated within %+v, want %+v", updated, want)
}

func TestFilterBounds(t *testing.T) {
	now := time.Now()
	for _, f := range []onyx.Filters{{Access: make([]string, 65_537)},
		{Created: onyx.Window{Start: now, End: now.Add(-time.Second)}}} {
		check.Is(t, must.Err(f.Filter(now)), sheaf.ErrInvalid, "Filter")
	}
	for _, f := range []onyx.Filters{{Access: make([]string, 65_536)}, {Created: onyx.Window{Start: now, End: now}}} {
		check.NoError(t, must.Err(f.Filter(now)), "at the bound")
	}
}

// TestFiltersOfQueriesNarrow checks that the filter of a query only narrows the caller's filters.
func TestFiltersOfQueriesNarrow(t *testing.T) {
	p := must.Get(profile.Load("onyx-elastic", profile.Builtin))
	for name, x := range local(t, nil) {
		for _, d := range []struct {
			id sheaf.ID
			m  onyx.Metadata
		}{{"t:web", onyx.Metadata{Public: true, Source: "web"}}, {"t:slack", onyx.Metadata{Public: true, Source: "slack"}},
			{"t:secret", onyx.Metadata{Source: "slack"}}} {
			write(t, x, onyx.Document{ID: d.id, Metadata: d.m, Chunks: []onyx.Chunk{{Text: "cat", Vectors: vector(1, 0)}}})
		}
		embed := func(context.Context, []string) ([][]float32, error) { return [][]float32{{1, 0}}, nil }
		for own, want := range map[sheaf.ID]string{"t:slack": "[t:slack#0]", "t:web": "[]", "t:secret": "[]"} {
			q := sheaf.Query{Text: "cat", Words: cat, Limit: 5,
				Filter: sheaf.In{Column: sheaf.ColumnDoc, Values: []sheaf.Value{sheaf.TextValue(string(own))}}}
			r := must.Get(x.Search(ctx, q, p, onyx.Filters{Sources: []string{"slack"}}, embed, search.Options{}))
			found := []sheaf.ID{}
			for _, h := range r.Hits {
				found = append(found, h.ID)
			}
			check.Equal(t, fmt.Sprint(found), want, "%s, asked for %s", name, own)
		}
	}
}
