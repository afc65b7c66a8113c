// Package terminal finds out whether a stream is a terminal, has colors and links, and how wide it is. It also draws
// progress bars. Text from files goes through wording.Clean first, so that it cannot control the terminal.
package terminal

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"sheaf/internal/wording"
)

// Output is an output stream and the features that it supports.
type Output struct {
	io.Writer
	// Terminal says that the stream is a terminal.
	Terminal bool
	// Color says that escape sequences for colors are allowed.
	Color bool
	// Links says that OSC 8 links are allowed.
	Links bool
	// Width is the number of columns, 80 if unknown.
	Width int
}

// Open returns the Output for f. mode is "always", "never" or "auto". In auto mode, a terminal has colors unless TERM
// is "dumb". NO_COLOR switches colors off, and CLICOLOR_FORCE switches them on. Without colors there are no links:
// users who switch colors off want no escape sequences.
func Open(f *os.File, mode string, getenv func(string) string) *Output {
	out := &Output{Writer: f, Width: 80}
	out.Terminal = term.IsTerminal(int(f.Fd()))
	if out.Terminal {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			out.Width = width
		}
	}
	dumb := getenv("TERM") == "dumb"
	out.Color = wantsColor(mode, out.Terminal && !dumb, getenv)
	out.Links = out.Terminal && !dumb && out.Color
	return out
}

func wantsColor(mode string, auto bool, getenv func(string) string) bool {
	force := getenv("CLICOLOR_FORCE")
	switch {
	case mode == "always":
		return true
	case mode == "never", getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return auto
}

// Style is the number of a terminal style, such as "1" for bold. Several numbers are joined by semicolons (SGR codes).
type Style string

// These are the styles that the program uses.
const (
	Dim     Style = "2"
	Match   Style = "1;31"
	Path    Style = "35"
	Number  Style = "32"
	Title   Style = "1;36"
	Fault   Style = "1;31"
	Notice  Style = "33"
	Removed Style = "31"
	Added   Style = "32"
)

// Paint returns text in a style, or plain text if colors are off.
func (o *Output) Paint(s Style, text string) string {
	if !o.Color || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// Link returns text with a link to address, or plain text if links are off.
func (o *Output) Link(address, text string) string {
	if !o.Links || address == "" {
		return text
	}
	return "\x1b]8;;" + address + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}

// FileAddress replaces {path} and {line} in a template such as "file://{path}". The path becomes absolute and
// percent-encoded. If {path} is behind "?", FileAddress also encodes slashes, "&" and "=", as
// "obsidian://open?path={path}" needs.
func FileAddress(template, path string, line int) string {
	if template == "" {
		return ""
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	escaped := (&url.URL{Path: slashed}).EscapedPath()
	if before, _, _ := strings.Cut(template, "{path}"); strings.Contains(before, "?") {
		if strings.HasSuffix(before, "=") { // the value is a path, not part of an address
			slashed = path
		}
		escaped = strings.ReplaceAll(url.QueryEscape(slashed), "+", "%20")
	}
	return strings.NewReplacer("{path}", escaped, "{line}", strconv.Itoa(max(line, 1))).Replace(template)
}

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

// progressLine returns the line to show. The bar gets the part of width columns that the label and the numbers leave.
// done and total count units; a total of 0 means unknown. earlier counts the units that earlier work did; done includes
// them. elapsed is the time for the other units.
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
