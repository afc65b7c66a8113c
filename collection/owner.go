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

// Documents are given to one process at a time: to the one whose Work runs, and without
// such a one to whoever writes. Another one would do tasks of this one once more, take its
// batch for one that ended in the middle, and not know what conditions stand on.

// ownerLock is the file that the process holds. Earlier versions, which kept documents in a
// folder, hold the same.
const ownerLock = "documents.lock"

// ownerStep is how often a process looks whether the one before it has ended.
const ownerStep = time.Second

// owner is whether this process is the one that is given documents.
type owner struct {
	mu    sync.Mutex
	users int
	older atomic.Bool // files of earlier versions were looked for
	lock  io.Closer   // nil where no file can be made: then nothing can be written either
}

// own makes this process the one that is given documents until disown is called as often.
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
		_ = c.given.file.Flush() // else who is next finds the same out
		_ = o.lock.Close()       // of which nothing was written
		o.lock = nil
	}
}

// ownWhenFree is own once the process before has ended, which until then is asked in vain;
// false when ctx ends first.
func (c *Collection) ownWhenFree(ctx context.Context) bool {
	for c.own() != nil {
		c.given.recovering.Store(false) // what is there is searched
		select {
		case <-ctx.Done():
			return false
		case <-time.After(ownerStep):
		}
	}
	return true
}
