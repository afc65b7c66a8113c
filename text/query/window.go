package query

import (
	"slices"
	"strings"
	"time"

	"sheaf"
)

// undatedAge is the assumed age of a document without a date of its last update.
const undatedAge = 90 * 24 * time.Hour

// MayBeUndated reports whether documents without a date of their last update pass a window of such
// dates; a zero end is open. They count as 90 days old, so they pass an open window that starts
// earlier.
func MayBeUndated(start, end, now time.Time) bool {
	return end.IsZero() && !start.IsZero() && start.Before(now.Add(-undatedAge))
}

// The properties that say when a document was created and updated.
var (
	createdColumns = []string{sheaf.PropertyColumn("created")}
	updatedColumns = []string{sheaf.PropertyColumn("updated"), sheaf.PropertyColumn("modified"),
		sheaf.PropertyColumn("lastmod")}
)

// CreatedIn returns the filter for documents that were created in a window, START..END. The dates
// are those of after:, both days are included, and either may be missing. Documents without the
// property created pass. "" means no filter.
func CreatedIn(window string, now time.Time) (sheaf.Filter, error) {
	w, err := windowOf(window, now)
	if err != nil || w == nil {
		return nil, err
	}
	return w.filter(createdColumns, true), nil
}

// UpdatedIn returns the filter for documents whose last update was in a window, as in [CreatedIn],
// by their properties updated, modified and lastmod. Documents without any of these count as 90
// days old: they pass an open window that starts earlier.
func UpdatedIn(window string, now time.Time) (sheaf.Filter, error) {
	w, err := windowOf(window, now)
	if err != nil || w == nil {
		return nil, err
	}
	return w.filter(updatedColumns, MayBeUndated(w.start, w.end, now)), nil
}

// InSets returns the filter for documents of any of some sets; nil without a name. It only narrows
// a query.
func InSets(names []string) (sheaf.Filter, error) {
	if len(names) == 0 {
		return nil, nil
	}
	sets := sheaf.In{Column: sheaf.ColumnSet}
	for _, name := range names {
		if strings.TrimSpace(name) == "" {
			return nil, sheaf.Invalidf("the name of a set is empty")
		}
		sets.Values = append(sets.Values, sheaf.TextValue(name))
	}
	return sets, nil
}

// window is a range of time; a zero end is open.
type window struct {
	start time.Time // included
	end   time.Time // not included
}

// windowOf reads START..END; nil when the text is empty.
func windowOf(text string, now time.Time) (*window, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	start, end, two := strings.Cut(text, "..")
	start, end = strings.TrimSpace(start), strings.TrimSpace(end)
	if !two || start == "" && end == "" {
		return nil, sheaf.Invalidf("window %q: must be START..END, START.. or ..END, as in 2024-05..2024-08", text)
	}
	w := &window{}
	for _, side := range []struct {
		text string
		to   *time.Time
		last bool
	}{{start, &w.start, false}, {end, &w.end, true}} {
		if side.text == "" {
			continue
		}
		from, to, ok := dates(side.text, now)
		if !ok {
			return nil, sheaf.Invalidf("window %q: %q is not a date (2024, 2024-05, 2024-05-31, 7d, 2w, 3m, 1y, "+
				"today, yesterday)", text, side.text)
		}
		if *side.to = from; side.last {
			*side.to = to
		}
	}
	if start != "" && end != "" && !w.start.Before(w.end) {
		return nil, sheaf.Invalidf("window %q: it ends before it starts", text)
	}
	return w, nil
}

// filter passes documents with a date in the window in one of the columns. With undated it also
// passes documents without any of these columns.
func (w *window) filter(columns []string, undated bool) sheaf.Filter {
	var any sheaf.Or
	var dated []sheaf.Filter
	for _, column := range columns {
		within := sheaf.Range{Column: column}
		if !w.start.IsZero() {
			within.Min = sheaf.DateValue(w.start)
		}
		if !w.end.IsZero() {
			within.Max, within.MaxOpen = sheaf.DateValue(w.end), true
		}
		any = append(any, within)
		dated = append(dated, sheaf.Exists{Column: column})
	}
	if undated {
		any = append(any, sheaf.Not{Filter: sheaf.Or(slices.Clone(dated))})
	}
	return any
}
