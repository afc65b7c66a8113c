package collection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"sheaf/index/vfs"
)

// Documents are given to one process at a time: to the one whose Work runs, and without
// such a one to whoever writes. Another one would do tasks of this one once more, take its
// batch for one that ended in the middle, and not know what conditions stand on.

// ownerLock ends the name of the file that the process holds, beside the folder of documents.
const ownerLock = ".lock"

// ownerStep is how often a process looks whether the one before it has ended.
const ownerStep = time.Second

// owner is whether this process is the one that is given documents.
type owner struct {
	mu    sync.Mutex
	users int
	lock  io.Closer // nil where no file can be made: then nothing can be written either
}

// own makes this process the one that is given documents until disown is called as often.
func (c *Collection) own() error {
	o := &c.given.owner
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.users == 0 {
		lock, err := vfs.Disk{}.Lock(c.o.Documents + ownerLock)
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

// Own makes this process the one that is given documents, until what it returns is called: for
// a door that keeps something of what it was given. While another process is the one, the
// error wraps [ErrTaken]. A collection that takes none is nobody's.
func (c *Collection) Own() (disown func(), err error) {
	if c.o.Ingest == nil || c.o.Documents == "" {
		return func() {}, nil
	}
	if err := c.own(); err != nil {
		return nil, err
	}
	return sync.OnceFunc(c.disown), nil
}

func (c *Collection) disown() {
	o := &c.given.owner
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.users--; o.users == 0 && o.lock != nil {
		_ = o.lock.Close() // of which nothing was written
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
