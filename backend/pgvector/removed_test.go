package pgvector_test

import (
	"errors"
	"testing"

	"sheaf"
	"sheaf/backend/backendtest"
	"sheaf/backend/pgvector"
)

// TestRemoved: a store whose place on the server is removed behind its back says so, and
// not that the request was wrong, or that there is nothing to find.
func TestRemoved(t *testing.T) {
	o := options(t)
	b := stores().Open(t, o)
	defer b.Close()
	if err := b.Write(t.Context(), backendtest.One("t:a", "stone")); err != nil {
		t.Fatal(err)
	}
	if backendtest.Hits(t, b, "stone") != 1 {
		t.Fatal("nothing found before")
	}
	if err := pgvector.Drop(t.Context(), o.URL, o.Schema); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Retrieve(t.Context(), backendtest.Words(sheaf.Match{Text: "stone"})); !errors.Is(err, sheaf.ErrNotFound) {
		t.Errorf("found %v, %v", got, err)
	}
}
