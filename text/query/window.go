package query

import (
	"strings"
	"time"

	"sheaf"
)

// undatedAge is the age of a document if its properties do not say when it was updated.
const undatedAge = 90 * 24 * time.Hour

// MayBeUndated reports whether documents without a date of their last update pass a window of update dates. These
// documents count as 90 days old. They pass if the window starts more than 90 days before now and has no end (the zero
// time).
func MayBeUndated(start, end, now time.Time) bool {
	return end.IsZero() && !start.IsZero() && start.Before(now.Add(-undatedAge))
}

// CreatedIn returns the filter for documents that were created in a window, START..END. START and END are dates as in a
// query, for example 2024-05 or 7d. The window includes both dates, and one of the dates may be missing. Documents
// without a property of [sheaf.CreatedProperties] pass. "" means no filter.
func CreatedIn(window string, now time.Time) (sheaf.Filter, error) {
	start, end, err := windowOf(window, now)
	return datedIn(start, end, sheaf.CreatedProperties, true), err
}

// UpdatedIn returns the filter for documents whose last update was in a window, as in [CreatedIn]. The properties
// [sheaf.UpdatedProperties] have the date. Documents without these properties count as 90 days old. They pass a window
// without END that starts more than 90 days before now.
func UpdatedIn(window string, now time.Time) (sheaf.Filter, error) {
	start, end, err := windowOf(window, now)
	return datedIn(start, end, sheaf.UpdatedProperties, MayBeUndated(start, end, now)), err
}

// InSets returns the filter for documents in any of the sets with these names. Without names, the filter is nil. For an
// empty name, it returns sheaf.ErrInvalid.
func InSets(names []string) (sheaf.Filter, error) {
	if len(names) == 0 {
		return nil, nil
	}
	for _, name := range names {
		if strings.TrimSpace(name) == "" {
			return nil, sheaf.Invalidf("the name of a set is empty")
		}
	}
	return sheaf.TextIn(sheaf.ColumnSet, names...), nil
}

// windowOf parses START..END. The window includes its start, but not its end. A zero time means no limit; for an empty
// text, both are zero. Errors wrap sheaf.ErrInvalid.
func windowOf(text string, now time.Time) (start, end time.Time, err error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return start, end, nil
	}
	day := func(s string) (from, to time.Time) {
		from, to, ok := dates(s, now)
		if s != "" && !ok && err == nil {
			err = sheaf.Invalidf("window %q: %q is not a date (2024, 2024-05, 2024-05-31, 7d, 2w, 3m, 1y, today, yesterday)",
				text, s)
		}
		return from, to
	}
	first, last, two := strings.Cut(text, "..")
	first, last = strings.TrimSpace(first), strings.TrimSpace(last)
	if !two || first == "" && last == "" {
		return start, end, sheaf.Invalidf("window %q: must be START..END, START.. or ..END, as in 2024-05..2024-08", text)
	}
	start, _ = day(first)
	_, end = day(last)
	if err == nil && !start.IsZero() && !end.IsZero() && !start.Before(end) {
		err = sheaf.Invalidf("window %q: it ends before it starts", text)
	}
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	return start, end, nil
}

// datedIn returns the filter for documents with a date in one of the properties, start <= date < end. If start and end
// are zero, it returns nil. undated says that documents without any of these properties pass too.
func datedIn(start, end time.Time, properties []string, undated bool) sheaf.Filter {
	if start.IsZero() && end.IsZero() {
		return nil
	}
	var any, dated sheaf.Or
	for _, name := range properties {
		column := sheaf.PropertyColumn(name)
		within := sheaf.Range{Column: column, MaxOpen: !end.IsZero()}
		if !start.IsZero() {
			within.Min = sheaf.DateValue(start)
		}
		if !end.IsZero() {
			within.Max = sheaf.DateValue(end)
		}
		any, dated = append(any, within), append(dated, sheaf.Exists{Column: column})
	}
	if undated {
		any = append(any, sheaf.Not{Filter: dated})
	}
	return any
}
