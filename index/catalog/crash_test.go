package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"testing"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/internal/must"
)

// fingerprint describes the content of a catalog: its lists, its settings, and each document with
// the hash of its text.
func fingerprint(t *testing.T, fsys vfs.FS) (string, error) {
	t.Helper()
	c, err := catalog.Open(fsys, "/c", catalog.Options{})
	if err != nil {
		return "", err
	}
	defer c.Close()
	v := c.View()
	defer v.Close()
	skipped, err := v.Skipped()
	if err != nil {
		return "", err
	}
	s := fmt.Sprintf("%d skipped, %d pending, language %q\n", len(skipped), len(v.Pending()), v.Settings().Language)
	for id, state := range v.Files() {
		r, err := v.Record(id)
		if err != nil {
			return "", err
		}
		s += fmt.Sprintf("%s %x %d %d\n", id, state.Hash[:4], len(r.Document.Chunks), len(r.Document.Chunks[0].Links))
	}
	return s, errors.Join(append(v.Check(), v.Err())...)
}

// TestCrashes cuts the power at each call that changes the disk, in random histories. It checks
// that the catalog then opens with its content from before or after the interrupted update.
func TestCrashes(t *testing.T) {
	must.Whole(t, "no goroutine runs beside it")
	histories := uint64(6)
	if os.Getenv("SHEAF_TEST_LONG") != "" {
		histories = 500
	}
	crashes := 0
	for seed := range histories {
		for stop := 0; ; stop++ {
			where := fmt.Sprintf("seed %d, call %d", seed, stop)
			mem := vfs.NewMem()
			calls := 0
			fsys := &vfs.Faulty{FS: mem, Fail: func(op vfs.Op, _ string) error {
				switch op {
				case vfs.OpCreate, vfs.OpWrite, vfs.OpSync, vfs.OpRename, vfs.OpRemove, vfs.OpSyncDir:
					if calls++; calls > stop {
						return syscall.EIO // the power is off: every later call fails
					}
				}
				return nil
			}}
			before, after, finished := history(t, seed, fsys)
			crashed := mem.Crash(seed ^ uint64(stop)<<20)
			got, err := fingerprint(t, crashed)
			must.That(t, err == nil, "%s: %v", where, err)
			must.That(t, got == before || got == after,
				"%s: holds\n%s\nbefore the update it held\n%s\nafter it\n%s", where, got, before, after)
			crashes++
			if finished {
				break
			}
		}
	}
	t.Logf("%d crashes", crashes)
}

// history runs random updates until one fails. It returns the fingerprints before and after the
// failed update.
func history(t *testing.T, seed uint64, fsys vfs.FS) (before, after string, finished bool) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 4))
	model := map[string]string{}
	c := must.Get(catalog.Open(fsys, "/c", catalog.Options{}))
	defer c.Close()
	lists := [3]int{}
	for range 6 {
		before = held(t, model, lists)
		name := fmt.Sprintf("d%d.md", r.IntN(6))
		u := catalog.Update{Delete: []sheaf.ID{sheaf.ID("notes:" + name)}}
		delete(model, name)
		for range 1 + r.IntN(3) { // this may put a deleted document back
			name := fmt.Sprintf("d%d.md", r.IntN(6))
			model[name] = fmt.Sprintf("# T\n\ntext %d [[d%d]]\n", r.IntN(1000), r.IntN(6))
			u.Put = append(u.Put, record(t, name, model[name]))
		}
		lists[r.IntN(3)] = r.IntN(4)
		skipped, pending := make([]catalog.Skip, lists[0]), map[sheaf.ID]string{}
		for i := range lists[1] {
			pending[sheaf.ID(fmt.Sprint(i))] = "later"
		}
		u.Skipped, u.Pending, u.Settings = &skipped, &pending, &catalog.Settings{Language: languages[lists[2]]}
		after = held(t, model, lists)
		if err := c.Update(context.Background(), u); err != nil {
			return before, after, false
		}
	}
	return after, after, true
}

var languages = [...]string{"", "en", "de", "fr"}

// held returns the fingerprint of a catalog with these documents, this language, and these numbers
// of skipped and pending documents.
func held(t *testing.T, model map[string]string, lists [3]int) string {
	t.Helper()
	s := fmt.Sprintf("%d skipped, %d pending, language %q\n", lists[0], lists[1], languages[lists[2]])
	for i := range 6 {
		name := fmt.Sprintf("d%d.md", i)
		if text, ok := model[name]; ok {
			hash := catalog.HashOf([]byte(text))
			s += fmt.Sprintf("notes:%s %x 2 0\n", name, hash[:4])
		}
	}
	return s
}

// TestFaults lets each call fail once with a full disk. It checks that this update fails and
// changes nothing, and that the next one succeeds.
func TestFaults(t *testing.T) {
	for failing := 0; ; failing++ {
		mem := vfs.NewMem()
		calls, armed := 0, false
		fsys := &vfs.Faulty{FS: mem, Fail: func(op vfs.Op, name string) error {
			if !armed {
				return nil
			}
			calls++
			if calls == failing+1 {
				return syscall.ENOSPC
			}
			return nil
		}}
		c, err := catalog.Open(fsys, "/c", catalog.Options{})
		must.Do(t, err)
		put(t, c, record(t, "a.md", "# A\n\nx\n"))
		armed = true
		err = c.Update(context.Background(), catalog.Update{Put: []catalog.Record{record(t, "b.md", "# B\n\ny\n")}})
		armed = false
		v := c.View()
		docs := v.Docs()
		v.Close()
		must.That(t, err == nil || docs == 1, "call %d failed with %v, but there are %d documents", failing, err, docs)
		put(t, c, record(t, "c.md", "# C\n\nz\n"))
		got, err := fingerprint(t, mem)
		must.That(t, err == nil && len(got) != 0, "call %d: afterwards %q, %v", failing, got, err)
		c.Close()
		if calls <= failing {
			must.That(t, failing >= 8, "an update makes only %d calls", calls)
			return
		}
	}
}

// TestReadersWhileWriting checks that views and other openers see only complete generations while
// one writer publishes and sweeps.
func TestReadersWhileWriting(t *testing.T) {
	dir := t.TempDir()
	writer := open(t, dir)
	put(t, writer, record(t, "a.md", "# 0\n\nx\n"), record(t, "b.md", "# 0\n\nx\n"))
	var group sync.WaitGroup
	done := make(chan struct{})
	check := func(c *catalog.Catalog) {
		v := c.View()
		defer v.Close()
		a, okA := v.Document("notes:a.md")
		b, okB := v.Document("notes:b.md")
		if !okA || !okB || a.Title != b.Title {
			t.Errorf("half an update: %q and %q, %v", a.Title, b.Title, v.Err())
		}
	}
	for i := range 4 {
		group.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if i%2 == 0 {
					check(writer)
					continue
				}
				c, err := catalog.Open(vfs.Disk{}, dir, catalog.Options{})
				if err != nil {
					t.Error(err)
					return
				}
				check(c)
				c.Close()
			}
		})
	}
	updates := 60
	if testing.Short() {
		updates = 10
	}
	for i := 1; i < updates; i++ {
		text := fmt.Sprintf("# %d\n\nx\n", i)
		put(t, writer, record(t, "a.md", text), record(t, "b.md", text))
	}
	close(done)
	group.Wait()
}
