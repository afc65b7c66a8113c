package eval

import "sheaf/eval/stats"

// Choice is the column that the other data sets choose for a data set.
type Choice struct {
	Dataset string
	// Column is the index of the column with the best mean over the other data sets, or the first
	// of equal columns. Mean is the best mean.
	Column int
	Mean   float64
	// Value is the chosen column's value on this data set. First is the value of the first column.
	// Best is the largest value of all columns, which is known only afterwards.
	Value, First, Best float64
}

// LeaveOut chooses a column for every data set by one measure on all other data sets. This shows
// whether numbers fit only the collections that they were chosen on. All reports have the same
// columns. It returns nil for fewer than two data sets or columns.
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
