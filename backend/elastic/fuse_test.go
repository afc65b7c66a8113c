package elastic_test

import (
	"errors"
	"strings"
	"testing"

	"sheaf"
	"sheaf/backend"
	"sheaf/backend/backendtest"
	"sheaf/backend/elastic"
)

// TestFuse: the hybrid query ranks as two requests and a fusion do.
func TestFuse(t *testing.T) {
	b := storesOf(elastic.OpenSearch).Empty(t)
	defer b.Close()
	backendtest.Fuse(t, b, backendtest.FuseOptions{Methods: []backend.FuseMethod{backend.FuseRRF, backend.FuseMinMaxOpenSearch},
		Alike: true, Ties: true, Passages: 2, Tolerance: 2e-6})
}

// TestFuseElasticsearch: retrievers rank as two requests and a fusion do; a server
// without their module says that it is missing, and which way is left.
func TestFuseElasticsearch(t *testing.T) {
	b := storesOf(elastic.Elasticsearch).Empty(t)
	defer b.Close()
	if err := b.Write(t.Context(), backendtest.Library()); err != nil {
		t.Fatal(err)
	}
	_, err := b.(backend.Fuser).Fuse(t.Context(), backendtest.Fusions()[0])
	if errors.Is(err, sheaf.ErrUnsupported) && strings.Contains(err.Error(), "the module rank-rrf is missing") {
		t.Skip(err)
	}
	backendtest.Fuse(t, b, backendtest.FuseOptions{Methods: []backend.FuseMethod{backend.FuseRRF, backend.FuseMinMax}, Alike: true, Ties: true, Passages: 2, Tolerance: 2e-6})
}
