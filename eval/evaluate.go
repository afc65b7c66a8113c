package eval

import (
	"context"
	"time"

	"sheaf/eval/metric"
)

// Evaluate runs every column on the collection, judges and compares them. class
// names the metadata by which queries are also reported in groups, "" for none.
// The runs are in the order of the columns.
func (c *Collection) Evaluate(ctx context.Context, columns []Column, measures []metric.Measure, class string, o Options, st Statistics) (*Report, []*Run, error) {
	runs := make([]*Run, len(columns))
	for i, col := range columns {
		var err error
		if runs[i], err = c.Run(ctx, col, o); err != nil {
			return nil, nil, err
		}
	}
	r := c.describe(o)
	for _, run := range runs {
		col := Judge(c.Dataset, run, measures, st)
		col.Store = c.Store
		if class != "" {
			col.ByClass(c.Dataset.Queries, class)
		}
		r.Columns = append(r.Columns, col)
	}
	for _, m := range measures {
		r.Measures = append(r.Measures, m.String())
	}
	r.Comparisons = Compare(c.Dataset.Queries, r.Columns, st)
	return r, runs, nil
}

// describe is a report without results.
func (c *Collection) describe(o Options) *Report {
	s := c.View.Settings()
	r := &Report{Dataset: c.Dataset.Name, Documents: c.View.Docs(), Chunks: c.View.Chunks(), Queries: len(c.Dataset.Queries), Judged: c.Dataset.Judgements(),
		CorpusHash: c.Hash, QueryHash: c.Dataset.QueryHash, Analyzer: s.Analyzer, Chunker: s.Chunker, Model: s.Embedder, Dims: s.Dims, Depth: o.Depth,
		IndexMS: float64(c.Indexed) / float64(time.Millisecond), IndexBytes: c.Bytes, Warnings: c.Dataset.Warnings}
	if r.Warnings == nil {
		r.Warnings = []string{}
	}
	return r
}
