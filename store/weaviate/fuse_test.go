package weaviate_test

import (
	"testing"

	"sheaf/store"
	"sheaf/store/storetest"
)

// TestFuse: the hybrid search ranks as two requests and a fusion do, where it does
// what is asked for.
func TestFuse(t *testing.T) {
	o := options(t)
	o.Hybrid = true
	b := stores().Open(t, o)
	defer b.Close()
	storetest.Fuse(t, b, storetest.FuseOptions{Methods: []store.FuseMethod{store.FuseRRF, store.FuseMinMax}, K: 59,
		OneField: true, MinWindow: 100, Alike: true, Ties: true, Passages: 1, Tolerance: 2e-6})
}
