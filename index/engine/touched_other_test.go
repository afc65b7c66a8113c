//go:build !unix || aix

package engine

import (
	"testing"

	"sheaf/index/vfs"
)

// touchedBy skips the test: pages cannot be protected here.
func touchedBy(t testing.TB, _ func(fs vfs.FS) error) touchedFiles {
	t.Helper()
	t.Skip("this system cannot put pages of memory out of reach")
	return touchedFiles{}
}
