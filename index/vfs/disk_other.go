//go:build (!unix && !windows) || aix

package vfs

import (
	"errors"
	"os"
)

// nonBlocking is 0, because this system does not need it.
const nonBlocking = 0

func mapFile(f *os.File, size int) (Mapping, error) { return readAll(f, size) }

// lockFile returns an error. Without a lock, two writers could destroy each other's work.
func lockFile(*os.File) error { return errors.ErrUnsupported }

func syncDir(string) error { return nil }

// deviceFull recognizes errors that only Windows has. It returns false on this system.
func deviceFull(error) bool { return false }
