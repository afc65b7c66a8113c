package pgvector_test

import (
	"testing"

	"sheaf/backend"
	"sheaf/backend/backendtest"
)

// TestFuse: one statement answers as two requests and a fusion do.
func TestFuse(t *testing.T) {
	b := stores().Empty(t)
	defer b.Close()
	backendtest.Fuse(t, b, backendtest.FuseOptions{Methods: []backend.FuseMethod{backend.FuseRRF, backend.FuseMinMax}, Passages: 2, Legs: true})
}
