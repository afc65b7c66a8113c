//go:build !unix || aix

package touched

import (
	"testing"

	"sheaf/index/vfs"
)

// By skips the test: pages cannot be protected here.
func By(t testing.TB, _ func(fs vfs.FS) error) Read {
	t.Helper()
	t.Skip("this system cannot put pages of memory out of reach")
	return Read{}
}
