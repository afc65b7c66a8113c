package opensearch_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"sheaf"
	"sheaf/store"
	"sheaf/store/opensearch"
	"sheaf/store/storetest"
)

// TestFuse: the hybrid query ranks as two requests and a fusion do.
func TestFuse(t *testing.T) {
	b := storesOf(opensearch.OpenSearch).Empty(t)
	defer b.Close()
	storetest.Fuse(t, b, storetest.FuseOptions{Methods: []store.FuseMethod{store.FuseRRF, store.FuseMinMaxOpenSearch},
		Alike: true, Ties: true, Passages: 2, Tolerance: 2e-6})
}

// TestFuseShards: an index of several shards leaves joining to this program.
func TestFuseShards(t *testing.T) {
	each(t, func(t *testing.T, s *storetest.Stores[opensearch.Options]) {
		o := s.New(t)
		o.Shards = 3
		b := s.Open(t, o)
		defer b.Close()
		if _, err := b.(store.Fuser).Fuse(t.Context(), storetest.Fusions()[0]); !errors.Is(err, sheaf.ErrUnsupported) || !strings.Contains(err.Error(), "several shards") {
			t.Error(err)
		}
	})
}

// TestFuseElasticsearch: retrievers rank as two requests and a fusion do; a server
// without their module says that it is missing, and which way is left.
func TestFuseElasticsearch(t *testing.T) {
	b := storesOf(opensearch.Elasticsearch).Empty(t)
	defer b.Close()
	if err := b.Write(t.Context(), storetest.Library()); err != nil {
		t.Fatal(err)
	}
	_, err := b.(store.Fuser).Fuse(t.Context(), storetest.Fusions()[0])
	if errors.Is(err, sheaf.ErrUnsupported) && strings.Contains(err.Error(), "the module rank-rrf is missing") {
		t.Skip(err)
	}
	storetest.Fuse(t, b, storetest.FuseOptions{Methods: []store.FuseMethod{store.FuseRRF, store.FuseMinMax}, Alike: true, Ties: true, Passages: 2, Tolerance: 2e-6})
}

// unshown fails when a write is to show.
type unshown struct{}

func (unshown) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/_refresh") && !strings.Contains(r.URL.Path, "-terms") {
		return nil, io.ErrUnexpectedEOF
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestBrokenWriteIsRemoved: what a write left that broke off before it showed is removed
// with its document by the next write of another store, one that is open already too.
func TestBrokenWriteIsRemoved(t *testing.T) {
	each(t, func(t *testing.T, s *storetest.Stores[opensearch.Options]) {
		o := s.New(t)
		atWork := s.Open(t, o)
		defer atWork.Close()
		if err := atWork.Write(t.Context(), store.Batch{Chunks: []store.Chunk{storetest.Chunk("t:kept", "body", "y")}}); err != nil {
			t.Fatal(err)
		}
		broken := o
		broken.Client = &http.Client{Transport: unshown{}}
		b := s.Open(t, broken)
		if err := b.Write(t.Context(), store.Batch{Chunks: []store.Chunk{storetest.Chunk("t:a", "body", "x")}}); err == nil {
			t.Fatal("a write that cannot show is no error")
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if err := atWork.Delete(t.Context(), []sheaf.ID{"t:a"}); err != nil {
			t.Fatal(err)
		}
		if stats, err := atWork.(store.Reporter).Stats(t.Context()); err != nil || stats.Chunks != 1 {
			t.Errorf("%d chunks are left, %v", stats.Chunks, err)
		}
	})
}
