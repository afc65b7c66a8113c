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

// One process at a time accepts documents: the process whose Work runs, or else the one that writes. A second process
// would repeat tasks, treat a running change as interrupted, and check conditions on old versions.

// ownerLock is the lock file of the process that accepts documents. Earlier versions lock the same file.
const ownerLock = "documents.lock"

// ownerStep is the time between two checks whether the owner (the process that accepts documents) has ended.
const ownerStep = time.Second

// owner is the right to accept documents. Only one process at a time has this right.
type owner struct {
	mu    sync.Mutex
	users int
	older atomic.Bool // the files of earlier versions are in intake.db
	lock  io.Closer   // nil if the file cannot be made: then no write is possible either
}

// acquireOwner gives this process the right to accept documents, or returns an error. After a success, call disown
// once.
func (c *Collection) acquireOwner() error {
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
		_ = o.lock.Close() // nothing was written to it
		o.lock = nil
	}
}

// ownWhenFree waits until no other process accepts documents, and takes this right. If ctx ends first, it returns
// false.
func (c *Collection) ownWhenFree(ctx context.Context) bool {
	for c.acquireOwner() != nil {
		c.given.recovering.Store(false) // searches use the indexed documents
		if pause(ctx, ownerStep) != nil {
			return false
		}
	}
	return true
}
