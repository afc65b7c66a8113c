package store

import (
	"fmt"

	"sheaf"
)

// ErrForbidden means the server knows the user but refuses the operation, for example a write by a
// user who may only read. It wraps sheaf.ErrInvalid.
var ErrForbidden = fmt.Errorf("%w", sheaf.ErrInvalid)

// ErrKeptOut means the server does not let the user in: the password is wrong, or the database does
// not exist. It wraps sheaf.ErrInvalid.
var ErrKeptOut = fmt.Errorf("%w", sheaf.ErrInvalid)
