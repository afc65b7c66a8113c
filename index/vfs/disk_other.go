//go:build (!unix && !windows) || aix

package vfs

import (
	"errors"
	"os"
)

// nonBlocking is needed for nothing here.
const nonBlocking = 0

func mapFile(f *os.File, size int) (Mapping, error) { return readAll(f, size) }

// lockFile refuses: to go on without a lock would let two writers destroy each
// other's work.
func lockFile(*os.File) error { return errors.ErrUnsupported }

func syncDir(string) error { return nil }

// deviceFull reports what only Windows says in its own way.
func deviceFull(error) bool { return false }
