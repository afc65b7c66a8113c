package main

import (
	"strings"
	"testing"
)

// TestSuggestionsForOtherCommandNames checks the suggestions for command names of other programs. Each suggested
// command exists, and no Sheaf command has such a name.
func TestSuggestionsForOtherCommandNames(t *testing.T) {
	root := new(app).command()
	for theirs, ours := range otherNames {
		words := strings.Fields(ours)
		if cmd, rest, err := root.Find(words); err != nil || cmd == root ||
			len(rest) > 0 && cmd.Flag(strings.TrimPrefix(rest[0], "--")) == nil {
			t.Errorf("%s: %q: %v, %v", theirs, ours, rest, err)
		}
		if cmd, _, _ := root.Find(strings.Fields(theirs)); cmd != root {
			t.Errorf("%s is %q", theirs, cmd.CommandPath())
		}
	}
}
