package location

import (
	"errors"
	"fmt"
	"path/filepath"

	"sheaf"
	"sheaf/index/vfs"
)

// CatalogDir returns the folder of the catalog in the index at dir.
func CatalogDir(dir string) string { return filepath.Join(dir, catalogName) }

// EngineDir returns the folder of the engine in the index at dir.
func EngineDir(dir string) string { return filepath.Join(dir, engineName) }

// Lock prevents other processes from emptying the index at dir until release is called. It does not
// wait: the error sheaf.ErrUnavailable names the process with the lock.
func Lock(dir string) (release func() error, err error) {
	lock, err := vfs.Disk{}.Lock(filepath.Join(dir, lockName))
	switch {
	case errors.Is(err, vfs.ErrLocked):
		return nil, fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err)
	case err != nil:
		return nil, err
	}
	return lock.Close, nil
}
