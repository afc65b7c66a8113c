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

func TestCopySaysHowMuchIsThere(t *testing.T) {
	for want, n := range map[string][2]int{
		"copying 38,533 chunks from a":                  {0, 38533},
		"going on after 15,000 of 38,533 chunks from a": {15000, 38533},
	} {
		if got := copyBegins("a", n[0], n[1]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
