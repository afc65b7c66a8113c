package postgres_test

import (
	"testing"

	"sheaf/store"
	"sheaf/store/storetest"
)

// TestFuse: one statement answers as two requests and a fusion do.
func TestFuse(t *testing.T) {
	b := stores().Empty(t)
	defer b.Close()
	storetest.Fuse(t, b, storetest.FuseOptions{Methods: []store.FuseMethod{store.FuseRRF, store.FuseMinMax}, Passages: 2, Legs: true})
}
