package benchmark

import (
	"fmt"
	"html"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

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
