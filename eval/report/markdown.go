package report

import (
	"fmt"
	"io"
	"strings"

	"sheaf/eval"
)

// Markdown writes a table for each measure. It has a row for each data set, a column for each ranking, and a last row
// with the means. Then it writes tables of latencies, of choices by other data sets, and of classes. All reports have
// the same columns.
func Markdown(w io.Writer, reports []*eval.Report) error {
	out := &strings.Builder{}
	for m, name := range reports[0].Measures {
		grid(out, name, reports, func(c *eval.ColumnReport) (float64, bool) { return c.Scores[m].Mean, true }, "%.4f")
	}
	grid(out, "p50 ms", reports, func(c *eval.ColumnReport) (float64, bool) {
		if c.Latency == nil {
			return 0, false
		}
		return c.Latency.P50, true
	}, "%.2f")
	leftOut(out, reports)
	for _, r := range reports {
		classes(out, r)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// grid writes a table with a row for each report and a column for each ranking. If there are several reports, the last
// row has the mean of each column. value returns a number of the table, or false for an empty cell. form is the format
// of a number, as for fmt.
func grid(out *strings.Builder, title string, reports []*eval.Report, value func(c *eval.ColumnReport) (float64, bool),
	form string) {
	tableHead(out, title, reports[0])
	sums, counts := make([]float64, len(reports[0].Columns)), make([]int, len(reports[0].Columns))
	for _, r := range reports {
		fmt.Fprintf(out, "| %s |", cell(r.Dataset))
		for i := range r.Columns {
			v, ok := value(&r.Columns[i])
			if !ok {
				out.WriteString(" |")
				continue
			}
			sums[i] += v
			counts[i]++
			fmt.Fprintf(out, " "+form+" |", v)
		}
		out.WriteByte('\n')
	}
	if len(reports) > 1 {
		out.WriteString("| **mean** |")
		for i, s := range sums {
			if counts[i] < len(reports) {
				out.WriteString(" |")
				continue
			}
			fmt.Fprintf(out, " **"+form+"** |", s/float64(len(reports)))
		}
		out.WriteByte('\n')
	}
	out.WriteByte('\n')
}

// leftOut writes a table about the first measure. For each data set, it has the ranking that is best on the other data
// sets. It also has the value of this ranking on the data set itself.
func leftOut(out *strings.Builder, reports []*eval.Report) {
	choices := eval.LeaveOut(reports, 0)
	if choices == nil {
		return
	}
	columns := reports[0].Columns
	fmt.Fprintf(out, "| %s, left out | chosen on the others | has | %s | best of all |\n|---|---|---|---|---|\n",
		cell(reports[0].Measures[0]), cell(columns[0].Name))
	value, first, best := 0.0, 0.0, 0.0
	for _, c := range choices {
		fmt.Fprintf(out, "| %s | %s | %.4f | %.4f | %.4f |\n", cell(c.Dataset), cell(columns[c.Column].Name), c.Value,
			c.First, c.Best)
		value, first, best = value+c.Value, first+c.First, best+c.Best
	}
	n := float64(len(choices))
	fmt.Fprintf(out, "| **mean** | | **%.4f** | **%.4f** | **%.4f** |\n\n", value/n, first/n, best/n)
}

func tableHead(out *strings.Builder, title string, r *eval.Report) {
	fmt.Fprintf(out, "| %s |", cell(title))
	for i := range r.Columns {
		fmt.Fprintf(out, " %s |", cell(r.Columns[i].Name))
	}
	out.WriteString("\n|---|" + strings.Repeat("---|", len(r.Columns)) + "\n")
}

// classes writes a table of the first measure: a row for each class of queries, a column for each ranking.
func classes(out *strings.Builder, r *eval.Report) {
	if len(r.Columns[0].Classes) == 0 {
		return
	}
	tableHead(out, r.Dataset+", "+r.Measures[0]+" by class", r)
	for k, class := range r.Columns[0].Classes {
		fmt.Fprintf(out, "| %s (%d) |", cell(class.Class), class.Queries)
		for i := range r.Columns {
			if k < len(r.Columns[i].Classes) {
				fmt.Fprintf(out, " %.4f |", r.Columns[i].Classes[k].Means[0])
			}
		}
		out.WriteByte('\n')
	}
	out.WriteByte('\n')
}

func cell(s string) string { return strings.NewReplacer("|", `\|`, "\n", " ").Replace(s) }
