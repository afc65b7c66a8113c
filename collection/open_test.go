package collection_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model/hashed"
)

// opened writes files to a new folder and opens a collection of the folder.
func opened(t *testing.T, files map[string]string) (c *collection.Collection, folder, index string) {
	t.Helper()
	folder, index = t.TempDir(), filepath.Join(t.TempDir(), "index")
	for name, text := range files {
		writeFile(t, filepath.Join(folder, name), text)
	}
	return reopened(t, folder, index), folder, index
}

func reopened(t *testing.T, folder, index string, more ...collection.Option) *collection.Collection {
	t.Helper()
	more = append([]collection.Option{collection.WithIndex(index)}, more...)
	c := must.Get(collection.Open(folder, more...))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func writeFile(t testing.TB, name, text string) {
	t.Helper()
	must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)))
}

func found(t *testing.T, c *collection.Collection, text string) int {
	t.Helper()
	a := must.Get(c.Search(t.Context(), text))
	check.That(t, len(a.Warnings) == 0, "warnings: %q", a.Warnings)
	return len(a.Results)
}

// TestOpenUpdates checks that the next search finds a saved file, unless updates are turned off.
// The file is still found after reopening.
func TestOpenUpdates(t *testing.T) {
	c, folder, index := opened(t, map[string]string{"a.md": "# Harbor\n\nA lighthouse.\n"})
	check.Equal(t, found(t, c, "lighthouse"), 1, "results")
	writeFile(t, filepath.Join(folder, "b.md"), "# Island\n\nAnother lighthouse.\n")
	check.Equal(t, found(t, reopened(t, folder, index, collection.WithoutUpdate()), "lighthouse"), 1,
		"results without an update")
	check.Equal(t, found(t, c, "lighthouse"), 2, "results")
	must.Do(t, c.Close())
	check.NoError(t, c.Close(), "closed twice")
	check.Is(t, must.Err(c.Search(t.Context(), "lighthouse")), sheaf.ErrUnavailable, "a closed collection")
	check.Equal(t, found(t, reopened(t, folder, index, collection.WithoutUpdate()), "lighthouse"), 2,
		"opened again: results")
}

// TestConcurrentOpen checks that several programs can open and search one index at once.
func TestConcurrentOpen(t *testing.T) {
	first, folder, index := opened(t, map[string]string{"a.md": "# Harbor\n\nA lighthouse.\n"})
	var all sync.WaitGroup
	for _, c := range []*collection.Collection{first, reopened(t, folder, index), reopened(t, folder, index)} {
		for i := range 3 {
			all.Go(func() {
				// An answer has a warning if its update waited too long for another program.
				check.Equal(t, len(must.Get(c.Search(t.Context(), fmt.Sprint("lighthouse ", i))).Results), 1, "results")
			})
		}
	}
	all.Wait()
}

// TestOpenRefuses checks that an index that this program cannot use stays unchanged.
func TestOpenRefuses(t *testing.T) {
	c, folder, index := opened(t, map[string]string{"a.md": "# Harbor\n\nA lighthouse.\n"})
	found(t, c, "lighthouse")
	must.Do(t, c.Close())
	refused := func(what, folder string, want error, options ...collection.Option) {
		t.Helper()
		c, err := collection.Open(folder, append(options, collection.WithIndex(index))...)
		check.That(t, errors.Is(err, want), "%s: %v, %v", what, c, err)
	}
	refused("another model", folder, sheaf.ErrInvalid, collection.WithModel(hashed.New(64)))
	refused("no model", folder, sheaf.ErrInvalid, collection.WithModel(nil))
	refused("another folder", t.TempDir(), sheaf.ErrInvalid)
	refused("a file", filepath.Join(folder, "a.md"), sheaf.ErrInvalid)
	refused("no folder", filepath.Join(folder, "none"), sheaf.ErrNotFound)
	for _, name := range filesOf(t, location.CatalogDir(index)) {
		writeFile(t, name, "damaged")
	}
	refused("a damaged catalog", folder, vfs.ErrCorrupt, collection.WithoutRepair())
}

// TestOpenRepairs checks that a damaged index is remade from the files, with a notice.
func TestOpenRepairs(t *testing.T) {
	c, folder, index := opened(t, map[string]string{"a.md": "# Harbor\n\nA lighthouse.\n"})
	found(t, c, "lighthouse")
	must.Do(t, c.Close())
	for _, part := range []func(string) string{location.CatalogDir, location.EngineDir} {
		for _, name := range filesOf(t, part(index)) {
			writeFile(t, name, "damaged")
		}
		var notices []string
		c := reopened(t, folder, index, collection.WithNotices(func(text string) { notices = append(notices, text) }))
		if n := found(t, c, "lighthouse"); n != 1 || !strings.Contains(strings.Join(notices, "; "), "it is made again") {
			t.Errorf("%d results, %q", n, notices)
		}
		must.Do(t, c.Close())
	}
}

// filesOf returns the files of a folder that are not empty.
func filesOf(t *testing.T, dir string) (files []string) {
	t.Helper()
	names := must.Get(filepath.Glob(filepath.Join(dir, "*")))
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			files = append(files, name)
		}
	}
	return files
}

// TestHangingFolderIsError checks that a folder on a hanging drive causes an error with its name.
func TestHangingFolderIsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan struct{})
		began := time.Now()
		_, err := collection.InTime("far", func(string) (fs.FileInfo, error) { <-gone; return nil, nil })
		check.That(t, errors.Is(err, sheaf.ErrUnavailable) && strings.Contains(err.Error(), "far") &&
			time.Since(began) == collection.AnswerTime, "%v after %v", err, time.Since(began))
		close(gone)
	})
	info, err := collection.InTime(t.TempDir(), os.Stat)
	check.That(t, err == nil && info.IsDir(), "one that answers: %v, %v", info, err)
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
		got, err := collection.RealFolder(name)
		check.That(t, err == nil && got == want, "RealFolder(%q) = %q, %v; want %q", name, got, err, want)
	}
}
