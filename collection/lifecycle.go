package collection

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"sheaf"
	"sheaf/index/vfs"
	"sheaf/ingest"
)

// Need says what work on an index is for. It decides how long the work waits for another process that writes.
type Need int

const (
	// NeedAnswer is work before an answer, which may come from the last indexing run: it waits 0.5 s.
	NeedAnswer Need = iota
	// NeedFresh is work that nothing replaces, such as the first run: it waits 10 minutes.
	NeedFresh
)

// waits says how long work waits for another process that writes. A server that has just seen the same change is done
// within the shorter time.
func (n Need) waits() time.Duration {
	if n == NeedAnswer {
		return 500 * time.Millisecond
	}
	return 10 * time.Minute
}

const (
	// mostTries bounds how often work is done on an index that other processes make again and again.
	mostTries = 5
	// lockStep is the time from one look at a lock to the next.
	lockStep = 50 * time.Millisecond
)

// Life decides what an error of work on an index means. Each function may be nil: then its kind of error is returned.
type Life struct {
	// Reopen opens the index again, which another process made again in another way.
	Reopen func(ctx context.Context) error
	// Remake makes a damaged index again from the files.
	Remake func(ctx context.Context, because error) error
	// Moved reports whether another process changed the index: then work that waits is tried again at once.
	Moved func() bool
	// Notice tells a person that work waits.
	Notice func(format string, args ...any)
}

// Do works on an index until that succeeds, or an error comes that waiting, reopening and remaking do not mend:
//
//	vfs.ErrLocked         another process writes: wait as long as need says
//	ingest.ErrRebuilt    another process made the index again: reopen it, 5 times at most
//	damage of our files   remake it once
//	any other             return it
func (l *Life) Do(ctx context.Context, need Need, work func() error) error {
	var began time.Time // of waiting
	said, remade := false, false
	for tries := 1; ; {
		err := work()
		switch {
		case err == nil:
			return nil
		case errors.Is(err, vfs.ErrLocked) && l.Moved != nil:
			if began.IsZero() {
				began = time.Now()
			}
			if waited := l.wait(ctx, err, began, need, &said); waited != nil {
				return waited
			}
		case errors.Is(err, ingest.ErrRebuilt) && l.Reopen != nil:
			if tries == mostTries {
				return Hint(err, "repeat the command when that process is done")
			}
			tries++
			if err := l.Reopen(ctx); err != nil {
				return err
			}
		case damage(err) && l.Remake != nil && !remade:
			remade = true
			if err := l.Remake(ctx, err); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// wait returns nil when the lock that err names is free, or another process has done something: then perhaps nothing
// is left to do. It returns err when it waited long enough since began.
func (l *Life) wait(ctx context.Context, err error, began time.Time, need Need, said *bool) error {
	for {
		waited := time.Since(began)
		if waited >= need.waits() {
			return err
		}
		if l.Notice != nil && !*said && waited >= time.Second {
			l.Notice("waiting: %v", err)
			*said = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockStep):
		}
		if isFree(err) || l.Moved() {
			return nil
		}
	}
}

// isFree reports whether no process holds the lock that err names.
func isFree(err error) bool {
	var held *fs.PathError
	if !errors.As(err, &held) || held.Op != "lock" {
		return true // the work itself tells
	}
	lock, err := vfs.Disk{}.Lock(held.Path)
	if err == nil {
		err = lock.Close()
	}
	return !errors.Is(err, vfs.ErrLocked)
}

// StoreError marks an error of a server that keeps an index. Making the index again does not mend it.
type StoreError struct{ Err error }

// Error implements error.
func (e StoreError) Error() string { return e.Err.Error() }

// Unwrap gives the error of the server.
func (e StoreError) Unwrap() error { return e.Err }

// damage reports whether err says that a file of the index is damaged.
func damage(err error) bool {
	return !errors.As(err, new(StoreError)) && (errors.Is(err, sheaf.ErrCorrupt) || errors.Is(err, vfs.ErrCorrupt))
}

// Remakable reports whether an error goes away when the index is made again from the files: damage, another version,
// other settings.
func Remakable(err error) bool {
	return !errors.As(err, new(StoreError)) && (errors.Is(err, sheaf.ErrCorrupt) || errors.Is(err, sheaf.ErrUnsupported))
}

// HintError is an error with advice, which is shown on a line of its own.
type HintError struct {
	error
	Hint string
}

// Unwrap gives the error without the advice.
func (e *HintError) Unwrap() error { return e.error }

// Hint adds advice to an error.
func Hint(err error, format string, args ...any) error {
	return &HintError{error: err, Hint: fmt.Sprintf(format, args...)}
}
