package report

import (
	"fmt"
	"html"
	"math"
	"strings"

	"sheaf/eval"
	"sheaf/eval/calibrate"
)

// These are sizes of a plot and of the margins for its labels, in pixels.
const (
	plotWidth, plotHeight = 420, 300
	roomLeft, roomBottom  = 52, 44
	roomTop, roomRight    = 14, 14
)

// colors distinguish the columns. If there are more columns than colors, colors repeat.
var colors = []string{"#3468c0", "#d1603d", "#2e8b57", "#8e5bb5", "#b8860b", "#c2497b", "#2f9aa8", "#7a7a7a"}

func color(i int) string { return colors[i%len(colors)] }

// axis converts values to positions in pixels.
type axis struct {
	low, high float64
	from, to  float64 // pixels of low and high
	log       bool
	label     string
	ticks     []float64
}

func (a *axis) at(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		v, low, high = math.Log(max(v, a.low)), math.Log(low), math.Log(high)
	}
	if high == low {
		return (a.from + a.to) / 2
	}
	return a.from + (v-low)/(high-low)*(a.to-a.from)
}

// canvas is a plot that is not finished yet.
type canvas struct {
	strings.Builder
	x, y axis
}

func newCanvas(x, y axis) *canvas {
	x.from, x.to = roomLeft, plotWidth-roomRight
	y.from, y.to = plotHeight-roomBottom, roomTop
	c := &canvas{x: x, y: y}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" `+
		`font-size="11" fill="currentColor">`, plotWidth, plotHeight, plotWidth, plotHeight)
	for _, t := range c.x.ticks {
		at := c.x.at(t)
		c.line(at, c.y.from, at, c.y.to, "currentColor", `stroke-opacity="0.12"`)
		c.text(at, c.y.from+14, "middle", number(t))
	}
	for _, t := range c.y.ticks {
		at := c.y.at(t)
		c.line(c.x.from, at, c.x.to, at, "currentColor", `stroke-opacity="0.12"`)
		c.text(c.x.from-5, at+4, "end", number(t))
	}
	c.text((c.x.from+c.x.to)/2, plotHeight-8, "middle", c.x.label)
	fmt.Fprintf(c, `<text transform="translate(12 %.1f) rotate(-90)" text-anchor="middle">%s</text>`, (c.y.from+c.y.to)/2,
		html.EscapeString(c.y.label))
	return c
}

func (c *canvas) line(x1, y1, x2, y2 float64, stroke, more string) {
	fmt.Fprintf(c, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" %s/>`, x1, y1, x2, y2, stroke, more)
}

func (c *canvas) text(x, y float64, anchor, text string) {
	fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, html.EscapeString(text))
}

// dot draws a point with the tooltip title.
func (c *canvas) dot(x, y, radius float64, fill, title string) {
	fmt.Fprintf(c, `<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s"><title>%s</title></circle>`, x, y, radius, fill,
		html.EscapeString(title))
}

func (c *canvas) done() string {
	c.WriteString("</svg>")
	return c.String()
}

func number(v float64) string {
	if v != 0 && math.Abs(v) < 0.01 {
		return fmt.Sprintf("%.3g", v)
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

// ticksOf returns about n round numbers between low and high, for the labels of an axis.
func ticksOf(low, high float64, n int) []float64 {
	if !(high > low) {
		return []float64{low}
	}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/float64(n))))
	for _, f := range []float64{1, 2, 5, 10} {
		if (high-low)/(step*f) <= float64(n) {
			step *= f
			break
		}
	}
	var out []float64
	for i := math.Ceil(low/step - 1e-9); i*step <= high+step*1e-9; i++ {
		out = append(out, i*step)
	}
	return out
}

// share returns an axis for values from 0 to 1, with this label.
func share(label string) axis {
	return axis{low: 0, high: 1, label: label, ticks: []float64{0, 0.2, 0.4, 0.6, 0.8, 1}}
}

// qualityPlot plots the first measure of each column over its median latency. It shows the interval of the measure too.
// If no column has a latency, it returns "".
func qualityPlot(r *eval.Report) string {
	low, high, fast, slow := 1.0, 0.0, math.Inf(1), 0.0
	for i := range r.Columns {
		if c := &r.Columns[i]; c.Latency != nil {
			low, high = min(low, c.Scores[0].Range.Low), max(high, c.Scores[0].Range.High)
			fast, slow = min(fast, c.Latency.P50), max(slow, c.Latency.P50)
		}
	}
	if slow == 0 {
		return ""
	}
	y := axis{low: max(0, low-0.02), high: min(1, high+0.02), label: r.Measures[0]}
	y.ticks = ticksOf(y.low, y.high, 6)
	x := axis{low: max(fast/1.6, 1e-3), high: slow * 1.6, log: true, label: "median latency, ms"}
	for e := math.Floor(math.Log10(x.low)); e <= math.Log10(x.high); e++ {
		for _, f := range []float64{1, 2, 5} {
			if t := f * math.Pow(10, e); t >= x.low && t <= x.high {
				x.ticks = append(x.ticks, t)
			}
		}
	}
	c := newCanvas(x, y)
	for i := range r.Columns {
		col := &r.Columns[i]
		if col.Latency == nil {
			continue
		}
		s := col.Scores[0]
		at := c.x.at(col.Latency.P50)
		c.line(at, c.y.at(s.Range.Low), at, c.y.at(s.Range.High), color(i), `stroke-width="1.5" stroke-opacity="0.6"`)
		c.dot(at, c.y.at(s.Mean), 5, color(i),
			fmt.Sprintf("%s: %s %.4f, %.2f ms", col.Name, s.Measure, s.Mean, col.Latency.P50))
	}
	return c.done()
}

// curvePlot plots the mean interpolated precision of each column over the recall.
func curvePlot(r *eval.Report) string {
	c := newCanvas(share("recall"), share("precision"))
	for i := range r.Columns {
		var points strings.Builder
		for j, p := range r.Columns[i].Curve {
			fmt.Fprintf(&points, "%.1f,%.1f ", c.x.at(float64(j)/10), c.y.at(p))
		}
		fmt.Fprintf(c, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"><title>%s</title></polyline>`,
			strings.TrimSpace(points.String()), color(i), html.EscapeString(r.Columns[i].Name))
	}
	return c.done()
}

// changesPlot draws a bar for the gain or loss of each query. The bars are sorted.
func changesPlot(changes []eval.Change, measure string) string {
	most := 0.0
	for _, ch := range changes {
		most = max(most, math.Abs(ch.Difference()))
	}
	if most == 0 {
		return ""
	}
	c := newCanvas(axis{low: 0, high: float64(len(changes)), label: fmt.Sprintf("%d queries that differ", len(changes))},
		axis{low: -most, high: most, label: "difference in " + measure, ticks: ticksOf(-most, most, 6)})
	zero, width := c.y.at(0), max(0.3, (c.x.to-c.x.from)/float64(len(changes))*0.85)
	for i, ch := range changes {
		top, fill := c.y.at(max(ch.Difference(), 0)), "#2e8b57"
		if ch.Difference() < 0 {
			fill = "#c0392b"
		}
		fmt.Fprintf(c, `<rect x="%.1f" y="%.1f" width="%.2f" height="%.1f" fill="%s"><title>%s</title></rect>`,
			c.x.at(float64(i)), top, width,
			math.Abs(c.y.at(ch.Difference())-zero), fill,
			html.EscapeString(fmt.Sprintf("%s %s: %.3f, was %.3f", ch.Query, shorten(ch.Text), ch.After, ch.Before)))
	}
	return c.done()
}

// shorten cuts a text after about eighty characters.
func shorten(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// Reliability draws a calibration as an SVG picture: the share of right answers over the probability. A point on the
// diagonal is exact. The area of a point is the share of all samples that its bin has.
func Reliability(bins []calibrate.Bin, label string) string {
	c := newCanvas(share(label), share("share that is right"))
	c.line(c.x.at(0), c.y.at(0), c.x.at(1), c.y.at(1), "currentColor", `stroke-dasharray="4 4" stroke-opacity="0.5"`)
	total := 0
	for _, b := range bins {
		total += b.Count
	}
	for _, b := range bins {
		if b.Count > 0 {
			radius := 3 + 14*math.Sqrt(float64(b.Count)/float64(total))
			fmt.Fprintf(c, `<g fill-opacity="0.75">`)
			c.dot(c.x.at(b.Mean), c.y.at(b.Right), radius, colors[0],
				fmt.Sprintf("%d samples, mean %.3f, right %.3f", b.Count, b.Mean, b.Right))
			c.WriteString("</g>")
		}
	}
	c.text(c.x.at(0.02), c.y.at(0.95), "start", fmt.Sprintf("expected calibration error %.3f", calibrate.Error(bins)))
	return c.done()
}
