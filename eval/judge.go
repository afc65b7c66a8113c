package eval

import (
	"maps"
	"slices"
	"time"

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
