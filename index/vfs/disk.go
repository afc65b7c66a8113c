package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
	"unsafe"
)

// Disk is the file system of the host.
type Disk struct{}

var _ FS = Disk{}

// lockTries is the largest number of times that Lock tries a locked file again. A process that only checks a lock
// releases the lock before the next attempt.
const lockTries = 5

// Create implements [FS].
func (Disk) Create(name string) (File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
}

// On Windows, another process can block an operation on a manifest very briefly. Disk then repeats the operation after
// pauses of length retry, for at most the time patience.
const (
	patience = 2 * time.Second
	retry    = time.Millisecond
)

// Open implements [FS]. If a pipe has replaced the file, Open does not wait for a writer of the pipe.
func (Disk) Open(name string) (File, error) {
	for began := time.Now(); ; time.Sleep(retry) {
		f, err := os.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
		if errors.Is(err, syscall.EAGAIN) { // another process, such as a file server, has a lease on the file
			f, err = os.Open(name)
		}
		if err == nil || !isReplaced(err) || time.Since(began) > patience {
			return f, err
		}
	}
}

// Rename implements [FS].
func (Disk) Rename(from, to string) error {
	for began := time.Now(); ; time.Sleep(retry) {
		if err := os.Rename(from, to); err == nil || !isRead(err) || time.Since(began) > patience {
			return err
		}
	}
}

// Remove implements [FS].
func (Disk) Remove(name string) error { return os.Remove(name) }

// MkdirAll implements [FS]. Only the owner can enter the new folders, because an index reveals the content of notes.
func (Disk) MkdirAll(name string) error {
	var above []string // folders that get a new entry
	for dir := filepath.Clean(name); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		above = append(above, filepath.Dir(dir))
	}
	if err := os.MkdirAll(name, 0o700); err != nil {
		return err
	}
	for _, dir := range slices.Backward(above) {
		// a user may enter a folder without the right to read it
		if err := syncDir(dir); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// List implements [FS].
func (Disk) List(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(-1)
	d.Close()
	slices.Sort(names)
	return names, err
}

// Stat implements [FS].
func (Disk) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// SyncDir implements [FS]. On Windows it does nothing: folders cannot be synced, and the operating system orders
// renames itself.
func (Disk) SyncDir(dir string) error { return syncDir(dir) }

// Map implements [FS].
func (Disk) Map(name string) (Mapping, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fs.PathError{Op: "map", Path: name, Err: fs.ErrInvalid}
	}
	size := info.Size()
	if int64(int(size)) != size {
		return nil, &fs.PathError{Op: "map", Path: name, Err: errTooLarge}
	}
	if size == 0 {
		return bytesMapping(nil), nil
	}
	return mapFile(f, int(size))
}

// Lock implements [FS]. The locked file stays and names its last holder. The lock itself belongs to the operating
// system and ends with the process. Lock refuses file systems without locks. It also refuses network file systems,
// because their locks may apply to one machine only. The error names the file system.
func (Disk) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if system := networkName(f); system != "" {
		f.Close()
		return nil, lockError(name, "", fmt.Errorf("the folder is on the network file system %s", system))
	}
	err = lockFile(f)
	for n := 0; n < lockTries && errors.Is(err, errLockHeld); n++ {
		time.Sleep(retry)
		err = lockFile(f)
	}
	if err != nil {
		owner := readOwner(f)
		f.Close()
		return nil, lockError(name, owner, err)
	}
	writeOwner(f)
	return f, nil
}

// bytesMapping is a mapping whose bytes are on the heap, not in a mapped file.
type bytesMapping []byte

func (m bytesMapping) Bytes() []byte { return m }
func (m bytesMapping) Close() error  { return nil }

// mapAlignment is the smallest alignment of the bytes of a Mapping, in bytes.
const mapAlignment = 64

// aligned returns a slice of zeros with this size in bytes. Its address is a multiple of mapAlignment.
func aligned(size int) []byte {
	b := make([]byte, size+mapAlignment-1)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (mapAlignment - 1)
	return b[skip : skip+size : skip+size]
}

// readAll returns the content of a file as a Mapping on the heap, for platforms that cannot map files.
func readAll(f *os.File, size int) (Mapping, error) {
	data := aligned(size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, &fs.PathError{Op: "read", Path: f.Name(), Err: err}
	}
	return bytesMapping(data), nil
}
