//go:build (!unix && !windows) || aix

package vfs

import (
	"errors"
	"os"
)

// nonBlocking is a flag for opening files. This system does not need it.
const nonBlocking = 0

func mapFile(f *os.File, size int) (Mapping, error) { return readAll(f, size) }

// lockFile returns an error, because this package has no locks for this system. Without a lock, two writers could
// destroy each other's work.
func lockFile(*os.File) error { return errors.ErrUnsupported }

func syncDir(string) error { return nil }

// deviceFull returns false. NoSpace calls it for errors that only Windows has.
func deviceFull(error) bool { return false }
