package collection_test

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
