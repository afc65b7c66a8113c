package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// ErrLocked means that another process, or another part of this process, holds a lock.
var ErrLocked = errors.New("locked")

var errTooLarge = errors.New("file is too large for this machine's address space")

// errLockHeld means that another process holds the lock. Any other error of lockFile means that the file system has no
// locks.
var errLockHeld = errors.New("held")

func lockError(name, owner string, err error) error {
	if errors.Is(err, errLockHeld) {
		if owner == "" {
			owner = "another process"
		}
		return &fs.PathError{Op: "lock", Path: name, Err: fmt.Errorf("%w by %s", ErrLocked, owner)}
	}
	return &fs.PathError{Op: "lock", Path: name,
		Err: fmt.Errorf("no safe lock here (%w): keep the index on a local disk", err)}
}

// writeOwner writes the name of the lock's holder into the locked file, for people. A failure does not matter.
func writeOwner(f *os.File) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	text := fmt.Sprintf("process %d on %s since %s\n", os.Getpid(), host, time.Now().Format(time.RFC3339))
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt([]byte(text), 0)
	}
}

func readOwner(f *os.File) string {
	var buf [256]byte
	n, _ := f.ReadAt(buf[:], 0)
	line, _, _ := strings.Cut(string(buf[:n]), "\n")
	return strings.TrimSpace(strings.ToValidUTF8(line, "?"))
}
