package eval

import (
	"sheaf/eval/dataset"
	"sheaf/eval/stats"
)

// Comparison says how a column differs from the first column in one measure.
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
	c.RawTTest = stats.PairedT(b, a)
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
