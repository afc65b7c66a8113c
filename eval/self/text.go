package self

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

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
