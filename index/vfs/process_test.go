package vfs_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// holdEnvironment names a file. A second process of the test binary locks it until its standard
// input ends.
const holdEnvironment = "SHEAF_TEST_HOLD_LOCK"

func TestMain(m *testing.M) {
	if name := os.Getenv(holdEnvironment); name != "" {
		if _, err := (vfs.Disk{}).Lock(name); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("held")
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestLockOfAnotherProcess checks that an error names a lock's owner, and that the lock is free after its death.
func TestLockOfAnotherProcess(t *testing.T) {
	name := filepath.Join(t.TempDir(), "LOCK")
	program := must.Get(os.Executable())
	other := exec.Command(program)
	other.Env = append(os.Environ(), holdEnvironment+"="+name)
	stdin := must.Get(other.StdinPipe())
	defer stdin.Close()
	stdout := must.Get(other.StdoutPipe())
	must.Do(t, other.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	must.That(t, err == nil && line == "held\n", "the other process says %q, %v", line, err)
	_, err = vfs.Disk{}.Lock(name)
	host, hostErr := os.Hostname()
	owner := fmt.Sprintf("process %d on %s since 2", other.Process.Pid, host)
	check.That(t, errors.Is(err, vfs.ErrLocked) && (hostErr != nil || strings.Contains(err.Error(), owner)),
		"got %v, want one that names %q", err, owner)
	must.Do(t, other.Process.Kill())
	_ = other.Wait() // the test killed it
	lock, err := vfs.Disk{}.Lock(name)
	must.That(t, err == nil, "the owner is dead: %v", err)
	must.Do(t, lock.Close())
}

func TestMappingsAreAligned(t *testing.T) {
	for name, c := range map[string]struct {
		fs  vfs.FS
		dir string
	}{"disk": {vfs.Disk{}, t.TempDir()}, "mem": {vfs.NewMem(), "/"}} {
		for _, size := range []int{1, 15, 96, 5000} {
			path := filepath.Join(c.dir, "f")
			write(t, c.fs, path, strings.Repeat("x", size), false)
			m := must.Get(c.fs.Map(path))
			at := uintptr(unsafe.Pointer(unsafe.SliceData(m.Bytes())))
			check.That(t, at%64 == 0 && len(m.Bytes()) == size, "%s: %d bytes at %x", name, len(m.Bytes()), at)
			must.Do(t, m.Close())
		}
	}
}

// TestLockProbeStopsNoProcess checks that a short lock, which only tests whether the lock is free, does not
// stop other processes.
func TestLockProbeStopsNoProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name, had := filepath.Join(t.TempDir(), "LOCK"), 0
		const times = 20
		for range times {
			looking := must.Get(vfs.Disk{}.Lock(name))
			gone := make(chan error, 1)
			time.AfterFunc(500*time.Microsecond, func() { gone <- looking.Close() })
			if lock, err := (vfs.Disk{}).Lock(name); err == nil {
				had++
				_ = lock.Close()
			}
			must.Do(t, <-gone)
		}
		check.That(t, had >= times, "had %d of %d times", had, times)
	})
}
