package manifest_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sheaf/index/vfs"
	"sheaf/index/vfs/manifest"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// coarse is a disk without syncs, so that publications follow fast. All its files have one time, as
// if written within one tick of a clock.
type coarse struct{ vfs.Disk }

type unsynced struct{ vfs.File }

func (unsynced) Sync() error { return nil }

func (c coarse) Create(name string) (vfs.File, error) {
	f, err := c.Disk.Create(name)
	return unsynced{f}, err
}

func (coarse) SyncDir(string) error { return nil }

func (c coarse) Rename(from, to string) error {
	if err := os.Chtimes(from, time.Unix(1e9, 0), time.Unix(1e9, 0)); err != nil {
		return err
	}
	return c.Disk.Rename(from, to)
}

// publishEnvironment names a folder. A second process publishes this many generations there for each line of its
// standard input, and then answers.
const publishEnvironment = "SHEAF_TEST_PUBLISH"

func TestMain(m *testing.M) {
	if dir := os.Getenv(publishEnvironment); dir != "" {
		generation := uint64(0)
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			n, err := strconv.Atoi(lines.Text())
			for ; err == nil && n > 0; n-- {
				generation++
				err = manifest.Publish(coarse{}, dir, manifest.Manifest{Generation: generation})
			}
			if err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			fmt.Println(generation)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestWatchMissesNothing checks that a look finds everything that another process published before
// it. Publications are fast, times and sizes do not change, file numbers repeat, and several
// goroutines look.
func TestWatchMissesNothing(t *testing.T) {
	dir := t.TempDir()
	program := must.Get(os.Executable())
	other := exec.Command(program)
	other.Env = append(os.Environ(), publishEnvironment+"="+dir)
	stdin := must.Get(other.StdinPipe())
	stdout := must.Get(other.StdoutPipe())
	must.Do(t, other.Start())
	w := manifest.NewWatch(coarse{}, dir)
	var published atomic.Uint64 // at least this generation
	look := func() error {
		want := published.Load()
		if got, err := w.Generation(); err != nil || got < want {
			return fmt.Errorf("found generation %d (%v) after %d was published", got, err, want)
		}
		return nil
	}
	answers := bufio.NewScanner(stdout)
	step := func(n int) {
		t.Helper()
		fmt.Fprintln(stdin, n)
		must.That(t, answers.Scan(), "the other process is gone")
		g, err := strconv.ParseUint(answers.Text(), 10, 64)
		must.That(t, err == nil, "%v", answers.Text())
		published.Store(g)
	}
	step(1)
	stop := make(chan struct{})
	var others sync.WaitGroup
	for range 2 {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := look(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 500 {
		step(1 + i%3)
		if err := look(); err != nil {
			t.Error(err)
			break
		}
	}
	close(stop)
	others.Wait()
	for i := range 1500 { // no other goroutine looks
		step(1 + i%3)
		if err := look(); err != nil {
			t.Error(err)
			break
		}
	}
	must.Do(t, errors.Join(w.Close(), stdin.Close(), other.Wait()))
	check.NoError(t, look(), "closed")
}

// opens counts the opened files.
type opens struct {
	vfs.FS
	n int
}

func (o *opens) Open(name string) (vfs.File, error) {
	o.n++
	return o.FS.Open(name)
}

// TestWatchOpensOnce checks that a look opens the manifest once for each publication if the system can identify
// files. It notices a folder that is removed or made again, or a copy that is put back.
func TestWatchOpensOnce(t *testing.T) {
	for name, c := range map[string]struct {
		fs  vfs.FS
		dir string
	}{"disk": {vfs.Disk{}, filepath.Join(t.TempDir(), "i")}, "mem": {vfs.NewMem(), "/i"}} {
		counted := &opens{FS: c.fs}
		w := manifest.NewWatch(counted, c.dir)
		check.Is(t, must.Err(w.Generation()), fs.ErrNotExist, "%s: no folder", name)
		must.Do(t, c.fs.MkdirAll(c.dir))
		put := func(generation uint64) {
			t.Helper()
			must.Do(t, manifest.Publish(c.fs, c.dir, manifest.Manifest{Generation: generation}))
		}
		look := func(want uint64) {
			t.Helper()
			got, err := w.Generation()
			check.That(t, got == want && err == nil, "%s: generation %d, %v, want %d", name, got, err, want)
		}
		put(7)
		f := must.Get(c.fs.Open(filepath.Join(c.dir, manifest.Name)))
		want := 5
		if vfs.Pins(f) {
			want = 1
		}
		must.Do(t, f.Close())
		counted.n = 0
		for range 5 {
			look(7)
		}
		check.Equal(t, counted.n, want, "%s: how often it is opened in five looks", name)
		put(8)
		look(8)
		must.Do(t, c.fs.Remove(filepath.Join(c.dir, manifest.Name)))
		check.Is(t, must.Err(w.Generation()), fs.ErrNotExist, "%s: removed", name)
		put(3)
		look(3)
		if name == "disk" {
			path := filepath.Join(c.dir, manifest.Name)
			other := filepath.Join(t.TempDir(), "other")
			must.Do(t, os.Mkdir(other, 0o700))
			publish(t, other, manifest.Manifest{Generation: 4})
			data := must.Get(os.ReadFile(filepath.Join(other, manifest.Name)))
			if err := os.WriteFile(path, data, 0o600); err != nil { // into the same file
				t.Fatal(err)
			}
			must.Do(t, os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)))
			look(4)
			must.Do(t, os.Rename(c.dir, c.dir+" moved"))
			must.Do(t, os.Rename(other, c.dir))
			publish(t, c.dir, manifest.Manifest{Generation: 5})
			look(5)
		}
		must.Do(t, w.Close())
		must.Do(t, w.Close())
	}
}

// BenchmarkLook measures the check for a new generation, which each query makes.
func BenchmarkLook(b *testing.B) {
	dir := b.TempDir()
	publish(b, dir, manifest.Manifest{Generation: 1, Payload: []byte(strings.Repeat("x", 4096))})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			_, err := manifest.Generation(vfs.Disk{}, dir)
			must.That(b, err == nil, "%v", err)
		}
	})
	b.Run("watch", func(b *testing.B) {
		w := manifest.NewWatch(vfs.Disk{}, dir)
		defer w.Close()
		for b.Loop() {
			_, err := w.Generation()
			must.That(b, err == nil, "%v", err)
		}
	})
}
