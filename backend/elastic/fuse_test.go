package elastic_test

import (
	"testing"

	"sheaf/backend"
	"sheaf/backend/backendtest"
)

// TestFuse: the hybrid query ranks as two requests and a fusion do.
func TestFuse(t *testing.T) {
	b := stores().Empty(t)
	defer b.Close()
	backendtest.Fuse(t, b, backendtest.FuseOptions{Methods: []backend.FuseMethod{backend.FuseRRF, backend.FuseMinMaxOpenSearch},
		Alike: true, Ties: true, Passages: 2, Tolerance: 2e-6})
}
