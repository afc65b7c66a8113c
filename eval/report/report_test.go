package report_test

import (
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sheaf/eval"
	"sheaf/eval/calibrate"
	"sheaf/eval/report"
	"sheaf/eval/stats"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sample is a report of three columns and four queries, one with a hostile text.
func sample(name string) *eval.Report {
	r := &eval.Report{Dataset: name, Documents: 10, Chunks: 20, Queries: 4, Judged: 6, CorpusHash: "c0", QueryHash: "c1",
		Analyzer: "sheaf-2", Chunker: "tree", Depth: 100,
		IndexMS: 1500, Warnings: []string{"one <odd> thing"}, Measures: []string{"nDCG@10", "RR"},
		Texts: map[string]string{"a": "plain", "b": `<script>alert("b")</script>`, "c": strings.Repeat("long ", 40),
			"d": "same"}}
	for i, values := range [][]float64{{0.5, 0.2, 0.9, 1}, {0.6, 0.1, 0.9, 1}, {0.9, 0.9, 1, 1}} {
		c := eval.ColumnReport{Name: fmt.Sprintf("column <%d>", i), Profile: "p", PerQuery: map[string][]float64{},
			Curve: []float64{1, 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1}, Notes: []string{"a note"}}
		for j, v := range values {
			c.PerQuery[string(rune('a'+j))] = []float64{v, v / 2}
		}
		c.Scores = []eval.Score{{Measure: "nDCG@10", Mean: stats.Mean(values), Range: stats.Interval{Low: 0.4, High: 0.97}},
			{Measure: "RR", Mean: stats.Mean(values) / 2, Range: stats.Interval{Low: 0.1, High: 0.6}}}
		if i < 2 {
			c.Latency, c.AllocKB = &eval.Latency{Mean: 1, P50: 1 + float64(i), P95: 3, P99: 4}, 12.3
		}
		if i == 1 {
			c.Degraded, c.Classes = 1, []eval.ClassReport{{Class: "low", Queries: 2, Means: []float64{0.5, 0.25}}}
		}
		r.Columns = append(r.Columns, c)
	}
	r.Comparisons = []eval.Comparison{
		{Measure: "nDCG@10", Column: "column <1>", Baseline: "column <0>", Range: stats.Interval{Low: -0.1, High: 0.1},
			Better: 1, Worse: 1, Equal: 2, TTest: 1, Randomization: 1},
		{Measure: "nDCG@10", Column: "column <2>", Baseline: "column <0>", Difference: 0.3,
			Range: stats.Interval{Low: 0.01, High: 0.5}, Better: 3, Equal: 1, TTest: 0.012, Randomization: 0.00001},
	}
	return r
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		must.Do(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want := must.Get(os.ReadFile(file))
	check.That(t, string(want) == got, "%s differs (go test -update rewrites it):\n%s", name, got)
}

// TestText checks reports in text and in Markdown against golden files.
func TestText(t *testing.T) {
	var b strings.Builder
	must.Do(t, report.Text(&b, []*eval.Report{sample("one"), sample("two")}, 2))
	golden(t, "report.txt", b.String())
	with := sample("one")
	for i := range with.Columns {
		with.Columns[i].Classes = []eval.ClassReport{{Class: "a|b", Queries: 2, Means: []float64{0.5, 0.25}}}
	}
	b.Reset()
	must.Do(t, report.Markdown(&b, []*eval.Report{with, sample("two")}))
	golden(t, "report.md", b.String())
}

// TestHTML checks that the page has every number and plot, loads no file, and escapes texts of queries.
func TestHTML(t *testing.T) {
	var b strings.Builder
	must.Do(t, report.HTML(&b, []*eval.Report{sample("one")}))
	page := b.String()
	check.Contains(t, page, "0.6500", "0.4000 to 0.9700", "&lt; 0.0001", "no significant difference", "better", "1.00",
		"column &lt;2&gt;", "&lt;script&gt;", "one &lt;odd&gt; thing")
	n := strings.Count(page, "<svg")
	check.That(t, n == 4, "%d plots, want quality, precision and two of changes", n)
	check.That(t, !strings.Contains(page, "<script") &&
		!regexp.MustCompile(`(src|href)\s*=|url\(|@import`).MatchString(page), "the page runs or loads something")
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1) {
		wellFormed(t, svg)
	}
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
	}
}

// TestHTMLWithLittleData checks one column without latency, no changed queries, and zeros.
func TestHTMLWithLittleData(t *testing.T) {
	r := sample("one")
	r.Columns, r.Comparisons = r.Columns[2:], nil
	r.Columns[0].Scores[0] = eval.Score{Measure: "nDCG@10"}
	same := sample("same")
	same.Columns[1].PerQuery = same.Columns[0].PerQuery
	same.Columns[0].Latency, same.Columns[1].Latency = &eval.Latency{}, &eval.Latency{}
	must.Do(t, report.HTML(io.Discard, []*eval.Report{r, same}))
	must.Do(t, report.Text(io.Discard, []*eval.Report{r}, 3))
}

func TestReliability(t *testing.T) {
	bins := calibrate.Reliability([]float64{0.9, 0.9, 0.2}, []bool{true, false, false}, 10)
	svg := report.Reliability(bins, `confidence "<x>"`)
	wellFormed(t, svg)
	check.That(t, strings.Contains(svg, "expected calibration error 0.333") && strings.Count(svg, "<circle") == 2, "%s",
		svg)
	wellFormed(t, report.Reliability(nil, ""))
}

// TestJSON checks that a report reads back unchanged.
func TestJSON(t *testing.T) {
	raw := must.Get(json.Marshal(sample("one")))
	var back eval.Report
	must.Do(t, json.Unmarshal(raw, &back))
	again, err := json.Marshal(back)
	check.That(t, err == nil && string(again) == string(raw), "%s\n%s, %v", raw, again, err)
}
