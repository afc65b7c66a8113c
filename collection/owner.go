package collection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"sheaf/index/vfs"
)

// One process at a time takes documents: the process whose Work runs, or else the one that writes. A second process
// would repeat tasks, take a running change for an interrupted one, and check conditions against old versions.

// ownerLock is the file that this process locks. Earlier versions lock the same file.
const ownerLock = "documents.lock"

// ownerStep is the time between two looks whether the process before has ended.
const ownerStep = time.Second

// owner is the right of this process to take documents.
type owner struct {
	mu    sync.Mutex
	users int
	older atomic.Bool // the files of earlier versions are taken over
	lock  io.Closer   // nil where no file can be made: then nothing can be written either
}

// own makes this process the one that takes documents, until disown is called as often.
func (c *Collection) own() error {
	o := &c.given.owner
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.users == 0 {
		lock, err := vfs.Disk{}.Lock(filepath.Join(c.o.Intake, ownerLock))
		if errors.Is(err, vfs.ErrLocked) {
			return fmt.Errorf("%w: %w", ErrTaken, err)
		}
		if err == nil {
			o.lock = lock
		}
	}
	o.users++
	return nil
}

func (c *Collection) disown() {
	o := &c.given.owner
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.users--; o.users == 0 && o.lock != nil {
		_ = c.given.file.Flush() // otherwise the next process finds it out
		_ = o.lock.Close()       // nothing was written to it
		o.lock = nil
	}
}

// ownWhenFree waits until the process before has ended, and calls own. It returns false when ctx ends first.
func (c *Collection) ownWhenFree(ctx context.Context) bool {
	for c.own() != nil {
		c.given.recovering.Store(false) // searches use what is indexed
		select {
		case <-ctx.Done():
			return false
		case <-time.After(ownerStep):
		}
	}
	return true
}
