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
	// NeedAnswer is the longest time that an update waits for another process while a person waits for an answer. After
	// this time, the answer lacks the update. The time is long enough for a running server to index the same change.
	NeedAnswer = 500 * time.Millisecond
	// NeedFresh is the longest time that necessary work, such as the first run of an index, waits for another process.
	NeedFresh = 10 * time.Minute
)

const (
	// mostTries is the largest number of attempts while other processes keep remaking an index. After the last attempt,
	// the command fails.
	mostTries = 5
	// lockStep is the time between two checks of a lock.
	lockStep = 50 * time.Millisecond
)

// OpenAgain reports whether work failed because another process remade the index. The caller then opens the index again
// and repeats the work. tries counts the attempts. After the fifth attempt, OpenAgain adds advice to *err and returns
// false.
func OpenAgain(err *error, tries int) bool {
	if !errors.Is(*err, ingest.ErrRebuilt) {
		return false
	}
	if tries == mostTries {
		*err = Hint(*err, "repeat the command when that process is done")
	}
	return tries < mostTries
}

// Retry calls the function work, which uses the index, at most mostTries times. If work fails because another process
// remade the index, Retry opens the index again and repeats work. If work fails because a file of the index is damaged,
// Retry remakes the index, once, and repeats work. Retry returns any other error of work.
func (x *Index) Retry(ctx context.Context, work func() error) error {
	remade := false
	for tries := 1; ; tries++ {
		err := work()
		switch {
		case OpenAgain(&err, tries):
			x.Close()
			err = x.BringUp(ctx, IndexOptions{Refresh: true})
		case damage(err) && !remade:
			remade = true
			err = x.Remake(ctx, err, true)
		default:
			return err
		}
		if err != nil {
			return err
		}
	}
}

// whenFree calls the function try. If another process has locked a file, whenFree waits until the lock is free or the
// catalog has changed. Then it calls try again. It waits for at most maxWait, and then returns the error of try. After
// a second of waiting it calls notice, unless notice is nil.
func (s *Stores) whenFree(ctx context.Context, maxWait time.Duration, notice func(format string, args ...any),
	try func() error) error {
	var began time.Time // of the first wait
	for said := false; ; {
		err := try()
		if !errors.Is(err, vfs.ErrLocked) {
			return err
		}
		if began.IsZero() {
			began = time.Now()
		}
		for free := false; !free; free = isFree(err) || moved(s.Catalog) {
			waited := time.Since(began)
			if waited >= maxWait {
				return err
			}
			if notice != nil && !said && waited >= time.Second {
				notice("waiting: %v", err)
				said = true
			}
			if ended := pause(ctx, lockStep); ended != nil {
				return ended
			}
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

// isFree reports whether no process holds the lock file that err names. It returns true if err names no lock file.
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
type StoreError struct{ error }

// Unwrap returns the error of the server.
func (e StoreError) Unwrap() error { return e.error }

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

// Elsewhere adds advice to an error if the folder of the index cannot be made or opened. The advice is to choose
// another folder. It returns other errors unchanged.
func Elsewhere(err error) error {
	path, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return err
	}
	return Hint(fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err), "the index cannot be in %s: name another folder "+
		"with --index or SHEAF_DATA_DIR", path.Path)
}
