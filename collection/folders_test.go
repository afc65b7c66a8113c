package collection_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/internal/must"
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

// TestRealFolderOfLink checks that a folder has one name, also when the shell is in a link to it.
func TestRealFolderOfLink(t *testing.T) {
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))
	folder, link := filepath.Join(dir, "folder"), filepath.Join(dir, "link")
	below := filepath.Join(folder, "below")
	must.Do(t, os.MkdirAll(below, 0o755))
	if err := os.Symlink(folder, link); err != nil {
		t.Skip("this system makes no links:", err)
	}
	t.Chdir(link)
	for name, want := range map[string]string{"": folder, ".": folder, "below": below, link: folder} {
		if got, err := collection.RealFolder(name); err != nil || got != want {
			t.Errorf("RealFolder(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
}
