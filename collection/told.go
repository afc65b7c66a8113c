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

// told is an error with another text.
type told struct {
	text  string
	cause error
}

// Error is the text for a caller.
func (e *told) Error() string { return e.text }

// Unwrap is for errors.Is and errors.As.
func (e *told) Unwrap() error { return e.cause }

// tells reports whether a caller may see why a store or a model behind the server fails.
func tells(grant *access.Grant) bool { return grant.May(access.ScopeAdmin) }

// Told returns err as a caller may see it. Only the scope admin sees why a store or a model behind
// the server fails. No caller sees which file could not be opened because too many are open. Write
// err itself into the log.
func Told(err error, grant *access.Grant) error {
	if vfs.TooManyFiles(err) {
		return &told{"unavailable: too many files or connections are open: repeat this in a moment",
			fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err)}
	}
	var rejected *RejectedError
	if errors.As(err, &rejected) && errors.As(rejected.Lost, new(behind)) && !tells(grant) {
		bare := *rejected
		bare.Lost = errors.New("a key with the scope admin sees why")
		return &bare
	}
	if !errors.Is(err, sheaf.ErrUnavailable) || tells(grant) || !errors.As(err, new(behind)) {
		return err
	}
	return &told{"unavailable: a store or a model behind the server does not answer: a key with the scope admin " +
		"sees why", err}
}

// toldOf returns warnings or notes of a result as the caller may see them.
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
