package sheaf

import (
	"errors"
	"fmt"
)

// The categories of error. Every error that leaves a package of this module which
// imports this one either wraps one of these (test with [errors.Is]), wraps an error
// of the operating system or of a context, or is a bug. Packages that stand alone
// (text/analysis, model, index/vfs) have errors of their own.
var (
	// ErrNotFound says that a named thing does not exist.
	ErrNotFound = errors.New("not found")
	// ErrInvalid says that the caller's input is wrong: the message names
	// the field, the value and what is allowed.
	ErrInvalid = errors.New("invalid")
	// ErrUnsupported says that a store or a stage cannot do what is asked.
	ErrUnsupported = errors.New("unsupported")
	// ErrUnavailable says that something needed did not answer or is held
	// by someone else; the same call may succeed later.
	ErrUnavailable = errors.New("unavailable")
	// ErrCorrupt says that stored bytes are not what was written: the
	// message names the file, the section and the offset.
	ErrCorrupt = errors.New("corrupt")
)

// Invalidf returns an error that wraps [ErrInvalid] and reads
// "invalid: " followed by the formatted message.
func Invalidf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrInvalid, fmt.Errorf(format, args...))
}

// WithCategory returns an error that wraps category besides what err wraps, and
// reads as err does: for packages that translate the errors of a layer below
// them, whose messages say what is wrong already. nil stays nil, and an error of
// that category stays as it is.
func WithCategory(category, err error) error {
	if err == nil || errors.Is(err, category) {
		return err
	}
	return &categorized{err, category}
}

type categorized struct {
	error
	category error
}

func (e *categorized) Unwrap() []error { return []error{e.error, e.category} }

// ExitCode is the exit status of a command that ends with err: 0 for nil,
// 2 for invalid input and unsupported requests, 3 for things that do not
// exist, 4 for things that are unavailable, 5 for corruption, 6 for every
// other error. Status 1 is kept for "nothing was found", which is no error.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrInvalid), errors.Is(err, ErrUnsupported):
		return 2
	case errors.Is(err, ErrNotFound):
		return 3
	case errors.Is(err, ErrUnavailable):
		return 4
	case errors.Is(err, ErrCorrupt):
		return 5
	}
	return 6
}
