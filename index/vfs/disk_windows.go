package vfs

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// nonBlocking is a flag for opening files. This system does not need it.
const nonBlocking = 0

type mapping struct {
	data   []byte
	handle windows.Handle
}

func (m *mapping) Bytes() []byte { return m.data }

func (m *mapping) Close() error {
	return errors.Join(windows.UnmapViewOfFile(uintptr(unsafe.Pointer(unsafe.SliceData(m.data)))),
		windows.CloseHandle(m.handle))
}

func mapFile(f *os.File, size int) (Mapping, error) {
	handle, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return readAll(f, size)
	}
	address, err := windows.MapViewOfFile(handle, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		windows.CloseHandle(handle)
		return readAll(f, size)
	}
	return &mapping{unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&address))), size), handle}, nil
}

// lockFile locks one byte far after the name of the owner, so that other processes can still read the name.
func lockFile(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0,
		1, 0, &windows.Overlapped{Offset: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLockHeld
	}
	return err
}

func syncDir(string) error { return nil }

// deviceFull reports whether an error of this system means that the device is full.
func deviceFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
