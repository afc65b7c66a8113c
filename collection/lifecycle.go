package collection

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"sheaf"
	"sheaf/collection/location"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/wording"
	"sheaf/store"
)

// These constants say how long and how often to wait while another process writes.
const (
	// NeedAnswer is the longest wait of an update before an answer. Without the update, the answer may be older. A
	// running server can index the same change within this time.
	NeedAnswer = 500 * time.Millisecond
	// NeedFresh is the longest wait of work that must be done, such as the first run.
	NeedFresh = 10 * time.Minute
)

const (
	// mostTries is the largest number of new attempts while other processes keep remaking an index. Then the command
	// fails.
	mostTries = 5
	// lockStep is the time between two checks of a lock.
	lockStep = 50 * time.Millisecond
)

// Life says how to recover from an error of work on an index. If one of Reopen, Remake and Moved is nil, Do returns the
// errors that this function would handle.
type Life struct {
	// Reopen opens the index again, after another process remade the index.
	Reopen func(ctx context.Context) error
	// Remake makes a damaged index again from its files.
	Remake func(ctx context.Context, because error) error
	// Moved reports whether another process has changed the index. If it returns true, Do repeats the work at once.
	Moved func() bool
	// Do calls Notice when it waits for more than a second.
	Notice func(format string, args ...any)
}

// Do repeats work until it succeeds. After an error, Do does this:
//
//	vfs.ErrLocked        another process writes: wait, for at most the time need
//	ingest.ErrRebuilt    another process remade the index: reopen it, 5 times at most
//	damage of our files  remake it once
//	any other            return it
func (l *Life) Do(ctx context.Context, need time.Duration, work func() error) error {
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

// wait waits until the lock in err is free, or until another process has changed the index. Then wait returns nil, and
// the caller tries the work again. If the duration need has passed since the time began, wait returns err. After a
// second, wait prints one notice and sets *said.
func (l *Life) wait(ctx context.Context, err error, began time.Time, need time.Duration, said *bool) error {
	for {
		waited := time.Since(began)
		if waited >= need {
			return err
		}
		if l.Notice != nil && !*said && waited >= time.Second {
			l.Notice("waiting: %v", err)
			*said = true
		}
		if ended := pause(ctx, lockStep); ended != nil {
			return ended
		}
		if isFree(err) || l.Moved() {
			return nil
		}
	}
}

// pause waits for the duration long. If ctx ends first, pause returns the error of ctx.
func pause(ctx context.Context, long time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(long):
		return nil
	}
}

// isFree reports whether no process holds the lock that err names.
func isFree(err error) bool {
	held, ok := errors.AsType[*fs.PathError](err)
	if !ok || held.Op != "lock" {
		return true // the work itself reports the error
	}
	lock, err := vfs.Disk{}.Lock(held.Path)
	if err == nil {
		err = lock.Close()
	}
	return !errors.Is(err, vfs.ErrLocked)
}

// StoreError is an error of the server that stores the chunks. Remaking the index does not help.
type StoreError struct{ Err error }

// Error implements error.
func (e StoreError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the server.
func (e StoreError) Unwrap() error { return e.Err }

// damage reports whether err means that a file of the index is damaged.
func damage(err error) bool {
	return !errors.As(err, new(StoreError)) && (errors.Is(err, sheaf.ErrCorrupt) || errors.Is(err, vfs.ErrCorrupt))
}

// Remakable reports whether remaking the index from the files solves an error. It returns true if the index is damaged,
// has another version, or has other settings.
func Remakable(err error) bool {
	return !errors.As(err, new(StoreError)) && (errors.Is(err, sheaf.ErrCorrupt) || errors.Is(err, sheaf.ErrUnsupported))
}

// HintError is an error with advice. Commands print the advice on its own line.
type HintError struct {
	error
	Hint string
}

// Unwrap returns the error without the advice.
func (e *HintError) Unwrap() error { return e.error }

// Hint adds advice to an error.
func Hint(err error, format string, args ...any) error {
	return &HintError{error: err, Hint: fmt.Sprintf(format, args...)}
}

// Advise adds advice to an error that says why the index cannot be used.
func (x *Index) Advise(err error) error {
	switch {
	case errors.As(err, new(*HintError)):
	case errors.Is(err, sheaf.ErrCorrupt):
		return Hint(err, "repair it: sheaf check --repair --in %s", wording.ShellQuoted(x.Where.Root))
	case errors.Is(err, store.ErrMadeOtherwise):
		return Hint(err, "make it again from the files: sheaf index --rebuild --in %s", wording.ShellQuoted(x.Where.Root))
	case errors.Is(err, vfs.ErrVersion), errors.Is(err, location.ErrFormat), errors.Is(err, errAnalyzer):
		return Hint(err, "another version of sheaf made it: make it again from the files: sheaf index --rebuild --in %s",
			wording.ShellQuoted(x.Where.Root))
	case vfs.Forbidden(err):
		return Hint(fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err), "the index in %s cannot be written: name another "+
			"folder with --index or SHEAF_DATA_DIR", x.Where.Dir)
	case vfs.NoSpace(err):
		return Hint(fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err), "there is no space for the index in %s: make "+
			"some, or name another folder with --index or SHEAF_DATA_DIR", x.Where.Dir)
	}
	return err
}

// Elsewhere adds advice to an error if the folder of the index cannot be made or opened: choose another folder. It
// returns other errors unchanged.
func Elsewhere(err error) error {
	path, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return err
	}
	return Hint(fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err), "the index cannot be in %s: name another folder "+
		"with --index or SHEAF_DATA_DIR", path.Path)
}
