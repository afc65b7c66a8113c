package collection_test

import (
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/store"
)

// lateView is a store that changes between pinning the store and opening the view.
type lateView struct {
	store.Backend
	write func()
}

func (s *lateView) Pin() (store.Backend, error) {
	held, err := s.Backend.(store.Pinner).Pin()
	if write := s.write; write != nil {
		s.write = nil
		write()
	}
	return held, err
}

// TestCountsOfOlderStoreAreNotCached checks that counts of an older store state are not cached for a newer
// one.
func TestCountsOfOlderStoreAreNotCached(t *testing.T) {
	late := &lateView{}
	f := collectiontest.Open(t, map[string]string{"a.md": "---\naccess: [public]\n---\n# Pear\n\nOne pear.\n"},
		func(o *collection.Options) {
			late.Backend = o.Backend
			o.Backend = late
		})
	grant := access.Grant{Scopes: []access.Scope{access.ScopeSearch}}
	late.write = func() {
		f.Write(t, "b.md", "---\naccess: [public]\n---\n# Pear\n\nTwo pears.\n")
		f.Index(t)
	}
	chunks := func() int {
		t.Helper()
		s, err := reader(t, f, grant).Summary(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.Chunks
	}
	before, after := chunks(), chunks()
	want, err := reader(t, f, access.Unrestricted()).Summary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if before >= after || after != want.Chunks {
		t.Errorf("%d chunks, then %d, want %d", before, after, want.Chunks)
	}
}
