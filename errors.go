package sheaf

import (
	"errors"
	"fmt"
)

// These are the categories of error. Test for a category with [errors.Is]. Each error of a package that imports sheaf
// wraps a category, an operating system error, or a context's error. Any other error is a bug. The packages
// text/analysis, model and index/vfs do not import sheaf and have their own errors.
var (
	// ErrNotFound means that a named thing does not exist.
	ErrNotFound = errors.New("not found")
	// ErrInvalid means that the caller's input is wrong. The message names the field, the value and the allowed values.
	ErrInvalid = errors.New("invalid")
	// ErrUnsupported means that a store or a stage cannot do the operation.
	ErrUnsupported = errors.New("unsupported")
	// ErrUnavailable means that a store, file or server did not answer or is in use. The same call may succeed later.
	ErrUnavailable = errors.New("unavailable")
	// ErrCorrupt means that stored bytes have changed. The message names the file, the section and the offset.
	ErrCorrupt = errors.New("corrupt")
)

// Invalidf returns an error that wraps [ErrInvalid]. Its text is "invalid: " and the message.
func Invalidf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrInvalid, fmt.Errorf(format, args...))
}

// WithCategory returns an error that wraps both err and category. Its text is the text of err. WithCategory returns err
// itself if err is nil or has the category.
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

// ExitCode returns a command's exit status for err. It is 0 for nil, 2 for [ErrInvalid] and [ErrUnsupported], and 3 for
// [ErrNotFound]. It is 4 for [ErrUnavailable], 5 for [ErrCorrupt], and 6 for any other error. ExitCode never returns 1:
// a command without an error returns 1 when it found nothing.
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
