package collection

import (
	"errors"
	"fmt"
	"sheaf"
	"sheaf/profile"
	"strings"
)

// What a caller may be told besides the categories of the root package.
var (
	// ErrPrecondition says that a document is another version than the caller
	// believes, or there when it must not be.
	ErrPrecondition = errors.New("a condition does not hold")
	// ErrConflict says that a request conflicts with itself, or with what there is.
	ErrConflict = errors.New("conflict")
	// ErrTaken says that another process of this index takes documents, until it ends.
	ErrTaken = fmt.Errorf("%w: documents are given to another process of this index", sheaf.ErrUnavailable)
	// ErrForbidden says that the caller may not do what they ask for.
	ErrForbidden = errors.New("not allowed")
)

// ErrExpired says that a cursor is no longer good, or never was: search again. It
// wraps sheaf.ErrNotFound.
var ErrExpired = fmt.Errorf(
	"%w: there is no such cursor, or it is kept no longer: search again without it", sheaf.ErrNotFound)

// FieldError says what is the matter with one field of a request: that it is wrong,
// which is sheaf.ErrInvalid, names what there is not, sheaf.ErrNotFound, asks for what the
// caller may not do, ErrForbidden, or is a condition that does not hold, ErrPrecondition.
type FieldError struct {
	// Field is its name; one within another is chunks/0/slug.
	Field string
	// Change is in which of the changes that were to be written it is, from 0.
	Change int
	Err    error
}

// Error names the field.
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap gives the fault, with its category.
func (e *FieldError) Unwrap() error { return e.Err }

// invalid is an error that is sheaf.ErrInvalid too, and says so in no word.
type invalid struct{ error }

func (e invalid) Unwrap() []error { return []error{sheaf.ErrInvalid, e.error} }

// conflict is an error that is ErrConflict too, and says so in no word.
type conflict struct{ error }

func (e conflict) Unwrap() []error { return []error{ErrConflict, sheaf.ErrInvalid, e.error} }

// conflictError says that what a field says conflicts with another part of the
// request, or with what there is.
func conflictError(field, format string, args ...any) error {
	return &FieldError{Field: field, Err: conflict{fmt.Errorf(format, args...)}}
}

func fieldError(field, format string, args ...any) error {
	return inField(field, fmt.Errorf(format, args...))
}

// forbidden says what a field asks for that the caller may not do.
func forbidden(field, format string, args ...any) error {
	return &FieldError{Field: field, Err: fmt.Errorf("%w: "+format, append([]any{ErrForbidden}, args...)...)}
}

// unmet says which condition of a change to a document does not hold.
func unmet(field, format string, args ...any) error {
	return &FieldError{Field: field, Err: fmt.Errorf("%w: "+format, append([]any{ErrPrecondition}, args...)...)}
}

// inField says in which field an error of invalid input lies; others stay.
func inField(field string, err error) error {
	if err == nil {
		return nil
	}
	return &FieldError{Field: field, Err: invalid{err}}
}

// inParameters says in which parameter of a profile an error lies.
func inParameters(err error) error { return inNamed("parameters", err) }

// inNamed says in which of the parameters or settings that a field holds an error lies.
func inNamed(field string, err error) error {
	var wrong *profile.ParameterError
	if errors.As(err, &wrong) {
		field += "/" + pointerEscapes.Replace(wrong.Name)
	}
	return inSettings(field, err)
}

// inSettings says in which field settings are wrong, or conflict with each other.
func inSettings(field string, err error) error {
	if errors.Is(err, profile.ErrTogether) {
		return &FieldError{Field: field, Err: conflict{err}}
	}
	return inField(field, err)
}

// pointerEscapes writes a name as one step of a JSON pointer (RFC 6901).
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")
