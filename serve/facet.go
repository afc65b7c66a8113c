package serve

import (
	"cmp"
	"slices"
	"strings"

	"sheaf"
	"sheaf/ingest"
	"sheaf/query"
	"sheaf/search"
)

// facetColumns are the columns whose values can be counted, beside "prop.NAME".
var facetColumns = []string{sheaf.ColumnTag, sheaf.ColumnFolder, sheaf.ColumnTree, query.ColumnExtension}

// maxFacetValues is how many values of a facet are shown.
const maxFacetValues = 100

func validFacets(names []string) error {
	for _, name := range names {
		if !slices.Contains(facetColumns, name) && (!strings.HasPrefix(name, "prop.") || name == "prop.") {
			return fieldError("facets", "%q: must be one of %s or prop.NAME", name, strings.Join(facetColumns, ", "))
		}
	}
	return nil
}

// facets counts the values of columns over hits, a hit counting once for each
// value of its document; the most frequent first, then by value.
func (r *Reader) facets(names []string, hits []search.Hit) map[string][]Facet {
	counts := make(map[string]map[string]int, len(names))
	for _, name := range names {
		counts[name] = map[string]int{}
	}
	for i := range hits {
		rec, err := r.guard.record(hits[i].Doc)
		if err != nil {
			continue // it was taken away since
		}
		columns := ingest.Columns(&rec.Document, rec.Date)
		for name, count := range counts {
			for j := range columns {
				if columns[j].Name != strings.ToLower(name) {
					continue
				}
				for _, v := range columns[j].Values {
					count[v.String()]++
				}
			}
		}
	}
	out := make(map[string][]Facet, len(names))
	for name, count := range counts {
		list := make([]Facet, 0, len(count))
		for v, n := range count {
			list = append(list, Facet{v, n})
		}
		slices.SortFunc(list, func(a, b Facet) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
		})
		out[name] = list[:min(len(list), maxFacetValues)]
	}
	return out
}
