package main

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"sheaf"
)

// TestShellQuoted: a shell gives back what was quoted for it, as one word.
func TestShellQuoted(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skipf("no sh: %v", err)
	}
	for _, text := range []string{"", "embedded", "/notes/a-b.md", "/my notes/x", "postgres://me@host/db?schema=a&hnsw=16", "opensearch://host/it's'", "$(id) `id` \\ \"x\" * ;\n#"} {
		got, err := exec.Command(sh, "-c", "printf %s "+shellQuoted(text)).Output()
		if err != nil || string(got) != text {
			t.Errorf("%q: a shell reads %q, %v", shellQuoted(text), got, err)
		}
	}
}

// TestHintsCanBeCopied: the folder in an advised command is one word.
func TestHintsCanBeCopied(t *testing.T) {
	s := &session{}
	s.where.Root = "/my notes"
	var advised *hintedError
	if err := s.advise(sheaf.ErrCorrupt); !errors.As(err, &advised) || !strings.HasSuffix(advised.hint, "--in '/my notes'") {
		t.Errorf("%v, %+v", err, advised)
	}
	s.where.Root = "/notes"
	if err := s.advise(sheaf.ErrCorrupt); !errors.As(err, &advised) || !strings.HasSuffix(advised.hint, "--in /notes") {
		t.Errorf("%v, %+v", err, advised)
	}
}
