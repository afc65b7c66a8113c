package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"sheaf"
	"sheaf/internal/wording"
)

// printJSON prints v as one JSON object. On a terminal, the object is indented; elsewhere it is on one line.
func (a *app) printJSON(v any) error {
	if !a.out.Terminal {
		return a.printLine(v)
	}
	encoder := json.NewEncoder(a.stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// print writes v as JSON if a flag asks for JSON. Otherwise it calls the function people.
func (a *app) print(v any, people func()) error {
	if a.json {
		return a.printJSON(v)
	}
	people()
	return nil
}

func (a *app) printLine(v any) error { return encodeLine(a.stdout, v) }

func encodeLine(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// span is a range. Its JSON is [start, end].
type span sheaf.Span

func (s span) MarshalJSON() ([]byte, error) { return json.Marshal([2]int{s.Start, s.End}) }

// orEmpty returns an empty slice for nil, so that JSON has [] instead of null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// largestFirst returns the keys of sizes, sorted by size from large to small.
func largestFirst[N cmp.Ordered](sizes map[string]N) []string {
	return slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
	})
}

// counted formats each count above 0 with its noun, for example "3 files".
func counted(counts []count) []string {
	var out []string
	for _, c := range counts {
		if c.n > 0 {
			out = append(out, wording.Count(c.n)+" "+c.noun)
		}
	}
	return out
}

type count struct {
	n    int
	noun string
}

// printTable prints rows in columns as wide as their widest cells, with two spaces between columns.
func (a *app) printTable(rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], displayWidth(cell))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-displayWidth(cell)+2))
			}
		}
		fmt.Fprintln(a.stdout, strings.TrimRight(b.String(), " "))
	}
}

// displayWidth returns how many terminal columns a text takes. It ignores escape sequences of this program.
func displayWidth(s string) int {
	width := 0
	for {
		before, after, found := strings.Cut(s, "\x1b[")
		width += uniseg.StringWidth(before)
		if !found {
			return width
		}
		_, s, _ = strings.Cut(after, "m")
	}
}
