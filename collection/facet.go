package collection

import (
	"slices"
	"strings"

	"sheaf"
	"sheaf/internal/fold"
	"sheaf/store"
	"sheaf/text/query"
)

// facetColumns are the columns that can be counted. orderColumns are the columns that can sort. Both also allow
// "prop.NAME".
var (
	facetColumns = []string{sheaf.ColumnTag, sheaf.ColumnFolder, sheaf.ColumnTree, query.ColumnExtension}
	orderColumns = []string{sheaf.ColumnDate, sheaf.ColumnPath}
)

func isProperty(name string) bool { return strings.HasPrefix(name, "prop.") && name != "prop." }

func validFacets(names []string) error {
	for i, name := range names {
		if !slices.Contains(facetColumns, name) && !isProperty(name) {
			return fieldError("facets", "%q: must be one of %s or prop.NAME", name, strings.Join(facetColumns, ", "))
		}
		if slices.Contains(names[:i], name) {
			return fieldError("facets", "%q appears twice", name)
		}
	}
	return nil
}

func validSort(name string) error {
	column := strings.TrimPrefix(name, "-")
	if name == "" || slices.Contains(orderColumns, column) || isProperty(column) {
		return nil
	}
	return fieldError("sort", "%q: must be one of %s or prop.NAME, with a dash before it for the largest first",
		name, strings.Join(orderColumns, ", "))
}

// order parses a column name; a dash before it means the largest first. It returns nil for "".
func order(name string) *store.Order {
	if name == "" {
		return nil
	}
	column, descending := strings.CutPrefix(name, "-")
	return &store.Order{Column: fold.Text(column), Descending: descending}
}

// columnsOf returns the store's names of facet columns.
func columnsOf(names []string) []string {
	columns := make([]string, len(names))
	for i, name := range names {
		columns[i] = fold.Text(name)
	}
	return columns
}

// shownFacets returns counts under the requested names.
func shownFacets(names []string, counted []store.Facet) map[string][]Facet {
	if len(names) == 0 {
		return nil
	}
	out := make(map[string][]Facet, len(names))
	for i, f := range counted {
		list := make([]Facet, len(f.Values))
		for j, v := range f.Values {
			list[j] = Facet{v.Value.String(), v.Chunks}
		}
		out[names[i]] = list
	}
	return out
}
