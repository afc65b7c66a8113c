package collection

import (
	"slices"
	"strings"

	"sheaf"
	"sheaf/internal/wording"
	"sheaf/text/chunk"
)

// unreadDates returns a note when a query filters by date and files have dates that cannot be read: other dates stand
// for these in the answer. It counts visible documents. It returns "" when there is nothing to say.
func (r *Reader) unreadDates(filter sheaf.Filter) (string, error) {
	if !filtersDate(filter) {
		return "", nil
	}
	warned, err := r.view.Warned()
	if err != nil {
		return "", err
	}
	var unread []sheaf.ID
	for _, id := range warned {
		if date, ok := r.guard.Date(id); !ok || date.Source == sheaf.DateFrontmatter {
			continue
		}
		doc, _ := r.guard.Document(id)
		if slices.ContainsFunc(doc.Warnings, func(w sheaf.Warning) bool {
			return strings.Contains(w.Message, chunk.UnreadDate)
		}) {
			unread = append(unread, id)
		}
	}
	if len(unread) == 0 {
		return "", nil
	}
	return wording.Plural(len(unread), "document has a date", "documents have dates") + " that cannot be read, such as " +
		string(unread[0]) + ": the name or the time of the file dates it", nil
}

// filtersDate reports whether a filter reads the dates of documents.
func filtersDate(f sheaf.Filter) bool {
	switch f := f.(type) {
	case sheaf.And:
		return slices.ContainsFunc(f, filtersDate)
	case sheaf.Or:
		return slices.ContainsFunc(f, filtersDate)
	case sheaf.Not:
		return filtersDate(f.Filter)
	case sheaf.Range:
		return f.Column == sheaf.ColumnDate
	case sheaf.In:
		return f.Column == sheaf.ColumnDate
	}
	return false
}
