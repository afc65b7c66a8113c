package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sheaf"
	"sheaf/collection"
)

// TestHangingFolderIsError checks that a folder on a hanging drive causes an error with its name.
func TestHangingFolderIsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan struct{})
		began := time.Now()
		_, err := collection.InTime("far", func(string) (fs.FileInfo, error) { <-gone; return nil, nil })
		if !errors.Is(err, sheaf.ErrUnavailable) || !strings.Contains(err.Error(), "far") ||
			time.Since(began) != collection.AnswerTime {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		close(gone)
	})
	if info, err := collection.InTime(t.TempDir(), os.Stat); err != nil || !info.IsDir() {
		t.Errorf("one that answers: %v, %v", info, err)
	}
}

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
