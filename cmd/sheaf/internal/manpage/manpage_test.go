package manpage

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// wide is a line of a help text that, with the margin of a manual, is wider than most terminals.
const wide = "It is a line of a help text that is as long as such lines may be in most programs"

func tree() *cobra.Command {
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "tool", Short: "Does things", Long: "tool does things:\n\n.profile is a " +
		"file\n'quoted' \\n\n" + wide + "\n" + wide + "\n\nOne of\n  two\n  three", Run: run}
	root.PersistentFlags().String("in", "", "work in this `FOLDER`")
	sub := &cobra.Command{Use: "do THING", Short: "Does one thing", Example: "  tool do --all 'a b'", Run: run}
	sub.Flags().BoolP("all", "a", false, "everything")
	sub.Flags().Bool("quick", true, "not all of it")
	sub.Flags().StringSlice("kinds", []string{"a", "b"}, "of these")
	sub.Flags().String("to", "x:1", "there")
	sub.Flags().Bool("secret", false, "not shown")
	_ = sub.Flags().MarkHidden("secret")
	root.AddCommand(sub, &cobra.Command{Use: "hidden", Hidden: true, Run: run})
	return root
}

func TestPage(t *testing.T) {
	cmd, _, err := tree().Find([]string{"do"})
	must.Do(t, err)
	want := `.TH "TOOL\-DO" 1 2026-01-02 "tool 1.2"
.nh
.ad l
.SH NAME
tool\-do \- Does one thing
.SH SYNOPSIS
.B tool do THING [flags]
.SH DESCRIPTION
Does one thing.
.SH OPTIONS
.TP
.B \-a, \-\-all
everything
.TP
.B \-\-kinds strings
of these (default [a,b])
.TP
.B \-\-quick
not all of it (default true)
.TP
.B \-\-to string
there (default \(dqx:1\(dq)
.SH OPTIONS OF EVERY COMMAND
.TP
.B \-\-in FOLDER
work in this FOLDER
.SH EXAMPLES
.nf
  tool do \-\-all \(aqa b\(aq
.fi
.SH SEE ALSO
.BR tool (1)
`
	diff := cmp.Diff(want, string(Page(cmd, "1.2", date)))
	check.That(t, diff == "", "%v", diff)
}

var date = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// TestPageKeepsText checks that no line of a help text becomes a request, and that a page lists its commands.
func TestPageKeepsText(t *testing.T) {
	page := string(Page(tree(), "1.2", date))
	check.Contains(t, page, "\n"+`\&.profile is a file`+"\n", "\n"+`\(aqquoted\(aq \en`+"\n",
		"\n.SH COMMANDS\n.TP\n.BR tool\\-do (1)\nDoes one thing\n")
	check.That(t, !strings.Contains(page, "hidden"), "a hidden command is listed in\n%s", page)
}

// TestGroffShowsTextAsWritten checks that groff shows the text as written.
func TestGroffShowsTextAsWritten(t *testing.T) {
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("no groff: the pages are not rendered")
	}
	cmd := exec.Command("groff", "-man", "-Tascii", "-ww", "-P-bcou")
	cmd.Stdin = bytes.NewReader(Page(tree(), "1.2", date))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	must.That(t, err == nil, "groff: %v\n%s", err, stderr.String())
	check.Contains(t, out, ".profile is a file", `'quoted' \n`)
	check.Contains(t, out, "One of\n         two\n         three\n")
	for line := range strings.Lines(string(out)) {
		check.That(t, len(line) <= 80, "wider than a terminal: %q", line)
	}
	check.That(t, stderr.Len() == 0, "groff warns: %s", stderr.String())
}
