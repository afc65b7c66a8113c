package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sheaf/collection/location"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestServerRepairsDamagedIndex checks that a server remakes its index when it finds damage that opening does not
// find. The server keeps given documents and goes on.
func TestServerRepairsDamagedIndex(t *testing.T) {
	for _, part := range []string{filepath.Join(location.EngineDir(""), "*.seg"),
		filepath.Join(location.CatalogDir(""), "catalog-0*")} {
		for _, watch := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, watched %v", filepath.ToSlash(part), watch), func(t *testing.T) {
				servesDamaged(t, part, watch)
			})
		}
	}
}

// TestReopeningRepairsDamage checks that reopening looks for damage until it opens. Damage that returns at
// once is an error.
func TestReopeningRepairsDamage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &app{streams: quiet()}
		damage := fmt.Errorf("read index: %w", vfs.ErrCorrupt)
		for i, steps := range [][]struct {
			after   time.Duration // how long the index works
			ends    error
			damaged bool // whether opening looks for damage
		}{
			{{0, damage, false}, {0, vfs.ErrLocked, true}, {0, ingest.ErrRebuilt, true}, {damagedRest, damage, false},
				{0, nil, true}},
			{{damagedRest, damage, false}, {0, damage, true}},
		} {
			n := 0
			err := a.reopening(t.Context(), func(o openOptions) error {
				step := steps[n]
				if n++; o.Damaged != step.damaged {
					t.Errorf("%d: opened for the %d. time, damaged is %v", i, n, o.Damaged)
				}
				time.Sleep(step.after)
				return step.ends
			})
			want := steps[len(steps)-1].ends
			check.That(t, n == len(steps) && errors.Is(err, want), "%d: opened %d times, %v", i, n, err)
		}
	})
}

// TestWhenDamagedIndexIsReopened checks when a damaged index is opened again: some time after the last repair, or
// after another process's remake. That also holds where this process cannot write, and once the folder becomes
// writable.
func TestWhenDamagedIndexIsReopened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		damage := fmt.Errorf("read index: %w", vfs.ErrCorrupt)
		here := t.TempDir()
		for i, c := range []struct {
			dir  string
			made time.Duration // when the folder appears
			anew time.Duration // when another process remakes the index
			ends error
			wait time.Duration
		}{
			{here, 0, time.Hour, damage, damagedRest},
			{here, 0, time.Second, ingest.ErrRebuilt, time.Second},
			{filepath.Join(here, "none"), 2 * time.Hour, time.Hour, ingest.ErrRebuilt, time.Hour},
			{filepath.Join(here, "later"), 5 * damagedRest / 2, time.Hour, damage, 3 * damagedRest},
		} {
			s := quietSession(location.Location{Dir: c.dir})
			s.lastRepair = time.Now()
			open := &broken{make(chan struct{}), make(chan struct{}), damage}
			close(open.damaged)
			time.AfterFunc(c.made, func() { _ = os.MkdirAll(c.dir, 0o700) })
			time.AfterFunc(c.anew, func() { close(open.anew) })
			began := time.Now()
			err := s.untilReplaced(t.Context(), open)
			check.That(t, errors.Is(err, c.ends) && time.Since(began) == c.wait, "%d: %v after %v", i, err, time.Since(began))
		}
	})
}

// broken is an index that is damaged.
type broken struct {
	anew, damaged chan struct{}
	damage        error
}

func (b *broken) Replaced() <-chan struct{} { return b.anew }
func (b *broken) Damaged() <-chan struct{}  { return b.damaged }
func (b *broken) Damage() error             { return b.damage }

// TestServerOfIndexThatCannotBeRemade checks a damaged index that cannot be remade, because a folder is
// unmounted. The server goes on, even if it cannot find given documents.
func TestServerOfIndexThatCannotBeRemade(t *testing.T) {
	n := newNotes(t)
	fill(t, n)
	other := t.TempDir()
	writeNote(t, other, "o.md", "# Other\n\nquinces\n")
	n.run(t, "add", other)
	t.Run("put documents", func(t *testing.T) { putGrapes(t, n.serve(t)) })
	damageFiles(t, filepath.Join(n.index, location.CatalogDir(""), "catalog-0*"))
	must.Do(t, os.Rename(other, other+".away"))
	address, aloud := servingAloud(t, n.folder, n.index)
	for late := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		said, err := os.ReadFile(aloud)
		must.That(t, err == nil && !time.Now().After(late), "%v: it says %q", err, said)
		if _, after, ok := strings.Cut(string(said), "the index is made again when this problem is over"); ok &&
			strings.Contains(after, "are not all found until") {
			break
		}
	}
	waitFor(t, address+"/livez", func(status int, _ string) bool { return status == http.StatusOK })
}

// TestRepairKeepsDeletions checks that documents deleted over HTTP stay deleted if the record of the deletion is
// damaged.
func TestRepairKeepsDeletions(t *testing.T) {
	n := newNotes(t)
	fill(t, n)
	t.Run("put documents", func(t *testing.T) {
		address := n.serve(t)
		putGrapes(t, address)
		for i := range 30 { // keeps the part with the deletions from being merged
			put(t, address, fmt.Sprintf("api:more%d.md", i))
		}
	})
	t.Run("delete documents", func(t *testing.T) {
		address := n.serve(t)
		for i := range 3 {
			must.Equal(t, change(t, http.MethodDelete, fmt.Sprintf("%s/v1/documents/api:more%d.md", address, i),
				""), http.StatusOK, "deleted")
		}
	})
	files, err := filepath.Glob(filepath.Join(n.index, location.CatalogDir(""), "catalog-0*"))
	must.That(t, err == nil && len(files) >= 2, "%q, %v", files, err)
	last := slices.MaxFunc(files, func(a, b string) int { return written(t, a).Compare(written(t, b)) })
	damageFiles(t, last)
	n.run(t, "check", "--repair")
	found := n.run(t, "ls")
	for i := range 3 {
		check.That(t, !strings.Contains(found, fmt.Sprintf("more%d.md", i)), "more%d.md is there again", i)
	}
}

func written(t *testing.T, file string) time.Time {
	t.Helper()
	info := must.Get(os.Stat(file))
	return info.ModTime()
}

func servesDamaged(t *testing.T, part string, watch bool) {
	n := newNotes(t)
	fill(t, n)
	t.Run("put documents", func(t *testing.T) {
		address := n.serve(t)
		found(t, address, "apples", "a.md")
		putGrapes(t, address)
	})
	damageFiles(t, filepath.Join(n.index, part))
	args := []string{"--no-watch"}
	if watch {
		args = nil
	}
	address, aloud := servingAloud(t, n.folder, n.index, args...)
	for word, name := range map[string]string{"apples": "a.md", "plums+37": "n37.md", "grapes": "api:g.md"} {
		found(t, address, word, name)
	}
	said, err := os.ReadFile(aloud)
	check.That(t, err == nil && strings.Contains(string(said), "it is made again from the files"), "it says %q, %v", said,
		err)
	check.Lacks(t, said, "lost", "without source files")
	n.run(t, "check")
}

// fill makes enough notes that a damaged catalog still opens.
func fill(t *testing.T, n notes) {
	t.Helper()
	for i := range 40 {
		n.write(t, fmt.Sprintf("n%d.md", i), fmt.Sprintf("# Note %d\n\nsome pears and %d plums\n", i, i))
	}
}

// putGrapes gives a server a document.
func putGrapes(t *testing.T, address string) { put(t, address, "api:g.md") }

func put(t *testing.T, address, id string) {
	t.Helper()
	must.Equal(t, change(t, http.MethodPut, address+"/v1/documents/"+id,
		`{"text": "given grapes", "access": ["public"]}`), http.StatusCreated, "given")
}

// damageFiles damages the middle of each file.
func damageFiles(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	must.That(t, err == nil && len(files) != 0, "%q, %v", files, err)
	for _, file := range files {
		must.Do(t, spoil(file))
	}
}
