package store

import (
	"errors"
	"fmt"

	"sheaf"
)

// ErrForbidden means the server knows the user but refuses the operation. It wraps sheaf.ErrInvalid.
var ErrForbidden = fmt.Errorf("%w", sheaf.ErrInvalid)

// ErrKeptOut means the server does not let the user in. Reasons are a wrong password or a missing database. It wraps
// sheaf.ErrInvalid.
var ErrKeptOut = fmt.Errorf("%w", sheaf.ErrInvalid)

// Gone changes the category of err from sheaf.ErrNotFound to sheaf.ErrUnavailable. An open store calls Gone if its
// index on the server has disappeared, because the caller cannot repair this.
func Gone(err error) error {
	if !errors.Is(err, sheaf.ErrNotFound) {
		return err
	}
	return fmt.Errorf("%w: its content was removed: fill it again with sheaf index --rebuild: %v",
		sheaf.ErrUnavailable, err)
}

// Late marks err as a timeout of the server. The result wraps sheaf.ErrUnavailable.
func Late(err error) error {
	return fmt.Errorf("%w: no answer in time (for a slow server raise timeout in the address, as in ?timeout=2m; a "+
		"request to sheaf serve ends after its own time all the same): %w", sheaf.ErrUnavailable, err)
}
