package scan

import (
	"os"
	"os/signal"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReadLeased checks that a file with a lease is read after the lease ends.
func TestReadLeased(t *testing.T) {
	name := filepath.Join(t.TempDir(), "note.md")
	if err := os.WriteFile(name, []byte("walrus"), 0o600); err != nil {
		t.Fatal(err)
	}
	held := must(os.Open(name))
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
	if text, err := readInto(nil, name, 6); err != nil || string(text) != "walrus" {
		t.Errorf("%q, %v", text, err)
	}
	if err := <-given; err != nil {
		t.Error(err)
	}
}
