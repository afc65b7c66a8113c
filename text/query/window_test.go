package query_test

import (
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/text/query"
)

// dated returns a document with a date in a property, or without the property for "".
func dated(property, day string) *store.Chunk {
	c := &store.Chunk{}
	if day != "" {
		at, err := time.Parse(time.DateTime, day+" 12:00:00")
		if err != nil {
			panic(err)
		}
		c.Columns = []store.Column{{Name: sheaf.PropertyColumn(property), Values: []sheaf.Value{sheaf.DateValue(at)}}}
	}
	return c
}

// TestWindows checks that a window includes both ends. Documents without a creation date pass each
// window. Those without an update date pass only one that begins more than 90 days ago and has no
// end.
func TestWindows(t *testing.T) {
	now := time.Date(2026, 6, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		window                string
		before, first         bool // 2026-01-31, 2026-02-01
		last, after           bool // 2026-03-31, 2026-04-01
		uncreated, notUpdated bool
	}{
		{"2026-02..2026-03", false, true, true, false, true, false},
		{"2026-02-01..2026-03-31", false, true, true, false, true, false},
		{"2026-02..", false, true, true, true, true, true},
		{"..2026-03", true, true, true, false, true, false},
		{"2026-04-01..", false, false, false, true, true, true},   // 90 days and 12 hours ago
		{"2026-04-02..", false, false, false, false, true, false}, // exactly 90 days ago, but for the time of day
		{" 2026-02 .. 2026-03 ", false, true, true, false, true, false},
	} {
		for _, property := range []string{"created", "date.created", "updated", "modified", "lastmod", "last_update.date"} {
			in, undated := query.UpdatedIn, c.notUpdated
			if strings.Contains(property, "created") {
				in, undated = query.CreatedIn, c.uncreated
			}
			f := must.Get(in(c.window, now))
			for day, want := range map[string]bool{"2026-01-31": c.before, "2026-02-01": c.first, "2026-03-31": c.last,
				"2026-04-01": c.after, "": undated} {
				check.Equal(t, f.Match(dated(property, day)), want, "%s in %q: %q passes", property, c.window, day)
			}
		}
	}
	for _, wrong := range []string{"2026", "..", "soon..", "2026-03..2026-02", "2026-02...2026-03", "2026-02-30.."} {
		check.Is(t, must.Err(query.CreatedIn(wrong, now)), sheaf.ErrInvalid, "%q", wrong)
	}
	f, err := query.UpdatedIn(" ", now)
	check.That(t, f == nil && err == nil, "no window: %v, %v", f, err)
}

// TestSets checks that a filter by sets allows documents in any of them.
func TestSets(t *testing.T) {
	f := must.Get(query.InSets([]string{"a", "b"}))
	in := func(sets ...string) *store.Chunk {
		c := &store.Chunk{}
		for _, s := range sets {
			c.Columns = append(c.Columns, store.Column{Name: sheaf.ColumnSet, Values: []sheaf.Value{sheaf.TextValue(s)}})
		}
		return c
	}
	check.That(t, f.Match(in("b")) && !f.Match(in("c")) && !f.Match(in()), "the wrong documents pass")
	f, err := query.InSets(nil)
	check.That(t, f == nil && err == nil, "no set: %v, %v", f, err)
	check.Is(t, must.Err(query.InSets([]string{"a", ""})), sheaf.ErrInvalid, "an empty name")
}
