package vfs_test

import (
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestOpenLeased checks that Open waits until another process gives up its lease of the file.
func TestOpenLeased(t *testing.T) {
	name := filepath.Join(t.TempDir(), "note.md")
	must.Do(t, os.WriteFile(name, []byte("walrus"), 0o600))
	held := must.Get(os.Open(name))
	defer held.Close()
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, unix.SIGIO)
	defer signal.Stop(broken)
	fd := held.Fd()
	if _, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skipf("no leases here: %v", err)
	}
	given := make(chan error, 1)
	go func() {
		<-broken
		_, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
		given <- err
	}()
	f := must.Get(vfs.Disk{}.Open(name))
	defer f.Close()
	text, err := io.ReadAll(f)
	check.That(t, err == nil && string(text) == "walrus", "%q, %v", text, err)
	must.Do(t, <-given)
}
