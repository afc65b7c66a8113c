package store

import (
	"errors"
	"fmt"

	"sheaf"
)

// Gone marks err as sheaf.ErrUnavailable instead of sheaf.ErrNotFound: an open store lost what it
// searches. The caller asked nothing wrong and cannot repair it.
func Gone(err error) error {
	if !errors.Is(err, sheaf.ErrNotFound) {
		return err
	}
	return fmt.Errorf("%w: its content was removed by somebody: fill it again with sheaf index --rebuild: %v",
		sheaf.ErrUnavailable, err)
}
