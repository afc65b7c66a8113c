package collection_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/store"
)

// TestShowsIndexOfOtherProcess checks that a collection that does not index shows what another process indexed, even
// if it opened an empty index. Every result has its path and title.
func TestShowsIndexOfOtherProcess(t *testing.T) {
	writer := collectiontest.Unindexed(t, map[string]string{"first.md": "# First\n\nA harbor.\n"}, nil)
	beside := writer.Beside(t)
	if a := find(t, reader(t, beside, access.Unrestricted()),
		collection.SearchRequest{Text: "harbor"}); len(a.Results) != 0 {
		t.Fatalf("%+v before anything is indexed", a.Results)
	}
	writer.Index(t)
	if a := find(t, reader(t, beside, access.Unrestricted()),
		collection.SearchRequest{Text: "harbor"}); len(a.Results) != 1 {
		t.Fatalf("%+v, want what was indexed", a.Results)
	}
	indexed, done := make(chan struct{}), sync.WaitGroup{}
	for range 4 {
		done.Go(func() {
			for last := false; !last; {
				select {
				case <-indexed:
					last = true
				default:
				}
				r, err := beside.For(access.Unrestricted())
				if err != nil {
					t.Error(err)
					return
				}
				a, err := r.Search(context.Background(), collection.SearchRequest{Text: "harbor"})
				switch {
				case err != nil:
					t.Error(err)
				case len(a.Results) == 0:
					t.Error("nothing found of what was indexed before")
				}
				for _, found := range a.Results {
					if found.Path == "" || found.Title == "" {
						t.Errorf("%+v: nothing is known of it", found)
					}
				}
				r.Close()
			}
		})
	}
	for n := range 20 {
		writer.Write(t, fmt.Sprintf("more%d.md", n), fmt.Sprintf("# More %d\n\nAnother harbor.\n", n))
		writer.Index(t)
		// Concurrent searches update the view too, so repeat until the new document is found.
		for found, until := 0, time.Now().Add(time.Minute); found != n+2; {
			found = len(find(t, reader(t, beside, access.Unrestricted()),
				collection.SearchRequest{Text: "harbor", Limit: 50, Window: 50}).Results)
			if time.Now().After(until) {
				t.Fatalf("%d results, want %d", found, n+2)
			}
		}
	}
	close(indexed)
	done.Wait()
	if _, err := beside.Collection.Write(t.Context(), access.Unrestricted(),
		[]collection.Change{{ID: "api:given.md",
			Put: &collection.DocumentInput{Text: "# Given\n\nA harbor.\n"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := reader(t, writer, access.Unrestricted()).Get(t.Context(), "api:given.md",
		collection.GetOptions{}); err != nil {
		t.Errorf("what the other was given: %v", err)
	}
}

// TestRemadeIndexMustBeReopened checks that an index that another process remade with other settings is neither
// searched nor written. The collection reports that it must be reopened.
func TestRemadeIndexMustBeReopened(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, nil)
	other := f.Beside(t)
	settings := catalog.Settings{Trees: f.Options.Ingest.Trees}
	if err := other.Options.Catalog.Update(t.Context(), catalog.Update{Settings: &settings}); err != nil {
		t.Fatal(err)
	}
	reader(t, f, access.Unrestricted()) // before the remaking
	settings.Analyzer, settings.Chunker = f.Options.Analyzer.Name(), "window"
	if err := other.Options.Catalog.Update(t.Context(), catalog.Update{Settings: &settings}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-f.Replaced():
		t.Error("told before anybody looked")
	default:
	}
	_, err := f.For(access.Unrestricted())
	<-f.Replaced()
	for what, err := range map[string]error{"a reader": err, "readiness": f.Ready(t.Context())} {
		if !errors.Is(err, ingest.ErrRebuilt) {
			t.Errorf("%s: %v, want ErrRebuilt", what, err)
		}
	}
	if _, err := f.Collection.Write(t.Context(), access.Unrestricted(),
		[]collection.Change{{ID: "api:given.md", Put: &collection.DocumentInput{Text: "# Given\n"}}}); !errors.Is(err,
		ingest.ErrRebuilt) {
		t.Errorf("a document that is given: %v, want ErrRebuilt", err)
	}
}

// otherwise is a store that another process remade with other settings.
type otherwise struct{ store.Backend }

func (otherwise) Pin() (store.Backend, error) { return nil, store.ErrMadeOtherwise }

// TestRequestsFailDuringRemake checks that requests fail while another process remakes the index, even with equal
// settings, because the index may be empty meanwhile. The store or the catalog may report it first. The error is
// temporary, not invalid input.
func TestRequestsFailDuringRemake(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, nil)
	o := f.Options
	o.Backend = otherwise{o.Backend}
	byStore, err := collection.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := byStore.For(access.Unrestricted()); !errors.Is(err, ingest.ErrRebuilt) ||
		errors.Is(err, sheaf.ErrInvalid) {
		t.Errorf("told by the store: %v, want ErrRebuilt", err)
	}
	<-byStore.Replaced()
	view := f.Options.Catalog.View()
	settings := view.Settings()
	view.Close()
	settings.Extra = map[string]string{ingest.RemakingKey: ingest.RemakingDocuments}
	if err := f.Beside(t).Options.Catalog.Update(t.Context(), catalog.Update{Settings: &settings}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*collection.Collection{"store": byStore, "catalog": f.Collection} {
		for _, state := range []string{"open", "closed, to be opened again"} {
			if _, err := c.For(access.Unrestricted()); !errors.Is(err, ingest.ErrRebuilt) ||
				!errors.Is(c.Ready(t.Context()), ingest.ErrRebuilt) {
				t.Errorf("told by the %s, %s: %v, want ErrRebuilt", name, state, err)
			}
			<-c.Replaced()
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestCloseWaitsForReaders checks that Close waits for open readers, and that no new reader opens meanwhile.
func TestCloseWaitsForReaders(t *testing.T) {
	c := collectiontest.Open(t, map[string]string{"a.md": "# A\n\napples\n"}, nil)
	r, err := c.For(access.Unrestricted())
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- c.Close() }()
	select {
	case <-closed:
		t.Error("it is closed under its reader")
	case <-time.After(100 * time.Millisecond):
	}
	for { // until Close has begun
		other, err := c.For(access.Unrestricted())
		if err == nil {
			other.Close()
			continue
		}
		if !errors.Is(err, sheaf.ErrUnavailable) {
			t.Errorf("another reader: %v", err)
		}
		break
	}
	r.Close()
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
