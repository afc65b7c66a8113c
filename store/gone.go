package store

import (
	"errors"
	"fmt"

	"sheaf"
)

// Gone is err, where a store that was opened does not find what it searches any more:
// whoever asks asked for nothing wrong, and cannot mend it. Then it wraps
// sheaf.ErrUnavailable, and sheaf.ErrNotFound no more.
func Gone(err error) error {
	if !errors.Is(err, sheaf.ErrNotFound) {
		return err
	}
	return fmt.Errorf("%w: what was filled there is gone, somebody removed it: fill it again with sheaf index "+
		"--rebuild: %v", sheaf.ErrUnavailable, err)
}
