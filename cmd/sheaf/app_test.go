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
)

// TestFolderThatDoesNotAnswer: a folder on a drive that hangs ends with an error that names it.
func TestFolderThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan struct{})
		began := time.Now()
		_, err := inTime("far", func(string) (fs.FileInfo, error) { <-gone; return nil, nil })
		if !errors.Is(err, sheaf.ErrUnavailable) || !strings.Contains(err.Error(), "far") || time.Since(began) != answerTime {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		close(gone)
	})
	if info, err := inTime(t.TempDir(), os.Stat); err != nil || !info.IsDir() {
		t.Errorf("one that answers: %v, %v", info, err)
	}
}
