// Package report writes results of an evaluation: text for a terminal, JSON, and one HTML file with plots.
package report

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"sheaf/eval"
	"sheaf/internal/wording"
)

// Text writes a table for each data set, with a row for each ranking and a column for each measure. Then it writes the
// differences from the first row. A star marks a difference for which both tests have a P below 5 %. For several data
// sets, it also writes an overview of each measure. All reports have the same columns.
//
// For every column after the first, it lists the queries with the largest gains and losses in the first measure. Each
// list has at most as many entries as the argument queries says.
func Text(w io.Writer, reports []*eval.Report, queries int) error {
	out := &strings.Builder{}
	for i, r := range reports {
		if i > 0 {
			out.WriteByte('\n')
		}
		head(out, r)
		table(out, r)
		differences(out, r)
		changed(out, r, queries)
	}
	if len(reports) > 1 {
		overview(out, reports)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func head(out *strings.Builder, r *eval.Report) {
	fmt.Fprintf(out, "%s: %s, %s, %s, %s\n", r.Dataset, wording.Plural(r.Documents, "document", "documents"),
		wording.Plural(r.Chunks, "chunk", "chunks"), wording.Plural(r.Queries, "query", "queries"),
		wording.Plural(r.Judged, "judgement", "judgements"))
	fmt.Fprintf(out, "  corpus %s, queries %s, analyzer %s, chunker %s, model %s, depth %d", r.CorpusHash, r.QueryHash,
		r.Analyzer, r.Chunker, cmp.Or(r.Model, "none"), r.Depth)
	if r.IndexMS > 0 {
		fmt.Fprintf(out, ", indexed in %.1f s", r.IndexMS/1000)
	}
	out.WriteByte('\n')
	for _, warning := range r.Warnings {
		fmt.Fprintf(out, "  warning: %s\n", warning)
	}
}

// significance is the largest P for which a difference gets a star.
const significance = 0.05

func table(out *strings.Builder, r *eval.Report) {
	marked := map[[2]string]bool{}
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		marked[[2]string{c.Column, c.Measure}] = c.Significant(significance)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\t%s\tp50 ms\tp95 ms\tp99 ms\tKB/query\t\n", strings.Join(r.Measures, "\t"))
	for i := range r.Columns {
		c := &r.Columns[i]
		fmt.Fprintf(w, "%s\t", c.Name)
		for _, s := range c.Scores {
			star := " "
			if marked[[2]string{c.Name, s.Measure}] {
				star = "*"
			}
			fmt.Fprintf(w, "%.4f%s\t", s.Mean, star)
		}
		if c.Latency == nil {
			fmt.Fprint(w, "-\t-\t-\t-\t\n")
			continue
		}
		fmt.Fprintf(w, "%.2f\t%.2f\t%.2f\t%.0f\t\n", c.Latency.P50, c.Latency.P95, c.Latency.P99, c.AllocKB)
	}
	for i := range r.Columns {
		c := &r.Columns[i]
		for _, k := range c.Classes {
			fmt.Fprintf(w, "%s, %s (%d)\t", c.Name, k.Class, k.Queries)
			for _, m := range k.Means {
				fmt.Fprintf(w, "%.4f \t", m)
			}
			fmt.Fprint(w, "\t\t\t\t\n")
		}
	}
	_ = w.Flush() // a builder does not fail
	for i := range r.Columns {
		if c := &r.Columns[i]; c.Degraded > 0 {
			fmt.Fprintf(out, "  %s: a branch failed for %d queries: %s\n", c.Name, c.Degraded, strings.Join(c.Notes, "; "))
		}
	}
}

func differences(out *strings.Builder, r *eval.Report) {
	if len(r.Comparisons) == 0 {
		return
	}
	fmt.Fprintf(out, "  against %s:\n", r.Columns[0].Name)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		fmt.Fprintf(w, "    %s\t%s\t%+.4f\t[%+.4f, %+.4f]\tp %s (randomization), %s (t)\t%d better, %d worse\t%s\n",
			c.Measure, c.Column, c.Difference, c.Range.Low, c.Range.High, probability(c.Randomization), probability(c.TTest),
			c.Better, c.Worse, verdict(*c))
	}
	_ = w.Flush()
}

func changed(out *strings.Builder, r *eval.Report, n int) {
	for i := 1; i < len(r.Columns) && n > 0; i++ {
		gained, lost := largestChanges(r.Changes(i, 0), n)
		for _, list := range []struct {
			verb    string
			changes []eval.Change
		}{{"gained", gained}, {"lost", lost}} {
			if len(list.changes) == 0 {
				continue
			}
			fmt.Fprintf(out, "  %s %s most in %s:\n", r.Columns[i].Name, list.verb, r.Measures[0])
			for _, c := range list.changes {
				fmt.Fprintf(out, "    %+.4f  %.4f, was %.4f  %s: %s\n", c.Difference(), c.After, c.Before, c.Query, shorten(c.Text))
			}
		}
	}
}

func verdict(c eval.Comparison) string {
	switch {
	case !c.Significant(significance):
		return "no significant difference"
	case c.Difference < 0:
		return "worse"
	}
	return "better"
}

func probability(p float64) string {
	if p < 0.0001 {
		return "< 0.0001"
	}
	return strconv.FormatFloat(p, 'f', 4, 64)
}

// overview writes a table for each measure, with every data set and the mean.
func overview(out *strings.Builder, reports []*eval.Report) {
	first := reports[0]
	for m, name := range first.Measures {
		fmt.Fprintf(out, "\n%s\n", name)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		for i := range first.Columns {
			fmt.Fprintf(w, "\t%s", first.Columns[i].Name)
		}
		fmt.Fprint(w, "\t\n")
		sums := make([]float64, len(first.Columns))
		for _, r := range reports {
			fmt.Fprintf(w, "%s\t", r.Dataset)
			for i := range r.Columns {
				fmt.Fprintf(w, "%.4f\t", r.Columns[i].Scores[m].Mean)
				sums[i] += r.Columns[i].Scores[m].Mean
			}
			fmt.Fprint(w, "\n")
		}
		fmt.Fprint(w, "mean\t")
		for _, s := range sums {
			fmt.Fprintf(w, "%.4f\t", s/float64(len(reports)))
		}
		fmt.Fprint(w, "\n")
		_ = w.Flush()
	}
}
