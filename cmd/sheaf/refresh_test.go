package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/internal/offheap"
)

// TestSaveMemory: while files are indexed the collector's limit is what is left of the
// memory that they may take, and afterwards it is what it was.
func TestSaveMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	const files, some = 10 << 20, 20 << 20
	taken := offheap.Beside()
	adjust, restore := saveMemory(files)
	if got, want := limit(), files+indexMemory-taken; got != want {
		t.Errorf("limit %d, want %d", got, want)
	}
	var list offheap.List[byte]
	defer list.Free()
	list.Grow(some)
	adjust()
	if got, want := limit(), files+indexMemory-offheap.Beside(); got != want {
		t.Errorf("limit %d with %d bytes taken beside the heap, want %d", got, some, want)
	}
	list.Grow(files + indexMemory)
	adjust()
	if got, want := limit(), int64(files+indexMemory)-offheap.Beside(); got != max(want, (files+indexMemory)/2) {
		t.Errorf("limit %d with more taken than allowed, want half", got)
	}
	list.Free()
	adjust()
	if got, want := limit(), files+indexMemory-taken; got != want {
		t.Errorf("limit %d after what was taken is given back, want %d", got, want)
	}
	restore()
	if got := limit(); got != before {
		t.Errorf("limit %d afterwards, want %d", got, before)
	}
}

// TestRetried: what takes longer than there is to wait is tried again when the other
// process is done, and not before, however long that takes.
func TestRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "lock")
		const atMost = 4 * lockStep
		for _, c := range []struct {
			name  string
			freed bool
			tries int
		}{{"freed meanwhile", true, 2}, {"held", false, 1}} {
			held, err := vfs.Disk{}.Lock(name)
			if err != nil {
				t.Fatal(err)
			}
			tries := 0
			err = new(session).retried(t.Context(), atMost, func() error {
				tries++
				time.Sleep(atMost + lockStep)
				if tries == 1 && c.freed {
					time.AfterFunc(lockStep+lockStep/2, func() { _ = held.Close() })
				}
				lock, err := vfs.Disk{}.Lock(name)
				if err != nil {
					return fmt.Errorf("write: %w", err)
				}
				return lock.Close()
			})
			if tries != c.tries || c.freed != (err == nil) || !c.freed && !errors.Is(err, vfs.ErrLocked) {
				t.Errorf("%s: tried %d times, %v", c.name, tries, err)
			}
			if !c.freed {
				if err := held.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestRetriedWhenDone: a process that keeps the lock, as one that answers does while it
// merges, may have done what was to be done.
func TestRetriedWhenDone(t *testing.T) {
	dir, known := t.TempDir(), func(dir string) *catalog.Catalog {
		c, err := catalog.Open(vfs.Disk{}, dir, catalog.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	quiet := &app{stderr: io.Discard, err: &terminal.Output{Writer: io.Discard}}
	s, other := &session{app: quiet, catalog: known(dir)}, known(dir)
	name := filepath.Join(dir, "held")
	held, err := vfs.Disk{}.Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	tries, updated := 0, make(chan error, 1)
	err = s.retried(t.Context(), time.Minute, func() error {
		if tries++; tries > 1 {
			return nil
		}
		time.AfterFunc(lockStep+lockStep/2, func() {
			updated <- other.Update(t.Context(), catalog.Update{Pending: &map[sheaf.ID]string{"t:a": "vectors"}})
		})
		_, err := vfs.Disk{}.Lock(name)
		return err
	})
	if err != nil || tries != 2 {
		t.Errorf("tried %d times, %v; want 2", tries, err)
	}
	if err := <-updated; err != nil { // what is changed is seen before the change has returned
		t.Error(err)
	}
}
