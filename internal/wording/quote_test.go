package wording_test

import (
	"os/exec"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/internal/wording"
)

// TestShellQuoted checks that a shell reads the quoted text as one unchanged word.
func TestShellQuoted(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skipf("no sh: %v", err)
	}
	for _, text := range []string{"", "embedded", "/notes/a-b.md", "/my notes/x", "postgres://me@host/db?schema=a&hnsw=16",
		"opensearch://host/it's'", "$(id) `id` \\ \"x\" * ;\n#"} {
		got := must.Get(exec.Command(sh, "-c", "printf %s "+wording.ShellQuoted(text)).Output())
		check.Equal(t, string(got), text, "reading of a shell for %q", wording.ShellQuoted(text))
	}
}
