package collection_test

import (
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/index/catalog"
)

// TestModelIsRecorded checks that a collection records chunker, analyzer and model even without
// Settings of the program. It accepts vectors of that model.
func TestModelIsRecorded(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nwords\n"}, func(o *collection.Options) {
		o.Ingest.Settings = nil
		o.Model = o.Ingest.Embedder
	})
	dims := f.Options.Model.Dims()
	if got := f.Collection.Dims(); got != dims {
		t.Errorf("%d dimensions, want %d", got, dims)
	}
	r := reader(t, f, access.Unrestricted())
	if s, err := r.Status(t.Context()); err != nil || s.Model != f.Options.Model.Model() || s.Dims != dims ||
		s.Chunker != "tree" || s.Analyzer != f.Options.Analyzer.Name() {
		t.Errorf("%+v, %v", s, err)
	}
	own := make([]float32, dims)
	own[0] = 2
	in := &collection.DocumentInput{Chunks: []collection.ChunkInput{{Text: "a ship", Vectors: [][]float32{own}}}}
	if _, err := f.Collection.Write(t.Context(), access.Unrestricted(),
		[]collection.Change{{ID: catalog.FreeTree + ":ship", Put: in}}); err != nil {
		t.Error(err)
	}
}

// TestWriteKeepsDocumentOfCaller checks that Write does not change the caller's document: sets from a grant
// and normalized vectors go into a copy.
func TestWriteKeepsDocumentOfCaller(t *testing.T) {
	f := collectiontest.Open(t, nil, nil)
	own := make([]float32, f.Collection.Dims())
	own[0] = 2
	in := &collection.DocumentInput{Chunks: []collection.ChunkInput{{Text: "a ship", Vectors: [][]float32{own}}}}
	changes := []collection.Change{{ID: catalog.FreeTree + ":ship", Put: in}}
	for _, set := range []string{"a", "b"} {
		bound := access.Grant{Scopes: access.Scopes, Access: []string{access.All}, Sets: []string{set}}
		changes[0].ID += sheaf.ID(set)
		if _, err := f.Collection.Write(t.Context(), bound, changes); err != nil {
			t.Error(err)
		}
		if len(in.Sets) > 0 || own[0] != 2 || len(changes[0].Within) > 0 {
			t.Errorf("%+v, %v, %v", in, own[0], changes[0].Within)
		}
	}
}
