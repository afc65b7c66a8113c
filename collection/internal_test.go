package collection

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
)

// TestDoRetriesWhenLockIsReleased checks that Do retries long work when the other process releases its lock, and only
// then.
func TestDoRetriesWhenLockIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "lock")
		life := Life{Moved: func() bool { return false }}
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
			err = life.Do(t.Context(), NeedAnswer, func() error {
				tries++
				time.Sleep(NeedAnswer + lockStep)
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

// TestDoRetriesAfterWorkOfLockHolder checks that Do retries after a lock holder, as in a merge, has done the work.
func TestDoRetriesAfterWorkOfLockHolder(t *testing.T) {
	dir, known := t.TempDir(), func(dir string) *catalog.Catalog {
		c, err := catalog.Open(vfs.Disk{}, dir, catalog.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	mine, other := known(dir), known(dir)
	life := Life{Moved: func() bool { return moved(mine) }}
	name := filepath.Join(dir, "held")
	held, err := vfs.Disk{}.Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	tries, updated := 0, make(chan error, 1)
	err = life.Do(t.Context(), NeedFresh, func() error {
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
	if err := <-updated; err != nil { // other processes may see a change before Update returns
		t.Error(err)
	}
}

// TestDoByKindOfError checks how Do handles each kind of error, and that it gives up after repeated errors.
func TestDoByKindOfError(t *testing.T) {
	anew, damaged := ingest.ErrRebuilt, fmt.Errorf("read: %w", sheaf.ErrCorrupt)
	server := StoreError{fmt.Errorf("ask: %w", sheaf.ErrUnsupported)}
	for _, c := range []struct {
		name           string
		fails          []error // of work, one after another; then it succeeds
		reopen, remake int
		want           error
	}{
		{"succeeds", nil, 0, 0, nil},
		{"made again", []error{anew, anew}, 2, 0, nil},
		{"made again always", []error{anew, anew, anew, anew, anew, anew}, 4, 0, anew},
		{"damaged", []error{damaged}, 0, 1, nil},
		{"damaged again", []error{damaged, damaged}, 0, 1, sheaf.ErrCorrupt},
		{"made again, then damaged", []error{anew, damaged}, 1, 1, nil},
		{"of a server", []error{server}, 0, 0, sheaf.ErrUnsupported},
		{"another", []error{fs.ErrPermission}, 0, 0, fs.ErrPermission},
	} {
		reopened, remade, done := 0, 0, 0
		life := Life{
			Reopen: func(context.Context) error { reopened++; return nil },
			Remake: func(context.Context, error) error { remade++; return nil },
		}
		err := life.Do(t.Context(), NeedFresh, func() error {
			if done++; done <= len(c.fails) {
				return c.fails[done-1]
			}
			return nil
		})
		if !errors.Is(err, c.want) || reopened != c.reopen || remade != c.remake {
			t.Errorf("%s: %v, reopened %d times, remade %d times", c.name, err, reopened, remade)
		}
		if err := new(Life).Do(t.Context(), NeedFresh, func() error { return c.want }); !errors.Is(err, c.want) {
			t.Errorf("%s, without functions: %v", c.name, err)
		}
	}
}

// TestDamagedIndexNoticesRemake checks that an open, damaged index also notices when another process remakes it.
func TestDamagedIndexNoticesRemake(t *testing.T) {
	c := &Collection{}
	c.watchHealth()
	c.seen(errors.New("another fault"))
	if c.damaged.Err() != nil || c.replaced.Err() != nil {
		t.Error("a fault that is no damage counts as damage")
	}
	damage := fmt.Errorf("read: %w", vfs.ErrCorrupt)
	c.seen(damage)
	c.seen(vfs.ErrCorrupt)
	if c.damaged.Err() == nil || c.replaced.Err() != nil || c.Damage() != damage ||
		errors.Is(c.shut(), ingest.ErrRebuilt) {
		t.Errorf("%v, %v", c.Damage(), c.shut())
	}
	c.seen(ingest.ErrRebuilt)
	if c.replaced.Err() == nil || !errors.Is(c.shut(), ingest.ErrRebuilt) {
		t.Error("the fault of another process is not reported")
	}
}

// TestFileOf checks that a file name may contain a #.
func TestFileOf(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a.md", "C# course/b.md"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path, file string
		is         bool
	}{
		{"a.md", "a.md", true},
		{"a.md#x#y", "a.md", true},
		{"C# course/b.md#x", "C# course/b.md", true},
		{"C# course/gone.md#x", "C", false},
		{"gone.md#x", "gone.md", false},
	} {
		if file, is := fileOf(root, c.path); file != c.file || is != c.is {
			t.Errorf("%s is of %q, %v: want %q, %v", c.path, file, is, c.file, c.is)
		}
	}
	if _, is := fileOf("", "given.md"); !is {
		t.Error("a text that came without a file was missed")
	}
}
