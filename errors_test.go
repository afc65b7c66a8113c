package sheaf_test

import (
	"errors"
	"io/fs"
	"testing"

	"sheaf"
)

func TestWithCategory(t *testing.T) {
	below := &fs.PathError{Op: "open", Path: "f", Err: fs.ErrNotExist}
	err := sheaf.WithCategory(sheaf.ErrNotFound, below)
	var path *fs.PathError
	if !errors.Is(err, sheaf.ErrNotFound) || !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &path) ||
		err.Error() != below.Error() {
		t.Errorf("%v", err)
	}
	if again := sheaf.WithCategory(sheaf.ErrNotFound, err); again != err {
		t.Errorf("an error of the category became %#v", again)
	}
	if err := sheaf.WithCategory(sheaf.ErrCorrupt, nil); err != nil {
		t.Errorf("nil became %v", err)
	}
	if sheaf.ExitCode(sheaf.WithCategory(sheaf.ErrCorrupt, below)) != 5 {
		t.Error("the exit status is not that of the category")
	}
}
