package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"sheaf/eval"
)

//go:embed report.html
var page string

var pageFunctions = template.FuncMap{
	"four":    func(v float64) string { return fmt.Sprintf("%.4f", v) },
	"signed":  func(v float64) string { return fmt.Sprintf("%+.4f", v) },
	"two":     func(v float64) string { return fmt.Sprintf("%.2f", v) },
	"p":       probability,
	"color":   func(i int) template.CSS { return template.CSS("background:" + color(i)) },
	"verdict": verdict,
}

// plot is a finished SVG picture with its title.
type plot struct {
	Title string
	SVG   template.HTML
}

// section is the part of the page about one data set.
type section struct {
	*eval.Report
	Plots []plot
	Most  []mostChanged
}

// mostChanged has the queries with the largest gains and the largest losses in one column.
type mostChanged struct {
	Column, Measure, Baseline string
	Gained, Lost              []eval.Change
}

// listedQueries is the largest number of gains, and the largest number of losses, that a page lists for a column.
const listedQueries = 10

// HTML writes the reports as one page that loads no other files. The page has tables with intervals and tests. It
// also plots quality over latency, precision over recall, and the gain or loss of each query.
func HTML(w io.Writer, reports []*eval.Report) error {
	var sections []section
	for _, r := range reports {
		s := section{Report: r}
		// The pictures contain only numbers and escaped texts, so they are safe HTML.
		if svg := qualityPlot(r); svg != "" {
			s.Plots = append(s.Plots, plot{r.Measures[0] + " over latency", template.HTML(svg)})
		}
		s.Plots = append(s.Plots, plot{"Precision over recall", template.HTML(curvePlot(r))})
		for i := 1; i < len(r.Columns); i++ {
			changes := r.Changes(i, 0)
			if svg := changesPlot(changes, r.Measures[0]); svg != "" {
				s.Plots = append(s.Plots, plot{r.Columns[i].Name + " against " + r.Columns[0].Name, template.HTML(svg)})
			}
			m := mostChanged{Column: r.Columns[i].Name, Measure: r.Measures[0], Baseline: r.Columns[0].Name}
			m.Gained, m.Lost = largestChanges(changes, listedQueries)
			if len(changes) > 0 {
				s.Most = append(s.Most, m)
			}
		}
		sections = append(sections, s)
	}
	return template.Must(template.New("report").Funcs(pageFunctions).Parse(page)).Execute(w, sections)
}

// largestChanges returns the n largest gains, largest first, and the n largest losses, largest first.
func largestChanges(changes []eval.Change, n int) (gained, lost []eval.Change) {
	for _, c := range changes {
		if c.Difference() > 0 && len(gained) < n {
			gained = append(gained, c)
		}
	}
	for i := len(changes) - 1; i >= 0 && len(lost) < n; i-- {
		if changes[i].Difference() < 0 {
			lost = append(lost, changes[i])
		}
	}
	return gained, lost
}
