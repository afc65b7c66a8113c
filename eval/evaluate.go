package eval

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sheaf"
	"sheaf/eval/dataset"
	"sheaf/eval/metric"
)

// Evaluation says what to compare, and how.
type Evaluation struct {
	// Columns are run on every collection. The collections have the same data set in different stores.
	Columns []Column
	// Given are runs of other programs. In the report they follow the columns.
	Given    []*Run
	Measures []metric.Measure
	// Class is the name of the metadata by whose values the report groups queries. "" means no groups.
	Class   string
	Options Options
}

// Evaluate runs every column on every collection, judges the runs, and compares them. It returns the runs in the order
// of the columns in the report. Without a collection, a measure or a ranking, it returns sheaf.ErrInvalid.
func Evaluate(ctx context.Context, collections []*Collection, e Evaluation) (*Report, []*Run, error) {
	if len(collections) == 0 || len(e.Measures) == 0 || len(e.Columns)+len(e.Given) == 0 {
		return nil, nil, sheaf.Invalidf("evaluate: a collection, a measure and a ranking are needed")
	}
	first := collections[0]
	r := first.describe(e.Options)
	var runs []*Run
	for _, c := range collections {
		for _, col := range e.Columns {
			if len(collections) > 1 {
				col.Name = c.Store + ": " + col.Name
			}
			run, err := c.Run(ctx, col, e.Options)
			if err != nil {
				return nil, nil, err
			}
			runs = append(runs, run)
		}
	}
	for _, run := range e.Given {
		r.Warnings = append(r.Warnings, missing(first.Dataset, run)...)
		runs = append(runs, run)
	}
	for _, run := range runs {
		col := judge(first.Dataset, run, e.Measures)
		col.byClass(first.Dataset.Queries, e.Class)
		r.Columns = append(r.Columns, col)
	}
	if e.Class != "" && len(r.Columns[0].Classes) == 0 {
		r.Warnings = append(r.Warnings, unclassed(first.Dataset, e.Class))
	}
	for _, m := range e.Measures {
		r.Measures = append(r.Measures, m.String())
		if depth := e.Options.Depth; len(e.Columns) > 0 && m.Cutoff() > depth && r.Chunks > depth {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s looks deeper than the %d answers that each query is asked for: "+
				"it counts no others", m, depth))
		}
	}
	r.Comparisons = Compare(first.Dataset.Queries, r.Columns)
	return r, runs, nil
}

// Given reads the run in a TREC run file. Its errors are those of [dataset.Dataset.ReadRun].
func Given(d *dataset.Dataset, file string) (*Run, error) {
	rankings, name, err := d.ReadRun(file)
	if err != nil {
		return nil, err
	}
	r := &Run{ColumnReport{Name: "run " + name, Parameters: map[string]string{}, Notes: []string{}}, rankings}
	for _, q := range d.Queries {
		if len(rankings[q.ID]) == 0 {
			r.Empty++
		}
	}
	return r, nil
}

// missing returns warnings for queries without a ranking, and for rankings of unknown queries.
func missing(d *dataset.Dataset, r *Run) []string {
	known := 0
	for _, q := range d.Queries {
		if _, ok := r.Rankings[q.ID]; ok {
			known++
		}
	}
	var out []string
	if r.Empty > 0 {
		out = append(out, fmt.Sprintf("%s answers %d of %d queries; the others count as 0", r.Name,
			len(d.Queries)-r.Empty, len(d.Queries)))
	}
	if others := len(r.Rankings) - known; others > 0 {
		out = append(out, fmt.Sprintf("%s answers queries that are not judged; they are left out: %d", r.Name, others))
	}
	return out
}

// unclassed returns the warning that no query has metadata called class. The warning lists existing names.
func unclassed(d *dataset.Dataset, class string) string {
	names := map[string]bool{}
	for i := range d.Queries {
		for name := range d.Queries[i].Class {
			names[name] = true
		}
	}
	text := fmt.Sprintf("no query has the metadata %q", class)
	if len(names) > 0 {
		text += " (there is: " + strings.Join(slices.Sorted(maps.Keys(names)), ", ") + ")"
	}
	return text
}

// describe returns a report that describes the evaluation and has no results yet.
func (c *Collection) describe(o Options) *Report {
	s := c.View.Settings()
	r := &Report{Dataset: c.Dataset.Name, Documents: c.View.Docs(), Chunks: c.View.Chunks(),
		Queries: len(c.Dataset.Queries), Judged: c.Dataset.Judgements(),
		CorpusHash: c.Hash, QueryHash: c.Dataset.QueryHash, Analyzer: s.Analyzer, Chunker: s.Chunker, Model: s.Embedder,
		Dims: s.Dims, Depth: o.Depth,
		IndexMS: float64(c.Indexed) / float64(time.Millisecond), IndexBytes: c.Bytes,
		Warnings: append([]string{}, c.Dataset.Warnings...),
		Texts:    make(map[string]string, len(c.Dataset.Queries))}
	for _, q := range c.Dataset.Queries {
		r.Texts[q.ID] = q.Text
	}
	return r
}
