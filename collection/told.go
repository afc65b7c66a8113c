package collection

import (
	"errors"
	"fmt"
	"slices"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/index/vfs"
	"sheaf/search"
	"sheaf/store"
)

// behind is a failure of what stands behind the server, a store or a model, which in its
// words may name machines, accounts and files.
type behind struct{ error }

// Unwrap is for errors.Is and errors.As.
func (e behind) Unwrap() error { return e.error }

// fromBehind marks what a store or a model returned. That it does not let the server in, or
// not do what it does, is nothing that the caller asked wrong, or can mend.
func fromBehind(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrForbidden), errors.Is(err, store.ErrKeptOut):
		err = fmt.Errorf("%w: %v", sheaf.ErrUnavailable, err)
	}
	return behind{err}
}

// told is an error in other words.
type told struct {
	text  string
	cause error
}

// Error is what a caller is told.
func (e *told) Error() string { return e.text }

// Unwrap is for errors.Is and errors.As.
func (e *told) Unwrap() error { return e.cause }

// tells reports whether a caller is told why what stands behind the server fails.
func tells(grant *access.Grant) bool { return grant.May(access.ScopeAdmin) }

// Told is err as a caller is told of it: the same, but that only the scope admin is told how
// a store or a model behind the server cannot be reached, and nobody which file could not be
// opened since too many are. The log is to have err itself.
func Told(err error, grant *access.Grant) error {
	if vfs.TooManyFiles(err) {
		return &told{"unavailable: too many files or connections are open: repeat this in a moment",
			fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err)}
	}
	var rejected *RejectedError
	if errors.As(err, &rejected) && errors.As(rejected.Lost, new(behind)) && !tells(grant) {
		bare := *rejected
		bare.Lost = errors.New("a key with the scope admin is told why")
		return &bare
	}
	if !errors.Is(err, sheaf.ErrUnavailable) || tells(grant) || !errors.As(err, new(behind)) {
		return err
	}
	return &told{"unavailable: what the server asks does not answer, a store or a model: a key with the scope admin " +
		"is told why", err}
}

// toldOf are warnings or notes of a result, as the caller is told of them.
func (r *Reader) toldOf(result *search.Result, texts []string) []string {
	out := slices.Clone(texts)
	if tells(&r.grant) {
		return out
	}
	for i, text := range out {
		if bare, ok := result.Bare[text]; ok {
			out[i] = bare
		}
	}
	return out
}
