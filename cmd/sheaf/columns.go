package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/internal/fold"
	"sheaf/internal/suggest"
	"sheaf/internal/wording"
	"sheaf/store"
	"sheaf/text/query"
)

// columnOptions are the flags that look at columns.
type columnOptions struct {
	sort   string
	facets []string
}

func addColumnFlags(f *pflag.FlagSet, o *columnOptions) {
	f.StringVar(&o.sort, "sort", "", "order everything that matches by date, path, depth or a property; -date puts "+
		"large values first")
	f.StringSliceVar(&o.facets, "facets", nil, "count everything that matches by tags, folder, ext, tree or properties")
}

// columns are the names of columns as people write them.
var columns = map[string]string{
	"tag": sheaf.ColumnTag, "tags": sheaf.ColumnTag, "folder": sheaf.ColumnFolder, "folders": sheaf.ColumnFolder,
	"date": sheaf.ColumnDate, "path": sheaf.ColumnPath, "tree": sheaf.ColumnTree, "depth": sheaf.ColumnDepth,
	"ext": query.ColumnExtension, "extension": query.ColumnExtension,
}

// columnOf is the column that a name stands for: one of columns, or a property.
func columnOf(name string) string {
	if c, ok := columns[strings.ToLower(name)]; ok {
		return c
	}
	return ingest.PropertyColumn(name)
}

// order is the column that --sort asks for, with a dash before it for the largest first; "" for none.
func (o *columnOptions) order() (string, error) {
	name, descending := strings.CutPrefix(o.sort, "-")
	switch {
	case o.sort == "":
		return "", nil
	case name == "", name == "random", strings.HasPrefix(name, "random:"):
		return "", sheaf.Invalidf("--sort %s: want date, path, depth or a property, as in --sort date or --sort=-date",
			o.sort)
	case descending:
		return "-" + columnOf(name), nil
	}
	return columnOf(name), nil
}

// names are the columns that --facets asks for.
func (o *columnOptions) names() []string {
	var out []string
	for _, name := range o.facets {
		if c := columnOf(strings.TrimSpace(name)); !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// unknown are notes about columns that were asked for and that no document has.
func (o *columnOptions) unknown(view *catalog.View) []string {
	asked := slices.Clone(o.facets)
	if o.sort != "" {
		asked = append(asked, strings.TrimPrefix(o.sort, "-"))
	}
	var notes []string
	for _, name := range asked {
		name = strings.TrimSpace(name)
		if _, ok := columns[strings.ToLower(name)]; ok {
			continue
		}
		properties, err := view.Properties()
		if err != nil {
			return notes // the answer says so
		}
		known := slices.Sorted(maps.Keys(columns))
		for _, p := range properties {
			known = append(known, p.Name)
		}
		if slices.ContainsFunc(known, func(k string) bool { return fold.Text(k) == fold.Text(name) }) {
			continue
		}
		note := fmt.Sprintf("no document has the property %q", name)
		if near := suggest.Nearest(name, known); near != "" {
			note += fmt.Sprintf(": did you mean %q?", near)
		}
		notes = append(notes, note)
	}
	return notes
}

// facetJSON is how often the values of a column occur; see doc/json.md.
type facetJSON struct {
	Column   string           `json:"column"`
	Distinct int              `json:"distinct"`
	Values   []facetValueJSON `json:"values"`
}

type facetValueJSON struct {
	Value  sheaf.Value `json:"value"`
	Chunks int         `json:"chunks"`
}

func facetsJSON(facets []store.Facet) []facetJSON {
	var out []facetJSON
	for _, f := range facets {
		one := facetJSON{Column: f.Column, Distinct: f.Distinct, Values: []facetValueJSON{}}
		for _, v := range f.Values {
			one.Values = append(one.Values, facetValueJSON{v.Value, v.Chunks})
		}
		out = append(out, one)
	}
	return out
}

// printFacets writes facets for people, a line for each of the most frequent
// values.
func (a *app) printFacets(facets []facetJSON) {
	const most = 10
	for _, f := range facets {
		fmt.Fprintf(a.stdout, "\n%s\n", a.out.Paint(terminal.Dim, wording.Clean(f.Column)))
		for _, v := range f.Values[:min(len(f.Values), most)] {
			name := wording.Clean(v.Value.String())
			if name == "" {
				name = `""`
			}
			fmt.Fprintf(a.stdout, "%7d  %s\n", v.Chunks, name)
		}
		if more := f.Distinct - min(len(f.Values), most); more > 0 {
			fmt.Fprintf(a.stdout, "         and %s\n", wording.Plural(more, "other", "others"))
		}
	}
}
