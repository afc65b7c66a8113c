package sheaf_test

import (
	"errors"
	"io/fs"
	"testing"

	"sheaf"
	"sheaf/internal/check"
)

func TestWithCategory(t *testing.T) {
	below := &fs.PathError{Op: "open", Path: "f", Err: fs.ErrNotExist}
	err := sheaf.WithCategory(sheaf.ErrNotFound, below)
	var path *fs.PathError
	check.That(t, errors.Is(err, sheaf.ErrNotFound) && errors.Is(err, fs.ErrNotExist) && errors.As(err, &path) &&
		err.Error() == below.Error(), "%v", err)
	check.Equal(t, sheaf.WithCategory(sheaf.ErrNotFound, err), err, "an error of the category")
	check.NoError(t, sheaf.WithCategory(sheaf.ErrCorrupt, nil), "no error")
	check.Equal(t, sheaf.ExitCode(sheaf.WithCategory(sheaf.ErrCorrupt, below)), 5,
		"exit status of the category")
}
