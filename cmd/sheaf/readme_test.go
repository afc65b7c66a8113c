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
)

var updateReadme = flag.Bool("update-readme", false, "write the output of this program into README.md")

// shownOutput finds a block of README.md that shows a command on examples/notes and its output.
var shownOutput = regexp.MustCompile("(?s)```console\n\\$ (sheaf [^\n]+ --in examples/notes[^\n]*)\n(.*?)```\n")

// shownLines is how many lines of a long output README.md shows.
const shownLines = 11

// TestReadmeOutput runs the commands that README.md shows with their output, and compares. A line
// "..." stands for lines that are left out.
func TestReadmeOutput(t *testing.T) {
	for _, name := range []string{"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	t.Setenv("COLUMNS", "100")
	t.Chdir(filepath.Join("..", ".."))
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := shownOutput.FindAllSubmatch(readme, -1)
	if len(blocks) == 0 {
		t.Fatal("README.md shows no command on examples/notes")
	}
	for _, block := range blocks {
		out, err := exec.Command("sheaf", shellWords(string(block[1]))[1:]...).Output()
		if err != nil {
			t.Errorf("%s: %v", block[1], err)
			continue
		}
		got := trimmedLines(string(out))
		shown := string(block[2])
		head, cut := strings.CutSuffix(shown, "...\n")
		if *updateReadme {
			if cut {
				lines := strings.SplitAfter(got, "\n")
				got = strings.Join(lines[:min(len(lines), shownLines)], "") + "...\n"
			}
			readme = bytes.Replace(readme, block[2], []byte(got), 1)
			continue
		}
		if got != shown && !(cut && strings.HasPrefix(got, head)) {
			t.Errorf("%s prints\n%s\nREADME.md shows\n%s\nsh scripts/readme.sh writes it again", block[1], got, shown)
		}
	}
	if *updateReadme {
		if err := os.WriteFile("README.md", readme, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// trimmedLines is text without spaces at the ends of lines.
func trimmedLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}
