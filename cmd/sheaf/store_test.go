package main

import (
	"errors"
	"strings"
	"testing"

	"sheaf"
)

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
