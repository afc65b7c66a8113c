package terminal

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"sheaf/internal/wording"
)

// Progress shows the progress of long work in one line: the percentage, the speed and the remaining time. It writes
// only to a terminal, and only after half a second. It is safe for concurrent use.
type Progress struct {
	out   *Output
	label string
	start time.Time
	begun int // units done before this work

	mu    sync.Mutex
	drawn time.Time
	shown bool
}

const (
	progressDelay    = 500 * time.Millisecond
	progressInterval = 100 * time.Millisecond
)

// NewProgress returns a Progress and starts its clock. out is usually the error stream of the process.
func NewProgress(out *Output, label string) *Progress {
	return &Progress{out: out, label: label, start: time.Now()}
}

// GoOn sets how many units earlier work has done. The percentage includes these units, but the speed does not.
func (p *Progress) GoOn(done int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun = done
}

// Update reports that done of total units are done, and how many bytes the work has read. A total of 0 means unknown.
// unit is a plural noun, for example "files".
func (p *Progress) Update(done, total int, bytes int64, unit string) {
	if !p.out.Terminal {
		return
	}
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.start) < progressDelay || now.Sub(p.drawn) < progressInterval {
		return
	}
	p.drawn, p.shown = now, true
	line := progressLine(p.label, unit, p.begun, done, total, bytes, now.Sub(p.start), p.out.Width-1)
	if len(line) > p.out.Width-1 {
		line = line[:p.out.Width-1]
	}
	fmt.Fprintf(p.out, "\r\x1b[K%s", line)
}

// Done removes the progress line from the terminal.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}

// mostBar is the largest width of the progress bar in columns. A bar with less space than leastBar is not drawn.
const (
	mostBar  = 20
	leastBar = 5
)

// progressLine returns the line to show. The bar gets the space in width columns that the label and the numbers leave
// free. done and total count units; a total of 0 means unknown. earlier counts the units that earlier work did; done
// includes them. elapsed is the time for the other units.
func progressLine(label, unit string, earlier, done, total int, bytes int64, elapsed time.Duration, width int) string {
	var b strings.Builder
	if total > 0 {
		fmt.Fprintf(&b, " %3d%%  %s of %s %s", min(100, 100*done/total), wording.Count(done), wording.Count(total), unit)
	} else {
		fmt.Fprintf(&b, "  %s %s", wording.Count(done), unit)
	}
	if seconds := elapsed.Seconds(); seconds > 0 {
		fmt.Fprintf(&b, "  %s/s", wording.Count(int(float64(done-earlier)/seconds+0.5)))
		if bytes > 0 {
			fmt.Fprintf(&b, "  %s/s", wording.Bytes(int64(float64(bytes)/seconds+0.5)))
		}
	}
	if total > done && done > earlier {
		left := time.Duration(float64(elapsed) * float64(total-done) / float64(done-earlier))
		fmt.Fprintf(&b, "  %s left", left.Round(time.Second))
	}
	if bar := min(mostBar, width-len(label)-b.Len()-len(" []")); total > 0 && bar >= leastBar {
		full := min(bar, bar*done/total)
		label += " [" + strings.Repeat("#", full) + strings.Repeat(".", bar-full) + "]"
	}
	return label + b.String()
}
