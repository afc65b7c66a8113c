package main

import (
	"bufio"
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with testdata/NAME.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		must.Do(t, os.WriteFile(path, got, 0o644))
	}
	want := must.Get(os.ReadFile(path))
	check.That(t, bytes.Equal(got, want), "%s: got\n%s\nwant\n%s", name, got, want)
}

func answer() *searchJSON {
	return &searchJSON{
		Schema: searchSchema, Query: "undo commit", Profile: "sheaf", TookMS: 3.25, Total: 2, Warnings: []string{},
		Notes: []string{},
		Results: []resultJSON{
			{
				Rank: 1, ID: "notes:git.md#undo", Doc: "notes:git.md", Path: "git.md", Title: "Undo", Breadcrumb: "> Git › Undo",
				Span: span{10, 90}, Line: 3, Score: 0.91234, Snippet: "To undo a commit that nobody has seen yet, move the " +
					"branch back by one.",
				Matches: []span{{3, 7}, {10, 16}}, Tags: []string{"git"}, hierarchy: []string{"Git", "Undo"}, file: "/notes/git.md",
				Explanation: &sheaf.Explanation{Label: "words", Value: 0.91234, Combine: sheaf.CombineSum,
					Parts: []sheaf.Explanation{
						{Label: "undo in body", Value: 0.5}, {Label: "commit in body", Value: 0.41234},
					}},
			},
			{
				Rank: 2, ID: "notes:evil.md", Doc: "notes:evil.md", Path: "evil\x1b[2J.md", Title: "Evil", Breadcrumb: "> Evil",
				Line: 1, Score: 0.00123, Snippet: "数据库 commit \x1b]0;x\x07", Matches: []span{{0, 9}, {10, 16}},
				Tags: []string{},
				hierarchy: []string{"A very long title of a document that does not fit", "Its first heading is long as well",
					"E\x07vil"}, file: "/notes/evil.md",
			},
		},
	}
}

func render(t *testing.T, out terminal.Output) []byte {
	t.Helper()
	c := must.Get(config.Load(config.Options{}))
	var buffer bytes.Buffer
	a := &app{streams: streams{stdout: bufio.NewWriter(&buffer), out: &out}, config: c}
	must.Do(t, a.printSearch(answer()))
	must.Do(t, a.flush())
	return buffer.Bytes()
}

// TestResultsOnTerminal checks colors, links, line breaks and removed control characters on terminals. TestRecorded
// has other outputs.
func TestResultsOnTerminal(t *testing.T) {
	golden(t, "results_terminal.golden", render(t, terminal.Output{Terminal: true, Color: true, Links: true, Width: 60}))
	golden(t, "results_dumb.golden", render(t, terminal.Output{Terminal: true, Width: 40}))
}
