package eval

import (
	"sheaf/eval/dataset"
	"sheaf/eval/stats"
)

// Comparison says how a column differs from the first column in one measure.
type Comparison struct {
	Measure  string `json:"measure"`
	Column   string `json:"column"`
	Baseline string `json:"baseline"`
	// Difference is the mean over the queries of the column's value minus the first column's value. Range is the
	// interval of this mean.
	Difference float64        `json:"difference"`
	Range      stats.Interval `json:"interval"`
	// Better, Worse and Equal are numbers of queries.
	Better int `json:"better"`
	Worse  int `json:"worse"`
	Equal  int `json:"equal"`
	// TTest and Randomization are the two-sided P of two paired tests. Holm's method corrects them for the number of
	// compared columns. RawTTest and RawRandomization are not corrected.
	TTest            float64 `json:"p_t_test"`
	Randomization    float64 `json:"p_randomization"`
	RawTTest         float64 `json:"p_t_test_uncorrected"`
	RawRandomization float64 `json:"p_randomization_uncorrected"`
}

// Significant reports whether both tests find a difference at the given level.
func (c *Comparison) Significant(level float64) bool {
	return c.TTest < level && c.Randomization < level
}

// Compare compares every column with the first column, in each measure.
func Compare(queries []dataset.Query, columns []ColumnReport, st Statistics) []Comparison {
	var out []Comparison
	if len(columns) < 2 {
		return out
	}
	for m := range columns[0].Scores {
		base := columns[0].values(queries, m)
		first := len(out)
		for i := range columns[1:] {
			out = append(out, compareOne(&columns[0], &columns[i+1], base, columns[i+1].values(queries, m), st))
			out[len(out)-1].Measure = columns[0].Scores[m].Measure
		}
		correct(out[first:])
	}
	return out
}

func compareOne(baseline, column *ColumnReport, a, b []float64, st Statistics) Comparison {
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
	c.Range = stats.Bootstrap(d, st.Confidence, st.Rounds, st.Seed)
	c.RawTTest = stats.PairedT(b, a).P
	c.RawRandomization = stats.Randomization(b, a, st.Rounds, st.Seed)
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
