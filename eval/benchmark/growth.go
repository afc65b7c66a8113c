package benchmark

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

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
