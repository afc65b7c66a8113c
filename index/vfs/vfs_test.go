package vfs_test

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

func write(t *testing.T, fsys vfs.FS, name, text string, sync bool) {
	t.Helper()
	f := must.Get(fsys.Create(name))
	must.Do(t, must.Err(f.Write([]byte(text))))
	if sync {
		must.Do(t, f.Sync())
	}
	must.Do(t, f.Close())
}

func read(t *testing.T, fsys vfs.FS, name string) string {
	t.Helper()
	m, err := fsys.Map(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "-"
	}
	must.Do(t, err)
	text := string(m.Bytes())
	must.Do(t, m.Close())
	return text
}

// TestBehavior checks that all file systems behave the same.
func TestBehavior(t *testing.T) {
	for name, c := range map[string]struct {
		fs  vfs.FS
		dir string
	}{
		"disk": {vfs.Disk{}, t.TempDir()}, "mem": {vfs.NewMem(), "/d"},
		"faulty": {&vfs.Faulty{FS: vfs.NewMem(), Fail: func(vfs.Op, string) error { return nil }}, "/d"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(c.dir, "a", "b")
			check.Is(t, must.Err(c.fs.Create(filepath.Join(dir, "x"))), fs.ErrNotExist, "create without a folder")
			must.Do(t, c.fs.MkdirAll(dir))
			x, y := filepath.Join(dir, "x"), filepath.Join(dir, "y")
			write(t, c.fs, x, "one", true)
			write(t, c.fs, y, "two", false)
			must.Do(t, c.fs.Rename(x, y))
			got := read(t, c.fs, y)
			check.That(t, got == "one" && read(t, c.fs, x) == "-", "renamed: %q", got)
			f := must.Get(c.fs.Open(y))
			data, err := io.ReadAll(f)
			info, statErr := f.Stat()
			var at [2]byte
			n, atErr := f.ReadAt(at[:], 2)
			check.That(t, string(data) == "one" && err == nil && statErr == nil && info.Size() == 3 && info.Name() == "y" &&
				n == 1 && errors.Is(atErr, io.EOF), "read %q %v, %v %v, %d %v", data, err, info, statErr, n, atErr)
			must.Do(t, f.Close())
			write(t, c.fs, x, "", true)
			names, err := c.fs.List(dir)
			check.That(t, err == nil && slices.Equal(names, []string{"x", "y"}), "list %v, %v", names, err)
			names, err = c.fs.List(filepath.Dir(dir))
			check.That(t, err == nil && slices.Equal(names, []string{"b"}), "list %v, %v", names, err)
			must.Do(t, c.fs.SyncDir(dir))
			info, err = c.fs.Stat(dir)
			check.That(t, err == nil && info.IsDir(), "stat %v, %v", info, err)
			check.Equal(t, read(t, c.fs, x), "", "an empty file")
			err = c.fs.Remove(dir)
			check.That(t, err != nil, "a folder with files was removed")
			empty := filepath.Join(dir, "empty")
			err = errors.Join(c.fs.MkdirAll(empty), c.fs.Remove(empty))
			check.That(t, err == nil && second(c.fs.Stat(empty)) != nil, "an empty folder: %v", err)
			must.Do(t, c.fs.Remove(x))
			for what, err := range map[string]error{
				"remove": c.fs.Remove(x), "rename": c.fs.Rename(x, y), "open": second(c.fs.Open(x)), "map": second(c.fs.Map(x)),
				"stat": second(c.fs.Stat(x)), "list": second(c.fs.List(x)),
			} {
				check.Is(t, err, fs.ErrNotExist, "%s of a missing file", what)
			}
			lock(t, c.fs, filepath.Join(dir, "LOCK"))
		})
	}
}

func second[T any](_ T, err error) error { return err }

func lock(t *testing.T, fsys vfs.FS, name string) {
	t.Helper()
	first := must.Get(fsys.Lock(name))
	check.Fails(t, must.Err(fsys.Lock(name)), vfs.ErrLocked, "process", "a second lock")
	must.Do(t, first.Close())
	again := must.Get(fsys.Lock(name))
	again.Close()
}

// TestCrash checks that synced data survives each crash, and that other data may be lost.
func TestCrash(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(200) {
		m := vfs.NewMem()
		must.Do(t, m.MkdirAll("/d"))
		write(t, m, "/d/durable", "content", true)
		write(t, m, "/d/unsynced", strings.Repeat("x", 100), false)
		write(t, m, "/d/replaced", "old", true)
		write(t, m, "/d/removed", "gone", true)
		write(t, m, "/d/emptied", "before", true)
		must.Do(t, m.SyncDir("/d"))
		write(t, m, "/d/new", "new", true)
		write(t, m, "/d/tmp", "newer", true)
		must.Do(t, m.Rename("/d/tmp", "/d/replaced"))
		must.Do(t, m.Remove("/d/removed"))
		write(t, m, "/d/emptied", "after it", false)
		after := m.Crash(seed)
		_, err := m.List("/d")
		check.That(t, err != nil, "the crashed file system still works")
		must.Equal(t, read(t, after, "/d/durable"), "content", "seed %d: durable content", seed)
		got := read(t, after, "/d/replaced")
		must.That(t, got == "old" || got == "newer", "seed %d: a renamed file holds %q", seed, got)
		switch got := read(t, after, "/d/unsynced"); {
		case got == strings.Repeat("x", 100):
			seen["whole"] = true
		case got == "":
			seen["empty"] = true
		case len(got) < 100:
			seen["short"] = true
		case strings.Contains(got, "\x00"):
			seen["torn"] = true
		}
		seen["emptied "+read(t, after, "/d/emptied")] = true
		seen["new "+read(t, after, "/d/new")] = true
		seen["removed "+read(t, after, "/d/removed")] = true
		seen["replaced "+read(t, after, "/d/replaced")] = true
	}
	for _, want := range []string{"empty", "short", "torn", "emptied before", "emptied after it", "emptied ", "new -",
		"new new", "removed -", "removed gone", "replaced old", "replaced newer"} {
		check.That(t, seen[want], "in 200 crashes never: %s", want)
	}
}

// TestFaulty checks that each call can be made to fail, and that a failing write writes half of its data.
func TestFaulty(t *testing.T) {
	m := vfs.NewMem()
	must.Do(t, m.MkdirAll("/d"))
	write(t, m, "/d/x", "content", true)
	var failing vfs.Op
	f := &vfs.Faulty{FS: m, Fail: func(op vfs.Op, _ string) error {
		if op == failing {
			return syscall.ENOSPC
		}
		return nil
	}}
	for op, call := range map[vfs.Op]func() error{
		vfs.OpCreate: func() error { return second(f.Create("/d/y")) }, vfs.OpOpen: func() error {
			return second(f.Open("/d/x"))
		},
		vfs.OpRename: func() error { return f.Rename("/d/x", "/d/z") }, vfs.OpRemove: func() error {
			return f.Remove("/d/x")
		},
		vfs.OpMkdir: func() error { return f.MkdirAll("/e") }, vfs.OpList: func() error { return second(f.List("/d")) },
		vfs.OpStat: func() error { return second(f.Stat("/d/x")) }, vfs.OpSyncDir: func() error { return f.SyncDir("/d") },
		vfs.OpMap: func() error { return second(f.Map("/d/x")) }, vfs.OpLock: func() error { return second(f.Lock("/d/l")) },
	} {
		failing = op
		check.Is(t, call(), syscall.ENOSPC, "%s", op)
	}
	failing = ""
	w := must.Get(f.Create("/d/w"))
	r := must.Get(f.Open("/d/x"))
	for op, call := range map[vfs.Op]func() error{
		vfs.OpWrite: func() error { return second(w.Write([]byte("12345678"))) }, vfs.OpSync: w.Sync,
		vfs.OpRead: func() error { return errors.Join(second(r.Read(make([]byte, 1)))) },
	} {
		failing = op
		check.Is(t, call(), syscall.ENOSPC, "%s", op)
	}
	failing = vfs.OpClose
	check.Is(t, w.Close(), syscall.ENOSPC, "close")
	check.Equal(t, read(t, m, "/d/w"), "1234", "content after a failed write")
}
