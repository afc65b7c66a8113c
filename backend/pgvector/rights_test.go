package pgvector_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"sheaf"
	"sheaf/backend"
	"sheaf/backend/backendtest"
	"sheaf/backend/pgvector"
)

// TestExamineRights: a user who may not write to the tables of another is told which
// rights to ask for, and with these it writes.
func TestExamineRights(t *testing.T) {
	o := options(t)
	b := stores().Open(t, o)
	defer b.Close()
	vectors := []backend.Vectors{{Name: "body", Passages: [][]float32{{1, 0}}}}
	batch := backendtest.One("t:a", "x")
	batch.Chunks[0].Vectors = vectors
	if err := b.Write(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	weak := o
	weak.URL = role(t, o)
	rights := func() error {
		t.Helper()
		for _, f := range pgvector.Examine(t.Context(), weak) {
			if f.Check == "rights" {
				return f.Err
			}
		}
		return errors.New("nothing is said of rights")
	}
	admin, err := pgx.Connect(t.Context(), o.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(t.Context())
	for _, want := range []string{"run GRANT USAGE, CREATE ON SCHEMA", "the user may not read and write chunk, "} {
		err := rights()
		if !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) {
			t.Fatalf("%v: want %q", err, want)
		}
		if store, err := pgvector.Open(t.Context(), weak); err == nil {
			err = store.Write(t.Context(), backendtest.One("t:b", "x"))
			if !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(fmt.Sprint(err), "sheaf doctor says which rights to grant") {
				t.Errorf("a write without rights: %v", err)
			}
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}
		_, advice, _ := strings.Cut(err.Error(), "run ")
		if strings.HasPrefix(advice, "GRANT USAGE") {
			advice, _, _ = strings.Cut(advice, ";") // one step at a time
		}
		if _, err := admin.Exec(t.Context(), advice); err != nil {
			t.Fatalf("%s: %v", advice, err)
		}
	}
	if err := rights(); err != nil {
		t.Error(err)
	}
	store, err := pgvector.Open(t.Context(), weak)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	batch = backendtest.One("t:b", "x")
	batch.Chunks[0].Vectors = vectors
	if err := store.Write(t.Context(), batch); err != nil {
		t.Error(err)
	}
}
