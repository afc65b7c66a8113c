// Package terminal finds out whether a stream is a terminal, has colors and links, and how wide it is. It also draws
// progress bars. Text from files goes through wording.Clean first, so that it cannot control the terminal.
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
