package eval

import "sheaf/eval/stats"

// Choice is what would have been chosen for a data set by the others.
type Choice struct {
	Dataset string
	// Column is the index of the column with the best mean over the other data
	// sets, of equal ones the first; Mean is that mean.
	Column int
	Mean   float64
	// Value is what the chosen column has on this data set, First what the
	// first has, and Best the largest of all, which is only known afterwards.
	Value, First, Best float64
}

// LeaveOut chooses among the columns of reports, which all have the same, by one
// measure, for every data set on all others: numbers that fit only the collections
// which they were chosen on are found out. Nil for fewer than two data sets or
// columns.
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
