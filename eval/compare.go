package eval

import (
	"cmp"
	"slices"
	"strings"

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
