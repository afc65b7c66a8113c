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

// TestTooManyFilesErrorHidesName checks that the error for too many open files hides the file name and is
// temporary at every door.
func TestTooManyFilesErrorHidesName(t *testing.T) {
	grant := access.Unrestricted()
	err := Told(fmt.Errorf("open index: %w", &fs.PathError{Op: "open", Path: "/secret/place", Err: syscall.ENFILE}),
		&grant)
	if !errors.Is(err, sheaf.ErrUnavailable) || !errors.Is(err, syscall.ENFILE) ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}
