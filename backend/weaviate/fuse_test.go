package weaviate_test

import (
	"testing"

	"sheaf/backend"
	"sheaf/backend/backendtest"
)

// TestFuse: the hybrid search ranks as two requests and a fusion do, where it does
// what is asked for.
func TestFuse(t *testing.T) {
	o := options(t)
	o.Hybrid = true
	b := stores().Open(t, o)
	defer b.Close()
	backendtest.Fuse(t, b, backendtest.FuseOptions{Methods: []backend.FuseMethod{backend.FuseRRF, backend.FuseMinMax}, K: 59,
		OneField: true, MinWindow: 100, Alike: true, Ties: true, Passages: 1, Tolerance: 2e-6})
}
