package store

import (
	"fmt"

	"sheaf"
)

// ErrForbidden is that a server knows who asks and does not let them do what they ask
// for, as one that may only read and writes. It wraps sheaf.ErrInvalid.
var ErrForbidden = fmt.Errorf("%w", sheaf.ErrInvalid)

// ErrKeptOut is that a server does not let in who comes so, as with a wrong password, or to a
// database that it does not have. It wraps sheaf.ErrInvalid.
var ErrKeptOut = fmt.Errorf("%w", sheaf.ErrInvalid)
