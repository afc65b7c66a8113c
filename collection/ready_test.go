package collection_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

// TestReadyBeforeFirstRun checks that an unindexed collection is not ready if it will be watched, and is ready
// otherwise.
func TestReadyBeforeFirstRun(t *testing.T) {
	c := collectiontest.Unindexed(t, map[string]string{"a.md": "# A\n"}, nil)
	check.NoError(t, c.Ready(t.Context()), "nobody watches")
	said := func() bool {
		t.Helper()
		st := must.Get(reader(t, c, access.Unrestricted()).Status(t.Context()))
		told := find(t, reader(t, c, access.Unrestricted()), collection.SearchRequest{Text: "a", Limit: 10}).Warnings
		check.List(t, told, st.Warnings, "warnings of an answer, and of the status")
		return strings.Contains(strings.Join(told, "\n"), "for the first time")
	}
	check.That(t, !said(), "nobody watches, and answers say that there will be more")
	c.WillWatch()
	check.That(t, c.Ready(t.Context()) != nil, "ready before the first run")
	check.That(t, said(), "an answer before the first run does not say that there will be more")
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan struct{}, 8)
	ended := make(chan error, 1)
	go func() { ended <- c.Watch(ctx, func(*ingest.Report, error) { ran <- struct{}{} }) }()
	<-ran
	check.NoError(t, c.Ready(t.Context()), "after the first run")
	check.That(t, !said(), "after the first run answers say that there will be more")
	stop()
	must.Do(t, <-ended)
}

// TestStatusIndexing checks that the status counts all and indexed files during a run, for callers
// that see everything. The count never decreases. After the run, or after a fault, the status has
// no such counts.
func TestStatusIndexing(t *testing.T) {
	var c *collectiontest.Fixture
	var told []collection.Indexing
	var fault error
	var stop func()
	c = collectiontest.Unindexed(t, map[string]string{"a.md": "# A\n\none\n", "b.md": "# B\n\ntwo\n",
		"c.md": "# C\n\nthree\n"}, func(o *collection.Options) {
		o.Ingest.CommitBytes = 1 // every file causes a progress report
		o.Ingest.Progress = func(p ingest.Progress) {
			if p.AllFiles == 0 {
				return
			}
			if stop != nil {
				stop()
				return
			}
			for _, grant := range []access.Grant{access.Unrestricted(), {Tenant: access.All, Access: []string{"ann"}}} {
				r, err := c.For(grant)
				if err != nil {
					fault = err
					return
				}
				st, err := r.Status(context.Background())
				r.Close()
				switch whole := grant.Access[0] == access.All; {
				case err != nil:
					fault = err
				case whole && st.Indexing != nil:
					told = append(told, *st.Indexing)
				case whole:
					fault = errors.New("the status does not say how far the run is")
				case st.Indexing != nil:
					fault = fmt.Errorf("a caller from whom something is kept is told %+v", *st.Indexing)
				}
			}
		}
	})
	c.Index(t)
	must.Do(t, fault)
	check.That(t, len(told) >= 2 && told[0].Files == 0 && told[len(told)-1].Files == 3 &&
		slices.IsSortedFunc(told, func(a, b collection.Indexing) int { return a.Files - b.Files }), "told %+v", told)
	for _, is := range told {
		check.That(t, is.AllFiles == 3 && is.AllBytes == 29, "of all it says %+v", is)
	}
	ended := func(when string) {
		t.Helper()
		st, err := reader(t, c, access.Unrestricted()).Status(t.Context())
		check.That(t, err == nil && st.Indexing == nil, "%s: %+v, %v", when, st.Indexing, err)
	}
	ended("when it has ended")
	c.Write(t, "d.md", "# D\n\nfour\n")
	ctx, cancel := context.WithCancel(t.Context())
	stop = cancel
	must.Do(t, c.Watch(ctx, nil))
	ended("when it was stopped")
}

// TestMissingFolder checks that the status names a missing folder, and that its indexed documents
// return with the folder.
func TestMissingFolder(t *testing.T) {
	away := filepath.Join(t.TempDir(), "disk")
	writeFile(t, filepath.Join(away, "b.md"), "# B\n\nA harbor.\n")
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, func(o *collection.Options) {
		o.Ingest.Trees = append(o.Ingest.Trees, catalog.Tree{Name: "disk", Root: away})
	})
	look := func(gone []string) {
		t.Helper()
		f.Index(t)
		r := reader(t, f, access.Unrestricted())
		st, err := r.Status(t.Context())
		check.That(t, err == nil && st.Watch != nil && slices.Equal(st.Watch.Gone, gone) && st.Documents == 2,
			"%+v, %v: want %v gone", st, err, gone)
		n := len(find(t, r, collection.SearchRequest{Text: "harbor"}).Results)
		check.That(t, n == 2 || len(gone) != 0, "%d found", n)
	}
	look(nil)
	must.Do(t, os.Rename(away, away+".off"))
	look([]string{away})
	must.Do(t, os.Rename(away+".off", away))
	look(nil)
}

// TestShowsIndexOfOtherProcess checks that a collection that only reads shows what another process indexed, even
// after an empty start. Every result has its path and title.
func TestShowsIndexOfOtherProcess(t *testing.T) {
	writer := collectiontest.Unindexed(t, map[string]string{"first.md": "# First\n\nA harbor.\n"}, nil)
	beside := writer.Beside(t)
	a := find(t, reader(t, beside, access.Unrestricted()), collection.SearchRequest{Text: "harbor"})
	must.That(t, len(a.Results) == 0, "%+v before anything is indexed", a.Results)
	writer.Index(t)
	a = find(t, reader(t, beside, access.Unrestricted()), collection.SearchRequest{Text: "harbor"})
	must.That(t, len(a.Results) == 1, "%+v, want what was indexed", a.Results)
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
					check.That(t, found.Path != "" && found.Title != "", "%+v: nothing is known of it", found)
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
			must.That(t, !time.Now().After(until), "%d results, want %d", found, n+2)
		}
	}
	close(indexed)
	done.Wait()
	must.Get(beside.Collection.Write(t.Context(), access.Unrestricted(),
		[]collection.Change{{ID: "api:given.md",
			Put: &collection.DocumentInput{Text: "# Given\n\nA harbor.\n"}}}))
	check.NoError(t, must.Err(reader(t, writer, access.Unrestricted()).Get(t.Context(), "api:given.md",
		collection.GetOptions{})), "what the other was given")
}

// TestRemadeIndexMustBeReopened checks that an index that another process remade with other settings is neither
// searched nor written. The collection reports that it must be reopened.
func TestRemadeIndexMustBeReopened(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, nil)
	other := f.Beside(t)
	settings := catalog.Settings{Trees: f.Options.Ingest.Trees}
	must.Do(t, other.Options.Catalog.Update(t.Context(), catalog.Update{Settings: &settings}))
	reader(t, f, access.Unrestricted()) // before the remaking
	settings.Analyzer, settings.Chunker = f.Options.Analyzer.Name(), "window"
	must.Do(t, other.Options.Catalog.Update(t.Context(), catalog.Update{Settings: &settings}))
	select {
	case <-f.Replaced():
		t.Error("the change was reported before the first request")
	default:
	}
	_, err := f.For(access.Unrestricted())
	<-f.Replaced()
	for what, err := range map[string]error{"a reader": err, "readiness": f.Ready(t.Context())} {
		check.Is(t, err, ingest.ErrRebuilt, "%s", what)
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

// TestRequestsFailDuringRemake checks that requests fail while another process remakes the index, which may be empty
// meanwhile. The store or the catalog may report it first. The error is temporary, not invalid input.
func TestRequestsFailDuringRemake(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, nil)
	o := f.Options
	o.Backend = otherwise{o.Backend}
	byStore := must.Get(collection.New(o))
	_, err := byStore.For(access.Unrestricted())
	check.That(t, errors.Is(err, ingest.ErrRebuilt) && !errors.Is(err, sheaf.ErrInvalid),
		"told by the store: %v, want ErrRebuilt", err)
	<-byStore.Replaced()
	view := f.Options.Catalog.View()
	settings := view.Settings()
	view.Close()
	settings.Extra = map[string]string{ingest.RemakingKey: ingest.RemakingDocuments}
	must.Do(t, f.Beside(t).Options.Catalog.Update(t.Context(), catalog.Update{Settings: &settings}))
	for name, c := range map[string]*collection.Collection{"store": byStore, "catalog": f.Collection} {
		for _, state := range []string{"open", "closed, to be opened again"} {
			_, err := c.For(access.Unrestricted())
			check.That(t, errors.Is(err, ingest.ErrRebuilt) && errors.Is(c.Ready(t.Context()), ingest.ErrRebuilt),
				"told by the %s, %s: %v, want ErrRebuilt", name, state, err)
			<-c.Replaced()
			must.Do(t, c.Close())
		}
	}
}

// TestCloseWaitsForReaders checks that Close waits for open readers, and that no new reader opens meanwhile.
func TestCloseWaitsForReaders(t *testing.T) {
	c := collectiontest.Open(t, map[string]string{"a.md": "# A\n\napples\n"}, nil)
	r := must.Get(c.For(access.Unrestricted()))
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
		check.Is(t, err, sheaf.ErrUnavailable, "another reader")
		break
	}
	r.Close()
	must.Do(t, <-closed)
}
