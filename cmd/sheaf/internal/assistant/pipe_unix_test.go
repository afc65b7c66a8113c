//go:build unix

package assistant_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestConfigurationIsPipeOrFolder checks that a pipe as configuration does not block, and that a folder is reported.
func TestConfigurationIsPipeOrFolder(t *testing.T) {
	for what, make := range map[string]func(name string) error{
		"pipe":   func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"folder": func(name string) error { return os.Mkdir(name, 0o700) },
	} {
		a := find(t, places(t), "cursor")
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(a.File), 0o700), make(a.File)))
		c, err := a.Add(server)
		check.That(t, errors.Is(err, sheaf.ErrInvalid), "a %s is changed: %+v, %v", what, c, err)
	}
}
