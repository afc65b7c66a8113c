package benchmark

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// classes are the classes of queries, in the order of reports.
var classes = []string{"real", "hot"}

// Text writes a Markdown table for each task and size. Then it writes how times depend on size and number of clients.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Machine)
	for _, group := range r.groups() {
		first := group[0]
		fmt.Fprintf(&b, "\n%s, %d chunks, %.0f MB of input", first.Task, first.Chunks, float64(first.InputBytes)/1e6)
		if first.Made > 0 {
			fmt.Fprintf(&b, " (%d chunks made of sentences of the others)", first.Made)
		}
		head := []string{"engine", "build MB/s", "index/input", "build MB", "search MB", "open ms"}
		for _, class := range classes {
			head = append(head, class+" p50 us", "p95", "p99", "QPS", "QPS, clients")
		}
		head = append(head, quality(first.Task), "same ten")
		rows := [][]string{head}
		for _, row := range group {
			rows = append(rows, row.cells())
		}
		b.WriteString("\n\n")
		writeTable(&b, rows)
		for _, line := range verdicts(group) {
			fmt.Fprintf(&b, "\n%s\n", line)
		}
	}
	r.growth(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

const (
	// equalRecall is the largest allowed difference between the best recall and the recall of an engine. The times of an
	// engine with a lower recall cannot be compared.
	equalRecall = 0.01
	// saneMRR is the smallest allowed MRR, as a share of the best engine's MRR. An engine with a lower MRR has wrong
	// answers: another formula or stemmer alone does not cost so much.
	saneMRR = 0.6
)

// verdicts returns a sentence about each engine whose quality is far below the best quality in the group. The times of
// such an engine mean little.
func verdicts(group []Row) (lines []string) {
	best := slices.MaxFunc(group, func(a, b Row) int { return cmp.Compare(a.quality(), b.quality()) }) // NaN is least
	for i := range group {
		row := &group[i]
		mine, most := row.quality(), best.quality()
		switch nearest := row.Task.nearest(); {
		case row.Result == nil:
		case nearest && mine < most-equalRecall:
			lines = append(lines, fmt.Sprintf("%s finds %s of the nearest where %s finds %s: recall is not equal, and its "+
				"times are those of an easier task.",
				row.Peer, digits(mine), best.Peer, digits(most)))
		case !nearest && mine < most*saneMRR:
			lines = append(lines, fmt.Sprintf("%s finds known chunks with an MRR of %s where %s has %s: its answers are not "+
				"sane, or it was stopped early, and its times mean little.",
				row.Peer, digits(mine), best.Peer, digits(most)))
		}
	}
	return lines
}

func quality(t Task) string {
	if t.nearest() {
		return "recall@10"
	}
	return "known-item MRR@10"
}

// groups returns the rows for each pair of a task and a size, in the order of the run.
func (r *Report) groups() [][]Row {
	var out [][]Row
	for _, row := range r.Rows {
		i := slices.IndexFunc(out, func(g []Row) bool { return g[0].Task == row.Task && g[0].Chunks == row.Chunks })
		if i < 0 {
			out = append(out, nil)
			i = len(out) - 1
		}
		out[i] = append(out[i], row)
	}
	return out
}

func (row *Row) cells() []string {
	if row.Result == nil {
		return []string{row.Peer, "failed: " + row.Fault}
	}
	r := row.Result
	cells := []string{
		strings.TrimSpace(row.Peer + " " + r.Version),
		digits(float64(row.InputBytes) / 1e6 / r.BuildSeconds), digits(float64(r.IndexBytes) / float64(row.InputBytes)),
		megabytes(r.PeakBytes), megabytes(r.SearchBytes), "",
	}
	if r.OpenSeconds > 0 {
		cells[5] = digits(r.OpenSeconds * 1000)
	}
	for _, class := range classes {
		c := r.Classes[class]
		if c == nil {
			cells = append(cells, "", "", "", "", "")
			continue
		}
		cells = append(cells, digits(c.Quantile(0.5)), digits(c.Quantile(0.95)), digits(c.Quantile(0.99)), digits(c.QPS),
			digits(c.ClientsQPS))
	}
	return append(cells, digits(row.quality()), digits(row.Same))
}

// digits formats a number with about three digits.
func digits(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return ""
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

func megabytes(n int64) string {
	if n <= 0 {
		return ""
	}
	return digits(float64(n) / 1e6)
}

// writeTable writes a Markdown table, in which each column is as wide as its widest cell. A row with fewer cells than
// the header, such as a row with a fault, does not widen a column.
func writeTable(b *strings.Builder, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			if len(row) == len(width) {
				width[i] = max(width[i], utf8.RuneCountInString(cell))
			}
		}
	}
	for n, row := range rows {
		for i, cell := range row {
			pad := width[i]
			if i == 0 {
				pad = -pad // the text begins at the left
			}
			fmt.Fprintf(b, "| %*s ", pad, cell)
		}
		b.WriteString("|\n")
		if n == 0 {
			b.WriteString("|---|" + strings.Repeat("---:|", len(row)-1) + "\n")
		}
	}
}

// growth writes a table for each task and each class of queries. The tables show how every engine's times grow with the
// number of chunks, and how concurrent clients change the times.
func (r *Report) growth(b *strings.Builder) {
	var sizes []int
	for _, row := range r.Rows {
		if !slices.Contains(sizes, row.Chunks) {
			sizes = append(sizes, row.Chunks)
		}
	}
	slices.Sort(sizes)
	for _, task := range Tasks {
		for _, class := range classes {
			lines := r.series(task, class)
			if len(lines) == 0 {
				continue
			}
			head := []string{"engine"}
			for _, name := range []string{"p50", "p99"} {
				for i, n := range sizes {
					head = append(head, fmt.Sprintf("%s at %d", name, n))
					if i > 0 {
						head = append(head, "times")
					}
				}
			}
			table := [][]string{append(head, fmt.Sprintf("%d clients: p50", r.Clients), "p99", "QPS")}
			for _, line := range lines {
				table = append(table, line.cells(sizes))
			}
			fmt.Fprintf(b, "\n%s, %s queries: how times move from size to size, and at the largest from 1 client to %d\n\n",
				task, class, r.Clients)
			writeTable(b, table)
		}
	}
}

// line has the measurements of one engine for one task and one class of queries, by the number of chunks.
type line struct {
	peer    string
	classes map[int]*Class
}

// series returns one line for each engine, in the order of the run.
func (r *Report) series(task Task, class string) []line {
	var out []line
	for _, row := range r.Rows {
		if row.Task != task || row.Result == nil || row.Result.Classes[class] == nil {
			continue
		}
		i := slices.IndexFunc(out, func(l line) bool { return l.peer == row.Peer })
		if i < 0 {
			out = append(out, line{row.Peer, map[int]*Class{}})
			i = len(out) - 1
		}
		out[i].classes[row.Chunks] = row.Result.Classes[class]
	}
	return out
}

func (l *line) cells(sizes []int) []string {
	cells := []string{l.peer}
	for _, q := range []float64{0.5, 0.99} {
		before := math.NaN()
		for i, n := range sizes {
			now := math.NaN()
			if c := l.classes[n]; c != nil {
				now = c.Quantile(q)
			}
			cells = append(cells, micros(now))
			if i > 0 {
				cells = append(cells, digits(now/before))
			}
			before = now
		}
	}
	var last *Class
	for _, n := range sizes {
		if c := l.classes[n]; c != nil {
			last = c
		}
	}
	return append(cells, digits(quantile(last.ClientsMicros, 0.5)/last.Quantile(0.5)),
		digits(quantile(last.ClientsMicros, 0.99)/last.Quantile(0.99)), digits(last.ClientsQPS/last.QPS))
}

// plotColors are the colors of the engines; the first is for Sheaf's. Most color-blind people can tell them apart.
var plotColors = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#000000"}

const (
	plotWidth  = 720
	panelHigh  = 300
	plotLeft   = 70
	plotRight  = 150
	plotBottom = 50
)

// SVG writes a picture with one panel for each task and class. A panel shows every engine's times over the number of
// chunks: a line for p50, dashed for p99. Both axes are logarithmic.
func (r *Report) SVG(w io.Writer) error {
	var peers []string
	for _, row := range r.Rows {
		if row.Result != nil && !slices.Contains(peers, row.Peer) {
			peers = append(peers, row.Peer)
		}
	}
	var panels []string
	for _, task := range Tasks {
		for _, class := range classes {
			if lines := r.series(task, class); len(lines) > 0 {
				title := fmt.Sprintf("%s, %s queries: p50 (line), p99 (dashes)", task, class)
				panels = append(panels, panel(title, lines, peers, float64(panelHigh*len(panels))))
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" `+
		`font-size="12">`+"\n", plotWidth, panelHigh*len(panels))
	b.WriteString(`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	b.WriteString(strings.Join(panels, "") + "</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// panel draws the lines of one task and class. y0 is the top of the panel.
func panel(title string, lines []line, peers []string, y0 float64) string {
	b := &strings.Builder{}
	lowX, highX, lowY, highY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	ticks := map[int]bool{}
	for _, l := range lines {
		for chunks, c := range l.classes {
			ticks[chunks] = true
			lowX, highX = min(lowX, float64(chunks)), max(highX, float64(chunks))
			lowY, highY = min(lowY, c.Quantile(0.5)), max(highY, c.Quantile(0.99))
		}
	}
	lowX, highX = lowX/1.2, highX*1.2
	lowY, highY = math.Pow(10, math.Floor(math.Log10(max(lowY, 0.1)))), math.Pow(10, math.Ceil(math.Log10(max(highY, 1))))
	x := func(v float64) float64 {
		return plotLeft + (math.Log(v)-math.Log(lowX))/(math.Log(highX)-math.Log(lowX))*(plotWidth-plotLeft-plotRight)
	}
	y := func(v float64) float64 {
		return y0 + panelHigh - plotBottom - (math.Log(max(v,
			lowY))-math.Log(lowY))/(math.Log(highY)-math.Log(lowY))*(panelHigh-plotBottom-30)
	}
	fmt.Fprintf(b, `<text x="%d" y="%.1f" font-weight="bold">%s</text>`+"\n", plotLeft, y0+18, html.EscapeString(title))
	for v := lowY; v <= highY*1.01; v *= 10 {
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#dddddd"/><text x="%d" y="%.1f" `+
			`text-anchor="end">%s</text>`+"\n",
			plotLeft, plotWidth-plotRight, y(v), y(v), plotLeft-6, y(v)+4, micros(v))
	}
	for _, l := range lines {
		n := slices.Index(peers, l.peer)
		color := plotColors[n%len(plotColors)]
		var p50, p99 strings.Builder
		for _, chunks := range slices.Sorted(maps.Keys(l.classes)) {
			at, low, high := x(float64(chunks)), l.classes[chunks].Quantile(0.5), l.classes[chunks].Quantile(0.99)
			fmt.Fprintf(&p50, "%.1f,%.1f ", at, y(low))
			fmt.Fprintf(&p99, "%.1f,%.1f ", at, y(high))
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"><title>%s: p50 %s, p99 %s</title></circle>`+"\n",
				at, y(low), color, html.EscapeString(l.peer), micros(low), micros(high))
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/><polyline points="%s" fill="none" `+
			`stroke="%s" stroke-dasharray="4 3"/>`+"\n",
			p50.String(), color, p99.String(), color)
		at := y0 + 40 + float64(18*n)
		fmt.Fprintf(b, `<rect x="%d" y="%.1f" width="12" height="12" fill="%s"/><text x="%d" y="%.1f">%s</text>`+"\n",
			plotWidth-plotRight+12, at-10, color, plotWidth-plotRight+30, at, html.EscapeString(l.peer))
	}
	for _, v := range slices.Sorted(maps.Keys(ticks)) {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle">%d</text>`+"\n", x(float64(v)),
			y0+panelHigh-plotBottom+18, v)
	}
	fmt.Fprintf(b, `<text x="%d" y="%.1f" text-anchor="middle">chunks</text>`+"\n", (plotWidth-plotRight+plotLeft)/2,
		y0+panelHigh-12)
	return b.String()
}

// micros formats a time in microseconds for people. NaN gives "".
func micros(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case v >= 1e6:
		return digits(v/1e6) + " s"
	case v >= 1e3:
		return digits(v/1e3) + " ms"
	}
	return digits(v) + " us"
}
