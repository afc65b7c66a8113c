// Package terminal answers the question "how may this output look?": whether
// it is a terminal, whether it may have colors and links, and how wide it is.
// It also draws progress bars. Text from files goes through wording.Clean before a
// person sees it, so that a document cannot steer the terminal.
package terminal

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// Output is a stream with what is known about it.
type Output struct {
	io.Writer
	// Terminal says that a person looks at it.
	Terminal bool
	// Color says that escape sequences for colors are wanted.
	Color bool
	// Links says that the terminal may be given OSC 8 links.
	Links bool
	// Width is the number of columns, 80 when it is not known.
	Width int
}

// Open describes f. mode is "always", "never" or "auto"; with auto, colors are
// for terminals other than TERM=dumb, unless NO_COLOR (off) or
// CLICOLOR_FORCE (on) say otherwise. Links are for terminals that have colors,
// whatever the mode: who wants no colors wants no escape sequences.
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

// Style is the number of an SGR sequence, several joined by semicolons.
type Style string

// The styles in use.
const (
	Dim    Style = "2"
	Match  Style = "1;31"
	Path   Style = "35"
	Number Style = "32"
	Title  Style = "1;36"
	Fault  Style = "1;31"
	Notice Style = "33"
)

// Paint is text in a style, or text alone when colors are not wanted.
func (o *Output) Paint(s Style, text string) string {
	if !o.Color || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// Link is text that leads to address, or text alone where links are not
// wanted.
func (o *Output) Link(address, text string) string {
	if !o.Links || address == "" {
		return text
	}
	return "\x1b]8;;" + address + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}

// FileAddress fills {path} (absolute, percent-encoded) and {line} of a
// template such as "file://{path}". Behind "?", where & and = have a meaning,
// they and slashes are encoded too, as in "obsidian://open?path={path}".
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
		if strings.HasSuffix(before, "=") { // all of a value, which is no address
			slashed = path
		}
		escaped = strings.ReplaceAll(url.QueryEscape(slashed), "+", "%20")
	}
	return strings.NewReplacer("{path}", escaped, "{line}", strconv.Itoa(max(line, 1))).Replace(template)
}
