//go:build (!unix && !windows) || aix

package vfs

import (
	"errors"
	"os"
)

// nonBlocking is not needed here.
const nonBlocking = 0

func mapFile(f *os.File, size int) (Mapping, error) { return readAll(f, size) }

// lockFile fails: without a lock two writers could destroy each other's work.
func lockFile(*os.File) error { return errors.ErrUnsupported }

func syncDir(string) error { return nil }

// deviceFull recognizes errors that only Windows has.
func deviceFull(error) bool { return false }
