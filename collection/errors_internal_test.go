package collection

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"sheaf"
	"sheaf/collection/access"
)

// TestToldOfTooManyFiles: which file could not be opened since too many are is told to nobody,
// and at every door it is what another time can be done.
func TestToldOfTooManyFiles(t *testing.T) {
	grant := access.Unrestricted()
	err := Told(fmt.Errorf("open index: %w", &fs.PathError{Op: "open", Path: "/secret/place", Err: syscall.ENFILE}),
		&grant)
	if !errors.Is(err, sheaf.ErrUnavailable) || !errors.Is(err, syscall.ENFILE) ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}
