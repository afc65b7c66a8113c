package collectiontest

import (
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
)

// Asked are queries about the documentation.
var Asked = []string{"reciprocal rank fusion", "how does a crash lose nothing", "titles of chunks",
	"row level security", "what does a profile hold"}

// Searches makes a collection of the documentation and returns a function that answers one of Asked with a profile.
func Searches(b *testing.B, profile string, change func(*collection.Options)) (*Fixture, func(query int) error) {
	b.Helper()
	f := Open(b, Documentation(b), change)
	r, err := f.For(access.Unrestricted())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(r.Close)
	return f, func(query int) error {
		_, err := r.Search(b.Context(), collection.SearchRequest{Text: Asked[query], Profile: profile})
		return err
	}
}
