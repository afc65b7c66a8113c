// Package self finds the best ranking for a collection without human judgements. It makes queries with known answers
// from the documents: a heading asks for its section, a link for its target. An alias asks for its note, a rare phrase
// or a shortened sentence for its chunk. (Azzopardi, de Rijke, Balog: Building Simulated Queries for Known-Item Topics,
// 2007.) It runs the rankings on these queries. Then it reports the best ranking, and whether its lead is more than
// chance. From queries without an answer, package confidence learns to recognize such queries.
//
// The result is valid for finding known items. It says nothing about questions that many documents answer.
package self

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"sheaf"
	"sheaf/eval"
	"sheaf/eval/dataset"
	"sheaf/eval/metric"
	"sheaf/eval/stats"
)

// Measure is the measure by which rankings are compared. It is the mean of two reciprocal ranks within ten results: of
// the answering document, and of the answering chunk. So a ranking of whole documents gets more than 0 too.
const Measure = "RR@10"

// depth is the largest number of results of a query. A user sees only the first ten.
const depth = 10

// Report is the result of [Evaluate]. Its JSON is the format sheaf.eval-self/1.
type Report struct {
	Measure    string         `json:"measure"`     // the name of the measure
	Queries    int            `json:"queries"`     // how many queries were asked
	Seed       uint64         `json:"seed"`        // the seed that chose the queries
	Kinds      []KindReport   `json:"kinds"`       // each kind of query that occurs
	Columns    []ColumnReport `json:"columns"`     // one column for each ranking
	Best       int            `json:"best"`        // the index of the best column
	Better     bool           `json:"better"`      // whether the best column is better than the first by more than chance
	Verdict    string         `json:"verdict"`     // the result in words
	CorpusHash string         `json:"corpus_hash"` // a hash of the documents
	Analyzer   string         `json:"analyzer"`    // the name of the index's analyzer
	Model      string         `json:"model"`       // the name of the embedding model
}

// KindReport describes one kind of query.
type KindReport struct {
	Kind    Kind `json:"kind"`    // the kind of query
	Queries int  `json:"queries"` // how many queries are of this kind
	// Example is the text of one query of this kind.
	Example string `json:"example"`
}

// ColumnReport is the result for one ranking.
type ColumnReport struct {
	Name            string            `json:"name"`                // the name of the ranking
	Profile         string            `json:"profile"`             // the name of the ranking profile
	ProfileHash     string            `json:"profile_hash"`        // a digest of what the profile computes
	Parameters      map[string]string `json:"parameters"`          // the changed parameters of the profile
	Mean            float64           `json:"mean"`                // the mean of the measure; kinds have equal weights
	Range           stats.Interval    `json:"interval"`            // the confidence interval of the mean
	Kinds           []float64         `json:"kinds"`               // the mean of each kind, in the order of the kinds
	Difference      float64           `json:"difference"`          // the mean minus the mean of the first column
	DifferenceRange stats.Interval    `json:"difference_interval"` // the confidence interval of the difference
	// P is the p of the paired randomization test, corrected with Holm's method. It is 1 for the first column.
	P float64 `json:"p"`
}

// minQueries is the smallest number of queries for a verdict. With fewer, Judged returns sheaf.ErrInvalid.
const minQueries = 20

// Judged returns a copy of c that caches vectors and rankings: see [eval.Collection.Cached]. The data set of the copy
// has queries that are made from the documents of c. The class "kind" of a query is its Kind. If there are too few
// documents, Judged returns sheaf.ErrInvalid.
func Judged(ctx context.Context, c *eval.Collection, w Wanted) (*eval.Collection, error) {
	items, err := Make(ctx, c, w)
	if err != nil {
		return nil, err
	}
	d := &dataset.Dataset{Name: "self", ByID: true, Sections: true, Qrels: map[string]metric.Judgements{}}
	for i := range items {
		item := &items[i]
		if item.Kind.Impossible() {
			continue
		}
		slug := ""
		if item.Target != item.Doc {
			slug = strings.TrimPrefix(string(item.Target), string(item.Doc)+"#")
		}
		d.Queries = append(d.Queries, dataset.Query{ID: item.ID, Text: item.Text, Filter: item.Filter(),
			Class: map[string]string{"kind": string(item.Kind)}})
		d.Qrels[item.ID] = metric.Judgements{dataset.Section(string(item.Doc), slug): 1}
	}
	if n := len(d.Queries); n < minQueries {
		return nil, sheaf.Invalidf("the documents give %d queries, and fewer than %d tell nothing: the collection is too "+
			"small, or its notes have too little text and too few headings and links", n, minQueries)
	}
	out := c.Cached()
	out.Dataset = d
	return out, nil
}

// Evaluate makes queries from the documents of c, and runs the columns on these queries. The first column is the
// ranking in use. Evaluate does not use the data set of c. If there are too few documents, it returns sheaf.ErrInvalid.
// It calls progress for each column as [eval.Collection.Run] does.
func Evaluate(ctx context.Context, c *eval.Collection, w Wanted, columns []eval.Column,
	progress func(done, all int)) (*Report, error) {
	asked, err := Judged(ctx, c, w)
	if err != nil {
		return nil, err
	}
	s := c.View.Settings()
	r := &Report{Measure: Measure, Queries: len(asked.Dataset.Queries), Seed: w.Seed, CorpusHash: c.Hash,
		Analyzer: s.Analyzer, Model: s.Embedder, Kinds: kindsOf(asked.Dataset.Queries)}
	kinds := make([]string, len(asked.Dataset.Queries))
	for i, q := range asked.Dataset.Queries {
		kinds[i] = q.Class["kind"]
	}
	var values [][]float64
	for _, col := range columns {
		run, err := asked.Run(ctx, col, eval.Options{Depth: depth, Plain: true, Workers: runtime.GOMAXPROCS(0),
			Progress: progress})
		if err != nil {
			return nil, err
		}
		v := Values(asked.Dataset, run)
		values = append(values, v)
		r.Columns = append(r.Columns, ColumnReport{Name: col.Name, Profile: col.Profile.Name, ProfileHash: run.ProfileHash,
			Parameters: run.Parameters, Kinds: means(r.Kinds, asked.Dataset.Queries, v)})
	}
	r.compare(values, kinds)
	return r, nil
}

// reciprocalRank is the measure that is computed for the document and for the chunk.
var reciprocalRank = func() metric.Measure {
	m, err := metric.Parse(Measure)
	if err != nil {
		panic(err) // the name is a constant
	}
	return m
}()

// Values returns the [Measure] of each query of d, in order, times the query's weight (see [Weights]). d must be the
// data set of a collection that [Judged] returned.
func Values(d *dataset.Dataset, run *eval.Run) []float64 {
	out := Weights(d.Queries)
	for i, q := range d.Queries {
		var places, docs []string
		for _, s := range run.Rankings[q.ID] {
			doc, _, _ := strings.Cut(s.ID, "\x00")
			places, docs = append(places, s.ID), append(docs, doc) // the measure skips duplicates
		}
		wanted := metric.Judgements{}
		for target := range d.Qrels[q.ID] {
			doc, _, _ := strings.Cut(target, "\x00")
			wanted[doc] = 1
		}
		out[i] *= (reciprocalRank.Of(places, d.Qrels[q.ID]) + reciprocalRank.Of(docs, wanted)) / 2
	}
	return out
}

func kindsOf(queries []dataset.Query) []KindReport {
	var out []KindReport
	for _, q := range queries { // in order of kind
		if n := len(out); n == 0 || string(out[n-1].Kind) != q.Class["kind"] {
			out = append(out, KindReport{Kind: Kind(q.Class["kind"]), Example: q.Text})
		}
		out[len(out)-1].Queries++
	}
	return out
}

// Weights returns a weight for each query. The sum of weights is equal for all kinds, and the mean weight is 1.
func Weights(queries []dataset.Query) []float64 {
	n := map[string]int{}
	for _, q := range queries {
		n[q.Class["kind"]]++
	}
	out := make([]float64, len(queries))
	for i, q := range queries {
		out[i] = float64(len(queries)) / float64(len(n)*n[q.Class["kind"]])
	}
	return out
}

// means returns the mean measure of each kind. values are the weighted values of the queries.
func means(kinds []KindReport, queries []dataset.Query, values []float64) []float64 {
	out := make([]float64, len(kinds))
	for i, q := range queries {
		at := slices.IndexFunc(kinds, func(k KindReport) bool { return string(k.Kind) == q.Class["kind"] })
		out[at] += values[i] * float64(len(kinds)) / float64(len(queries))
	}
	return out
}

const (
	// significance is the P below which a difference counts as more than chance.
	significance = 0.05
	seed         = 1 // of intervals and tests
)

// compare computes the means, the differences and the verdict. values has the weighted values of each column, by query.
// kinds has the kind of each query.
func (r *Report) compare(values [][]float64, kinds []string) {
	var ps []float64
	for i := range r.Columns {
		c := &r.Columns[i]
		c.Mean, c.Range, c.P = stats.Mean(values[i]), stats.BootstrapWithin(values[i], kinds, seed), 1
		if i == 0 {
			continue
		}
		d := stats.Differences(values[i], values[0])
		c.Difference, c.DifferenceRange = stats.Mean(d), stats.BootstrapWithin(d, kinds, seed)
		ps = append(ps, stats.Randomization(values[i], values[0], seed))
		if c.Mean > r.Columns[r.Best].Mean {
			r.Best = i
		}
	}
	for i, p := range stats.Holm(ps) {
		r.Columns[i+1].P = p
	}
	best, first := &r.Columns[r.Best], &r.Columns[0]
	r.Better = r.Best > 0 && best.P < significance
	worse := func(c ColumnReport) bool { return c.Difference < 0 && c.P < significance }
	switch {
	case r.Better:
		r.Verdict = fmt.Sprintf("%s serves these documents better than %s: %+.3f %s (%s)", best.Name, first.Name,
			best.Difference, r.Measure, span(best.DifferenceRange))
	case r.Best > 0:
		r.Verdict = fmt.Sprintf("no column is significantly better than %s: keep it (%s is %+.3f, %s)", first.Name,
			best.Name, best.Difference, span(best.DifferenceRange))
	case len(r.Columns) > 1 && !slices.ContainsFunc(r.Columns[1:], worse):
		r.Verdict = fmt.Sprintf("no significant difference: keep %s", first.Name)
	default:
		r.Verdict = fmt.Sprintf("%s serves these documents best of those compared", first.Name)
	}
}

func span(i stats.Interval) string {
	return fmt.Sprintf("95 %% interval %+.3f to %+.3f", i.Low, i.High)
}

// Text writes a table and a verdict. The table has a row for each ranking, and a column for each kind of query.
func (r *Report) Text(w io.Writer) error {
	out := &strings.Builder{}
	fmt.Fprintf(out, "%d queries made of the documents (seed %d), %s of document and place\n", r.Queries, r.Seed,
		r.Measure)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\t")
	for _, k := range r.Kinds {
		fmt.Fprintf(t, "%s (%d)\t", k.Kind, k.Queries)
	}
	fmt.Fprint(t, "mean\t95 % interval\tdifference\tp\t\n")
	for i, c := range r.Columns {
		fmt.Fprintf(t, "%s\t", c.Name)
		for _, v := range c.Kinds {
			fmt.Fprintf(t, "%.3f\t", v)
		}
		fmt.Fprintf(t, "%.3f\t%.3f to %.3f\t", c.Mean, c.Range.Low, c.Range.High)
		if i == 0 {
			fmt.Fprint(t, "\t\t\n")
		} else {
			fmt.Fprintf(t, "%+.3f\t%.3f\t\n", c.Difference, c.P)
		}
	}
	_ = t.Flush() // a builder does not fail
	for _, k := range r.Kinds {
		fmt.Fprintf(out, "  %s, such as: %s\n", k.Kind, strings.Join(strings.Fields(k.Example), " "))
	}
	fmt.Fprintf(out, "%s\n", r.Verdict)
	_, err := io.WriteString(w, out.String())
	return err
}
