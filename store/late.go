package store

import (
	"fmt"

	"sheaf"
)

// Late marks err as a timeout of the server. It wraps sheaf.ErrUnavailable.
func Late(err error) error {
	return fmt.Errorf("%w: no answer in time (for a slow server raise timeout in the address, as in ?timeout=2m; a "+
		"request to sheaf serve ends after its own time all the same): %w", sheaf.ErrUnavailable, err)
}
