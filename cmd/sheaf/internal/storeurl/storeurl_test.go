package storeurl

import (
	"errors"
	"strings"
	"testing"

	"sheaf"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ address, kind, place, shown string }{
		{"postgres://me@host:5432/db?sslmode=disable&schema=notes&hnsw=16", "postgres", "notes", "postgres://host:5432/db?schema=notes"},
		{"postgresql:///db", "postgres", "sheaf_my_notes_12ab", "postgresql:///db?schema=sheaf_my_notes_12ab"},
		{"opensearch://host:9200", "opensearch", "sheaf_my_notes_12ab", "opensearch://host:9200/sheaf_my_notes_12ab"},
		{"opensearch+https://me@host/index?k1=0.9&b=0.4", "opensearch", "index", "opensearch+https://host/index"},
		{"elasticsearch://host/index", "elasticsearch", "index", "elasticsearch://host/index"},
		{"weaviate://host:8080", "weaviate", "Sheaf_my_notes_12ab", "weaviate://host:8080/Sheaf_my_notes_12ab"},
		{"vespa+https://host/notes?config=host:19071&feeds=8", "vespa", "notes", "vespa+https://host/notes"},
	} {
		got, err := Parse(c.address, "My Notes-12ab", Secrets{})
		if err != nil || got.Kind != c.kind || got.Place != c.place || got.String() != c.shown {
			t.Errorf("%s: %+v, %v; want %s in %s, shown as %s", c.address, got, err, c.kind, c.place, c.shown)
		}
	}
	for _, address := range []string{"", "notes", "mysql://host/x", "postgres+https://host/x", "opensearch:///x", "opensearch://host/x?nope=1", "opensearch://me:secret@host/x", "://", "postgres://me:secret@%zz/x"} {
		_, err := Parse(address, "x", Secrets{})
		if !errors.Is(err, sheaf.ErrInvalid) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// TestDriverAddress: what is ours stays out of what the driver gets, and secrets
// come in only there.
func TestDriverAddress(t *testing.T) {
	got, err := Parse("postgres://me@host/db?schema=notes&hnsw=16&timeout=5s&connect_timeout=3", "x", Secrets{Key: "p@ss", CAFile: "/ca.pem"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "postgres://me:p%40ss@host/db?connect_timeout=3&sslmode=verify-full&sslrootcert=%2Fca.pem"; got.postgres() != want {
		t.Errorf("%s, want %s", got.postgres(), want)
	}
	if strings.Contains(got.String(), "p@ss") || strings.Contains(got.String(), "p%40ss") {
		t.Errorf("the name %s shows the password", got)
	}
	long, err := Parse("postgres://host/db", strings.Repeat("very long ", 20)+"a1b2c3d4", Secrets{})
	if err != nil || len(long.Place) > 48 || !strings.HasSuffix(long.Place, "a1b2c3d4") {
		t.Errorf("%+v, %v", long, err)
	}
	for _, address := range []string{"postgres://h/d?hnsw=many", "opensearch://h/x?k1=-1", "opensearch://h/x?hnsw=perhaps", "opensearch://h/x?timeout=soon", "weaviate://h/X?b=x", "vespa://h/x?feeds=-1", "vespa://h/x?hnsw=7"} {
		bad, err := Parse(address, "x", Secrets{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bad.Open(t.Context(), nil, nil, false); !errors.Is(err, sheaf.ErrInvalid) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
