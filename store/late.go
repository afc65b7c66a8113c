package store

import (
	"fmt"

	"sheaf"
)

// Late is err of a server that did not answer in the time that its address gives it. It wraps
// sheaf.ErrUnavailable.
func Late(err error) error {
	return fmt.Errorf("%w: no answer in time (for a slow server raise timeout in the address, as in ?timeout=2m; a "+
		"request to sheaf serve ends after its own time all the same): %w", sheaf.ErrUnavailable, err)
}
