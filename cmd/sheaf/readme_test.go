package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sheaf/internal/must"
)

var updateReadme = flag.Bool("update-readme", false, "write the output of this program into README.md and doc")

// shownOutput finds a block of a page that shows a command on examples/notes and its output.
var shownOutput = regexp.MustCompile("(?s)```console\n\\$ (sheaf [^\n]+ --in examples/notes[^\n]*)\n(.*?)```\n")

// shownLines is the number of lines that a page shows of a long output.
const shownLines = 11

// TestReadmeOutput runs the commands that README.md and the pages of doc show with output, and
// compares the output. A line "..." stands for omitted lines.
func TestReadmeOutput(t *testing.T) {
	for _, name := range []string{"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	t.Setenv("COLUMNS", "100")
	t.Chdir(filepath.Join("..", ".."))
	pages := must.Get(filepath.Glob("doc/*.md"))
	for _, page := range append(pages, "README.md") {
		checkShownOutput(t, page)
	}
}

// checkShownOutput compares the output on one page, or writes it with -update-readme.
func checkShownOutput(t *testing.T, page string) {
	t.Helper()
	text := must.Get(os.ReadFile(page))
	blocks := shownOutput.FindAllSubmatch(text, -1)
	if len(blocks) == 0 && page == "README.md" {
		t.Fatal("README.md shows no command on examples/notes")
	}
	for _, block := range blocks {
		out, err := exec.Command("sheaf", shellWords(string(block[1]))[1:]...).Output()
		if err != nil {
			t.Errorf("%s: %s: %v", page, block[1], err)
			continue
		}
		got := trimmedLines(string(out))
		shown := string(block[2])
		head, cut := strings.CutSuffix(shown, "...\n")
		if *updateReadme {
			if lines := strings.SplitAfter(got, "\n"); cut && len(lines) > shownLines {
				got = strings.Join(lines[:shownLines], "") + "...\n"
			}
			text = bytes.Replace(text, block[0], bytes.Replace(block[0], block[2], []byte(got), 1), 1)
			continue
		}
		if got != shown && !(cut && strings.HasPrefix(got, head)) {
			t.Errorf("%s prints\n%s\n%s shows\n%s\nsh scripts/readme.sh writes it again", block[1], got, page, shown)
		}
	}
	if *updateReadme && len(blocks) > 0 {
		must.Do(t, os.WriteFile(page, text, 0o644))
	}
}

// trimmedLines removes spaces at the ends of lines.
func trimmedLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}
