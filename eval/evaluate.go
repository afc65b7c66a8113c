package eval

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sheaf"
	"sheaf/eval/dataset"
	"sheaf/eval/metric"
	"sheaf/eval/stats"
)

// Report is the result for one data set. Its JSON is the format sheaf.eval/1.
type Report struct {
	Dataset     string            `json:"dataset"`     // the name of the data set
	Documents   int               `json:"documents"`   // how many documents it has
	Chunks      int               `json:"chunks"`      // how many chunks it has
	Queries     int               `json:"queries"`     // how many queries were judged
	Judged      int               `json:"judgements"`  // how many judgements it has
	CorpusHash  string            `json:"corpus_hash"` // a hash of the documents
	QueryHash   string            `json:"query_hash"`  // a hash of the queries and judgements
	Analyzer    string            `json:"analyzer"`    // the name of the index's analyzer
	Chunker     string            `json:"chunker"`     // the name of the index's chunker
	Model       string            `json:"model"`       // the name of the embedding model
	Dims        int               `json:"dims"`        // how many dimensions the vectors have
	Depth       int               `json:"depth"`       // how many results of each query count
	IndexMS     float64           `json:"index_ms"`    // the time of indexing, in milliseconds; 0 when the index existed
	IndexBytes  int64             `json:"index_bytes"` // the size of the index on disk
	Warnings    []string          `json:"warnings"`    // why the numbers may be wrong
	Measures    []string          `json:"measures"`    // the names of the measures, for example nDCG@10
	Columns     []ColumnReport    `json:"columns"`     // the results of the rankings, in the requested order
	Texts       map[string]string `json:"query_texts"` // the text of each query, by ID
	Comparisons []Comparison      `json:"comparisons"` // each column after the first, compared with the first
}

// ColumnReport is the result for one column.
type ColumnReport struct {
	Name        string            `json:"name"`         // the name of the column
	Profile     string            `json:"profile"`      // the name of the ranking profile
	ProfileHash string            `json:"profile_hash"` // a digest of what the profile computes
	Parameters  map[string]string `json:"parameters"`   // the changed parameters of the profile
	Store       string            `json:"store"`        // the name of the store
	// Scores has one score for each measure, in the order of the measures.
	Scores   []Score  `json:"scores"`
	Latency  *Latency `json:"latency_ms,omitempty"` // the times of the queries; absent for run files
	AllocKB  float64  `json:"alloc_kb_per_query"`   // the allocated memory, in KiB for each query
	Degraded int      `json:"degraded"`             // how many queries had a degraded answer
	Empty    int      `json:"empty"`                // how many queries found nothing
	Notes    []string `json:"notes"`                // what a reader should know about the numbers
	// PerQuery has the values of each query, in the order of the measures.
	PerQuery map[string][]float64 `json:"per_query"`
	// Curve has the mean interpolated precision at the recalls 0, 0.1, ... 1. Only hits within the run's depth count.
	Curve   []float64     `json:"precision_at_recall"`
	Classes []ClassReport `json:"classes,omitempty"` // the means of each class of queries, with --by
}

// ClassReport has the means over the queries of one class.
type ClassReport struct {
	Class   string    `json:"class"`   // the name of the class
	Queries int       `json:"queries"` // how many queries it has
	Means   []float64 `json:"means"`   // the means, in the order of the measures of the report
}

// Score is the mean of a measure over all judged queries.
type Score struct {
	Measure string         `json:"measure"`  // the name of the measure
	Mean    float64        `json:"mean"`     // the mean over all judged queries
	Range   stats.Interval `json:"interval"` // the confidence interval of the mean
}

// Latency says how long queries took, in milliseconds.
type Latency struct {
	Mean float64 `json:"mean"` // the mean time of a query
	P50  float64 `json:"p50"`  // half of the queries are at most this slow
	P95  float64 `json:"p95"`  // 95 % of the queries are at most this slow
	P99  float64 `json:"p99"`  // 99 % of the queries are at most this slow
}

// seed is the seed of intervals and tests.
const seed = 1

// judge measures a run with the judgements. A judged query without a ranking has 0, as in the reference tools.
func judge(d *dataset.Dataset, r *Run, measures []metric.Measure) ColumnReport {
	c := r.ColumnReport
	c.PerQuery, c.Curve = make(map[string][]float64, len(d.Queries)), make([]float64, 11)
	for _, q := range d.Queries {
		ids := metric.IDs(r.Rankings[q.ID])
		if q.Own { // a run of another system may have the query's own document
			ids = slices.DeleteFunc(ids, func(id string) bool { return id == q.ID })
		}
		values := make([]float64, len(measures))
		for i, m := range measures {
			values[i] = m.Of(ids, d.Qrels[q.ID])
		}
		c.PerQuery[q.ID] = values
		for i, p := range metric.Curve(ids, d.Qrels[q.ID]) {
			c.Curve[i] += p / float64(len(d.Queries))
		}
	}
	for i, m := range measures {
		values := c.values(d.Queries, i)
		c.Scores = append(c.Scores, Score{m.String(), stats.Mean(values), stats.Bootstrap(values, seed)})
	}
	return c
}

// values returns the value of each query in one measure, in the order of the queries.
func (c *ColumnReport) values(queries []dataset.Query, measure int) []float64 {
	out := make([]float64, len(queries))
	for i, q := range queries {
		out[i] = c.PerQuery[q.ID][measure]
	}
	return out
}

func latencyOf(took []time.Duration) *Latency {
	ms := make([]float64, len(took))
	for i, t := range took {
		ms[i] = float64(t) / float64(time.Millisecond)
	}
	return &Latency{stats.Mean(ms), stats.Quantile(ms, 0.5), stats.Quantile(ms, 0.95), stats.Quantile(ms, 0.99)}
}

// byClass adds to the report the means over the queries of each class. The class of a query is its metadata under key.
// Classes are sorted. byClass skips queries without a class.
func (c *ColumnReport) byClass(queries []dataset.Query, key string) {
	groups := map[string][][]float64{}
	for _, q := range queries {
		if class := q.Class[key]; class != "" {
			groups[class] = append(groups[class], c.PerQuery[q.ID])
		}
	}
	for _, class := range slices.Sorted(maps.Keys(groups)) {
		rows := groups[class]
		means := make([]float64, len(c.Scores))
		for i := range means {
			for _, row := range rows {
				means[i] += row[i]
			}
			means[i] /= float64(len(rows))
		}
		c.Classes = append(c.Classes, ClassReport{class, len(rows), means})
	}
}

// Comparison says how a ranking (a column of the report) differs from the first ranking, in one measure.
type Comparison struct {
	Measure    string         `json:"measure"`    // the name of the measure, for example nDCG@10
	Column     string         `json:"column"`     // the name of the compared column
	Baseline   string         `json:"baseline"`   // the name of the first column
	Difference float64        `json:"difference"` // the mean minus the mean of the first column
	Range      stats.Interval `json:"interval"`   // the confidence interval of the difference
	Better     int            `json:"better"`     // how many queries are better in this column
	Worse      int            `json:"worse"`      // how many queries are worse in this column
	Equal      int            `json:"equal"`      // how many queries are equal in both columns
	// TTest is the two-sided p of the paired t-test. Holm's method corrects it for the number of compared columns.
	TTest float64 `json:"p_t_test"`
	// Randomization is the two-sided p of the paired randomization test, corrected in the same way.
	Randomization    float64 `json:"p_randomization"`
	RawTTest         float64 `json:"p_t_test_uncorrected"`        // the p of the t-test without correction
	RawRandomization float64 `json:"p_randomization_uncorrected"` // the p of the randomization test, uncorrected
}

// Significant reports whether both tests find a difference: whether each p is below level.
func (c *Comparison) Significant(level float64) bool {
	return c.TTest < level && c.Randomization < level
}

// Compare compares every column with the first column, in each measure.
func Compare(queries []dataset.Query, columns []ColumnReport) []Comparison {
	var out []Comparison
	if len(columns) < 2 {
		return out
	}
	for m := range columns[0].Scores {
		base := columns[0].values(queries, m)
		first := len(out)
		for i := range columns[1:] {
			out = append(out, compareOne(&columns[0], &columns[i+1], base, columns[i+1].values(queries, m)))
			out[len(out)-1].Measure = columns[0].Scores[m].Measure
		}
		correct(out[first:])
	}
	return out
}

func compareOne(baseline, column *ColumnReport, a, b []float64) Comparison {
	c := Comparison{Column: column.Name, Baseline: baseline.Name}
	d := stats.Differences(b, a)
	for _, v := range d {
		switch {
		case v > 0:
			c.Better++
		case v < 0:
			c.Worse++
		default:
			c.Equal++
		}
	}
	c.Difference = stats.Mean(d)
	c.Range = stats.Bootstrap(d, seed)
	c.RawTTest = stats.PairedT(b, a)
	c.RawRandomization = stats.Randomization(b, a, seed)
	return c
}

func correct(family []Comparison) {
	t, r := make([]float64, len(family)), make([]float64, len(family))
	for i := range family {
		t[i], r[i] = family[i].RawTTest, family[i].RawRandomization
	}
	t, r = stats.Holm(t), stats.Holm(r)
	for i := range family {
		family[i].TTest, family[i].Randomization = t[i], r[i]
	}
}

// Change says how the value of one query differs between two columns.
type Change struct {
	Query string
	Text  string
	// Before is the value in the first column. After is the value in the other column.
	Before, After float64
}

// Difference returns After minus Before.
func (c Change) Difference() float64 { return c.After - c.Before }

// Changes returns the queries whose value in a measure differs between the first column and another column. The
// parameters are the indexes of the other column and of the measure. The largest gain comes first. Equal gains are
// sorted by the query's ID.
func (r *Report) Changes(column, measure int) []Change {
	var out []Change
	base, other := &r.Columns[0], &r.Columns[column]
	for id, before := range base.PerQuery {
		if after := other.PerQuery[id]; len(after) > measure && after[measure] != before[measure] {
			out = append(out, Change{id, r.Texts[id], before[measure], after[measure]})
		}
	}
	slices.SortFunc(out, func(a, b Change) int {
		return cmp.Or(cmp.Compare(b.Difference(), a.Difference()), strings.Compare(a.Query, b.Query))
	})
	return out
}

// Choice is the column that is chosen for one data set by the values on the other data sets.
type Choice struct {
	Dataset string
	// Column is the index of the column with the best mean over the other data sets. If means are equal, it is the
	// first of them. Mean is the best mean.
	Column int
	Mean   float64
	// Value is the value of the chosen column on this data set. First is the value of the first column, and Best the
	// largest value of all columns. A choice by other data sets cannot know Best.
	Value, First, Best float64
}

// LeaveOut chooses a column for each data set. The choice is by one measure on all other data sets. The result shows
// whether parameters are good only for the data sets on which they were chosen. All reports have the same columns. For
// fewer than two data sets or columns, LeaveOut returns nil.
func LeaveOut(reports []*Report, measure int) []Choice {
	if len(reports) < 2 || len(reports[0].Columns) < 2 {
		return nil
	}
	out := make([]Choice, len(reports))
	others := make([]float64, 0, len(reports)-1)
	for i, r := range reports {
		c := Choice{Dataset: r.Dataset, First: r.Columns[0].Scores[measure].Mean}
		for j := range r.Columns {
			others = others[:0]
			for k := range reports {
				if k != i {
					others = append(others, reports[k].Columns[j].Scores[measure].Mean)
				}
			}
			if mean := stats.Mean(others); j == 0 || mean > c.Mean {
				c.Column, c.Mean = j, mean
			}
			c.Best = max(c.Best, r.Columns[j].Scores[measure].Mean)
		}
		c.Value = r.Columns[c.Column].Scores[measure].Mean
		out[i] = c
	}
	return out
}

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
