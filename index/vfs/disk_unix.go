//go:build unix && !aix

package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// nonBlocking is a flag for opening files. With it, opening a pipe does not wait for a writer.
const nonBlocking = unix.O_NONBLOCK

type mapping []byte

func (m mapping) Bytes() []byte { return m }
func (m mapping) Close() error  { return unix.Munmap(m) }

func mapFile(f *os.File, size int) (Mapping, error) {
	data, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return readAll(f, size) // some file systems cannot map
	}
	return mapping(data), nil
}

func lockFile(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLockHeld
	}
	return err
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil // the file system does not support it
	}
	return errors.Join(err, d.Close())
}

// deviceFull returns false. NoSpace calls it for errors that only Windows has.
func deviceFull(error) bool { return false }
