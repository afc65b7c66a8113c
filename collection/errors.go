package collection

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/index/vfs"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/store"
)

// These errors are categories. A door maps each category to a status, like the categories of the root package.
var (
	// ErrPrecondition means that a condition of the caller does not hold. Either the document has another version, or the
	// document exists although the caller wants no document.
	ErrPrecondition = errors.New("a condition of the request does not hold")
	// ErrConflict means that a request conflicts with itself or with existing data.
	ErrConflict = errors.New("conflict")
	// ErrTaken means that another process accepts documents for this index. When that process ends, this process can
	// accept documents.
	ErrTaken = fmt.Errorf("%w: another process of this index takes given documents", sheaf.ErrUnavailable)
	// ErrForbidden means that the grant does not allow the operation.
	ErrForbidden = errors.New("not allowed")
)

// ErrExpired means that a cursor has expired or never existed. Search again. ErrExpired wraps sheaf.ErrNotFound.
var ErrExpired = fmt.Errorf(
	"%w: there is no such cursor, or it has expired: search again without it", sheaf.ErrNotFound)

// FieldError says what is wrong with one field of a request. Err has a category: sheaf.ErrInvalid, sheaf.ErrNotFound
// for a missing thing, ErrForbidden, or ErrPrecondition for a failed condition.
type FieldError struct {
	// Field is the name of the field. For a nested field, Field is a path such as chunks/0/slug.
	Field string
	// Change is the index of the change in its request, from 0.
	Change int
	Err    error
}

// Error returns the text of the error, with the name of the field.
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns the error without the field. This error has the category.
func (e *FieldError) Unwrap() error { return e.Err }

// conflict gives an error the category ErrConflict, and keeps its text.
func conflict(err error) error {
	return sheaf.WithCategory(ErrConflict, sheaf.WithCategory(sheaf.ErrInvalid, err))
}

// conflictError returns the error of a field that conflicts with another part of the request, or with existing data.
func conflictError(field, format string, args ...any) error {
	return &FieldError{Field: field, Err: conflict(fmt.Errorf(format, args...))}
}

func fieldError(field, format string, args ...any) error {
	return inField(field, fmt.Errorf(format, args...))
}

// forbidden returns an error of the category ErrForbidden: the field asks for something that the caller may not do.
func forbidden(field, format string, args ...any) error {
	return &FieldError{Field: field, Err: fmt.Errorf("%w: "+format, append([]any{ErrForbidden}, args...)...)}
}

func unmet(field, format string, args ...any) error {
	return &FieldError{Field: field, Err: fmt.Errorf("%w: "+format, append([]any{ErrPrecondition}, args...)...)}
}

// inField returns err with the name of a field and the category sheaf.ErrInvalid. For nil it returns nil.
func inField(field string, err error) error {
	if err == nil {
		return nil
	}
	return &FieldError{Field: field, Err: sheaf.WithCategory(sheaf.ErrInvalid, err)}
}

func inParameters(err error) error { return inNamed("parameters", err) }

// inNamed returns err, an error of a profile, with the name of a field and the category sheaf.ErrInvalid. If err is a
// [profile.ParameterError], the field becomes field/NAME, with the name of the parameter. If err is
// [profile.ErrTogether], the category is ErrConflict.
func inNamed(field string, err error) error {
	if wrong, ok := errors.AsType[*profile.ParameterError](err); ok {
		field += "/" + pointerEscapes.Replace(wrong.Name)
	}
	if errors.Is(err, profile.ErrTogether) {
		return &FieldError{Field: field, Err: conflict(err)}
	}
	return inField(field, err)
}

// pointerEscapes escapes the characters of a name that have a meaning in a JSON pointer (RFC 6901).
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// remoteError is an error of a remote store or model. The text of the error may name machines, accounts and files.
type remoteError struct{ error }

func (e remoteError) Unwrap() error { return e.error }

// fromRemote marks err as an error of a store or a model. If a store does not let this server in, the result is
// sheaf.ErrUnavailable, because the caller did nothing wrong. For nil, fromRemote returns nil.
func fromRemote(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrForbidden), errors.Is(err, store.ErrKeptOut):
		err = fmt.Errorf("%w: %v", sheaf.ErrUnavailable, err)
	}
	return remoteError{err}
}

func maySeeDetails(grant *access.Grant) bool { return grant.May(access.ScopeAdmin) }

// Told returns an error for the caller: err with a text that the caller may see. The log needs err itself. Only a
// caller with the scope admin sees why a remote store or model failed. If too many files are open, no caller sees the
// name of the file.
func Told(err error, grant *access.Grant) error {
	if vfs.TooManyFiles(err) {
		return sheaf.WithCategory(fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err),
			errors.New("unavailable: too many files or connections are open: repeat this in a moment"))
	}
	if maySeeDetails(grant) {
		return err
	}
	if rejected, ok := errors.AsType[*RejectedError](err); ok && errors.As(rejected.Lost, new(remoteError)) {
		bare := *rejected
		bare.Lost = errors.New("a key with the scope admin sees why")
		return &bare
	}
	if !errors.Is(err, sheaf.ErrUnavailable) || !errors.As(err, new(remoteError)) {
		return err
	}
	return sheaf.WithCategory(err, errors.New("unavailable: a store or a model behind the server does not answer: a key "+
		"with the scope admin sees why"))
}

// publicTexts returns the warnings or notes of a result, in the form that the caller may see.
func (r *Reader) publicTexts(result *search.Result, texts []string) []string {
	out := slices.Clone(texts)
	for i, text := range out {
		if bare, ok := result.Bare[text]; ok && !maySeeDetails(&r.grant) {
			out[i] = bare
		}
	}
	return out
}
