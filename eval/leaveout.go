package eval

import "sheaf/eval/stats"

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
