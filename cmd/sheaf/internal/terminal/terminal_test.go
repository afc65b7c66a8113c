package terminal

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

func TestColors(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	for _, c := range []struct {
		name, mode string
		auto       bool
		env        func(string) string
		want       bool
	}{
		{"terminal", "auto", true, env(), true},
		{"pipe", "auto", false, env(), false},
		{"NO_COLOR", "auto", true, env("NO_COLOR", "1"), false},
		{"empty NO_COLOR", "auto", true, env("NO_COLOR", ""), true},
		{"CLICOLOR_FORCE", "auto", false, env("CLICOLOR_FORCE", "1"), true},
		{"CLICOLOR_FORCE=0", "auto", false, env("CLICOLOR_FORCE", "0"), false},
		{"NO_COLOR beats force", "auto", false, env("CLICOLOR_FORCE", "1", "NO_COLOR", "1"), false},
		{"always", "always", false, env("NO_COLOR", "1"), true},
		{"never", "never", true, env("CLICOLOR_FORCE", "1"), false},
	} {
		check.Equal(t, wantsColor(c.mode, c.auto, c.env), c.want, "%s: color", c.name)
	}
}

func TestFilesAreNoTerminals(t *testing.T) {
	f := must.Get(os.Create(filepath.Join(t.TempDir(), "out")))
	defer f.Close()
	out := Open(f, "always", func(string) string { return "" })
	check.That(t, !out.Terminal && !out.Links && out.Color, "a file is %+v", out)
	check.Equal(t, out.Link("file:///a", "a"), "a", "a link without a terminal")
}

func TestFileAddress(t *testing.T) {
	for _, c := range []struct{ template, path, want string }{
		{"file://{path}", "/a b/ü#1.md", "file:///a%20b/%C3%BC%231.md"},
		{"vscode://file{path}:{line}", "/x.md", "vscode://file/x.md:7"},
		{"obsidian://open?path={path}", "/a b/c & d+e.md", "obsidian://open?path=%2Fa%20b%2Fc%20%26%20d%2Be.md"},
		{"txmt://open?url=file://{path}&line={line}", "/a&b.md", "txmt://open?url=file://%2Fa%26b.md&line=7"},
		{"", "/x.md", ""},
	} {
		check.Equal(t, FileAddress(c.template, c.path, 7), c.want, "FileAddress(%q, %q)", c.template, c.path)
	}
}

// TestProgressFits checks that the remaining time fits on a terminal of usual width, by shrinking
// the bar.
func TestProgressFits(t *testing.T) {
	for _, c := range []struct {
		width, begun, done, total int
		want                      string
	}{
		{100, 0, 50, 100, "indexing [##########..........]  50%  50 of 100 files  25/s  2.5 MB/s  2s left"},
		{79, 0, 2500, 123456, "indexing [........]   2%  2,500 of 123,456 files  1,250/s  2.5 MB/s  1m37s left"},
		{70, 0, 2500, 123456, "indexing   2%  2,500 of 123,456 files  1,250/s  2.5 MB/s  1m37s left"},
		{100, 40, 50, 100, "indexing [##########..........]  50%  50 of 100 files  5/s  2.5 MB/s  10s left"},
		{100, 50, 50, 100, "indexing [##########..........]  50%  50 of 100 files  0/s  2.5 MB/s"},
	} {
		got := progressLine("indexing", "files", c.begun, c.done, c.total, 5_000_000, 2*time.Second, c.width)
		check.That(t, got == c.want && len(got) <= c.width, "%q of %d, want %q", got, len(got), c.want)
	}
}

func TestProgressIsForTerminals(t *testing.T) {
	var pipe, screen bytes.Buffer
	for _, c := range []struct {
		w        *bytes.Buffer
		terminal bool
	}{{&pipe, false}, {&screen, true}} {
		p := NewProgress(&Output{Writer: c.w, Terminal: c.terminal, Width: 80}, "indexing")
		p.Update(1, 100, 10, "files")
		p.start = p.start.Add(-2 * time.Second)
		p.Update(50, 100, 5_000_000, "files")
		p.Done()
	}
	check.That(t, pipe.Len() == 0, "a pipe got %q", pipe.String())
	check.Contains(t, screen.String(), "50%", "50 of 100 files", "25/s", "2.5 MB/s", "2s left")
	check.That(t, !strings.Contains(screen.String(), "  1%"), "the first half second drew %q", screen.String())
}
