package eval

import (
	"maps"
	"slices"
	"time"

	"sheaf/eval/dataset"
	"sheaf/eval/metric"
	"sheaf/eval/stats"
)

// Statistics are the settings of confidence intervals and tests.
type Statistics struct {
	Confidence float64 // of intervals, for example 0.95
	Rounds     int     // of bootstraps and randomization tests
	Seed       uint64
}

// DefaultStatistics have intervals of 95 % and ten thousand rounds.
var DefaultStatistics = Statistics{Confidence: 0.95, Rounds: 10_000, Seed: 1}

// Report is the result for one data set. Its JSON is the format sheaf.eval/1.
type Report struct {
	Dataset   string `json:"dataset"`
	Documents int    `json:"documents"`
	Chunks    int    `json:"chunks"`
	Queries   int    `json:"queries"`
	Judged    int    `json:"judgements"`
	// CorpusHash identifies the version of the documents. QueryHash identifies the version of the queries and
	// judgements.
	CorpusHash string   `json:"corpus_hash"`
	QueryHash  string   `json:"query_hash"`
	Analyzer   string   `json:"analyzer"`
	Chunker    string   `json:"chunker"`
	Model      string   `json:"model"`
	Dims       int      `json:"dims"`
	Depth      int      `json:"depth"`
	IndexMS    float64  `json:"index_ms"` // 0 when the index existed
	IndexBytes int64    `json:"index_bytes"`
	Warnings   []string `json:"warnings"`
	Measures   []string `json:"measures"`
	// Columns has the results of the rankings, in the requested order.
	Columns []ColumnReport `json:"columns"`
	// Texts has the text of each query, by ID.
	Texts map[string]string `json:"query_texts"`
	// Comparisons compare each column after the first with the first column.
	Comparisons []Comparison `json:"comparisons"`
}

// ColumnReport is the result for one column.
type ColumnReport struct {
	Name        string            `json:"name"`
	Profile     string            `json:"profile"`
	ProfileHash string            `json:"profile_hash"`
	Parameters  map[string]string `json:"parameters"`
	Store       string            `json:"store"`
	// Scores has one score for each of Report.Measures, in the same order.
	Scores   []Score  `json:"scores"`
	Latency  *Latency `json:"latency_ms,omitempty"`
	AllocKB  float64  `json:"alloc_kb_per_query"`
	Degraded int      `json:"degraded"`
	Empty    int      `json:"empty"`
	Notes    []string `json:"notes"`
	// PerQuery has for each query its values in the order of Report.Measures.
	PerQuery map[string][]float64 `json:"per_query"`
	// Curve has the mean interpolated precision at the recalls 0, 0.1, ... 1. It counts only hits within the depth of
	// the run.
	Curve []float64 `json:"precision_at_recall"`
	// Classes has the means for each class of queries. It is set if Evaluation.Class is set.
	Classes []ClassReport `json:"classes,omitempty"`
}

// ClassReport has the means over the queries of one class.
type ClassReport struct {
	Class   string    `json:"class"`
	Queries int       `json:"queries"`
	Means   []float64 `json:"means"` // in the order of Report.Measures
}

// Score is the mean of a measure over all judged queries.
type Score struct {
	Measure string         `json:"measure"`
	Mean    float64        `json:"mean"`
	Range   stats.Interval `json:"interval"`
}

// Latency says how long queries took, in milliseconds.
type Latency struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
}

// Judge measures a run with the judgements. If a judged query has no ranking, its values are 0, as in the reference
// tools.
func Judge(d *dataset.Dataset, r *Run, measures []metric.Measure, st Statistics) ColumnReport {
	c := ColumnReport{Name: r.Column.Name, Store: r.Store, ProfileHash: r.ProfileHash, Parameters: r.Parameters,
		AllocKB:  float64(r.AllocPerQuery) / 1024,
		Degraded: r.Degraded, Empty: r.Empty, Notes: r.Notes, PerQuery: make(map[string][]float64, len(d.Queries))}
	if r.Column.Profile != nil {
		c.Profile = r.Column.Profile.Name
	}
	if c.Notes == nil {
		c.Notes = []string{}
	}
	c.Curve = make([]float64, 11)
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
		c.Scores = append(c.Scores, Score{m.String(), stats.Mean(values),
			stats.Bootstrap(values, st.Confidence, st.Rounds, st.Seed)})
	}
	if len(r.Latency) > 0 {
		c.Latency = latencyOf(r.Latency)
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

// ByClass adds to the report the means over the queries of each class. The class of a query is its metadata under key.
// Classes are sorted. ByClass skips queries without a class.
func (c *ColumnReport) ByClass(queries []dataset.Query, key string) {
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
