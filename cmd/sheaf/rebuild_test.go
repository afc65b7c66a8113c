package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/store"
	"sheaf/store/storetest"
	"sheaf/text/analysis"
)

// Times that work waits for another process: see collection.Life.
const (
	lockStep      = 50 * time.Millisecond
	waitForAnswer = 500 * time.Millisecond
)

// TestStoppedBeforeTheEngineIsEmpty: an index that is made anew by a process that ends after
// its first step is not written to by a server that has it open: what that wrote would be
// removed with the rest of the engine, while the catalog took it for indexed.
func TestStoppedBeforeTheEngineIsEmpty(t *testing.T) {
	n := newNotes(t)
	address := n.serve(t)
	found(t, address, "apples", "a.md")
	killed := quietSession(location.Location{Root: n.folder, Dir: n.index, Exists: true})
	if err := killed.Drop(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	n.write(t, "b.md", "# B\n\nbears\n")
	found(t, address, "bears", "b.md")
	found(t, address, "apples", "a.md")
	n.run(t, "index")
	found(t, address, "bears", "b.md")
	found(t, address, "apples", "a.md")
	n.run(t, "check")
}

// TestTreeOfThoseWithoutFolder: an index whose folder has the tree of documents without one,
// as an earlier version called that of a folder api, has another one when it is made anew.
func TestTreeOfThoseWithoutFolder(t *testing.T) {
	n := newNotes(t)
	n.write(t, "b.md", "# B\n\nbears\n")
	ids := func(change *catalog.Settings) (found []string) {
		t.Helper()
		c, err := catalog.Open(vfs.Disk{}, location.CatalogDir(n.index), catalog.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if change != nil {
			if err := c.Update(t.Context(), catalog.Update{Settings: change}); err != nil {
				t.Fatal(err)
			}
		}
		v := c.View()
		defer v.Close()
		for id := range v.Files() {
			found = append(found, string(id))
		}
		return found
	}
	ids(&catalog.Settings{Trees: []catalog.Tree{{Name: catalog.FreeTree, Root: n.folder}}})
	n.run(t, "index")
	if got := strings.Join(ids(nil), " "); !strings.Contains(got, "api:b.md") {
		t.Fatalf("an index of an earlier version holds %s", got)
	}
	out, err := n.try("key", "add", "feed", "--scope", "ingest")
	if err == nil || !strings.Contains(out, "who has no tenant cannot write") {
		t.Errorf("a key that can write nothing is made: %s", out)
	}
	n.run(t, "index", "--rebuild")
	n.run(t, "key", "add", "feed", "--scope", "ingest")
	if got := strings.Join(ids(nil), " "); !strings.Contains(got, "api-2:b.md") || strings.Contains(got, "api:") {
		t.Errorf("made anew it holds %s", got)
	}
}

// TestDropWaits: an index that another process writes to is made anew when that is done.
func TestDropWaits(t *testing.T) {
	dir := t.TempDir()
	c, err := catalog.Open(vfs.Disk{}, location.CatalogDir(dir), catalog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s := quietSession(location.Location{Root: t.TempDir(), Dir: dir, Exists: true})
	for what, lock := range map[string]func() (func() error, error){
		"documents": c.Hold,
		"index":     func() (func() error, error) { return location.Lock(dir) },
	} {
		release, err := lock()
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { time.Sleep(3 * lockStep); done <- release() }()
		if err := errors.Join(s.Drop(t.Context(), false), <-done); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// quiet are streams that show nothing.
func quiet() streams { return streams{stderr: io.Discard, err: &terminal.Output{Writer: io.Discard}} }

// quietSession is a session of an index that is not open.
func quietSession(where location.Location) *session {
	a := &app{streams: quiet(), config: &config.Config{}}
	return a.newSession(where.Root, where)
}

// opened is a session of an index as commands open it, with the command.
func opened(t *testing.T, folder, index string, o openOptions) (*cobra.Command, *session) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	a := newApp(os.Stdin, out, out)
	cmd := a.command()
	a.in, a.index = folder, index // which making the command sets to their defaults
	cmd.SetContext(t.Context())
	s, err := a.open(cmd, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return cmd, s
}

// takenFrom is a session that another one takes the index from under: it has emptied it and
// begun to fill it.
func takenFrom(t *testing.T) (cmd *cobra.Command, s, other *session) {
	t.Helper()
	n := newNotes(t)
	cmd, s = opened(t, n.folder, n.index, openOptions{Refresh: true, Make: true})
	other = s.newSession(s.Folder, s.Where)
	if err := other.Drop(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if err := other.OpenStores(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	load, err := other.Backend.(store.Bulk).Bulk(t.Context()) // the engine that takes the place of the one before
	if err == nil {
		err = errors.Join(load.Add(t.Context(), storetest.One("t:b", "stone")), load.Commit(t.Context()), load.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, s, other
}

// TestSearchBesideRebuild: a search that another process takes the index from under waits
// for what is made anew, and does not say that nothing is there.
func TestSearchBesideRebuild(t *testing.T) {
	cmd, s, _ := takenFrom(t)
	search := func(r *collection.Reader, q collection.SearchRequest) (*collection.Answer, error) {
		q.Text = "apples"
		return r.Search(cmd.Context(), q)
	}
	if err := s.show(cmd, searchOptions{}, search); err != nil {
		t.Errorf("%v, want what is there again", err)
	}
}

// TestRefreshBesideRebuild: so does one that brings the index up to date: of what was indexed
// last nothing is left.
func TestRefreshBesideRebuild(t *testing.T) {
	_, s, other := takenFrom(t)
	release, err := other.Catalog.Hold()
	if err != nil {
		t.Fatal(err)
	}
	late := make(chan error, 1)
	go func() { time.Sleep(waitForAnswer + 3*lockStep); late <- release() }()
	if err := errors.Join(s.Refresh(t.Context()), <-late); err != nil || s.View.Docs() == 0 || len(s.allWarnings()) > 0 {
		t.Errorf("%v, %d documents, %q", err, s.View.Docs(), s.allWarnings())
	}
}

// TestRemakeThatAnotherDid: an index that another process made again while this one waited to
// do so stays as that one made it.
func TestRemakeThatAnotherDid(t *testing.T) {
	n := newNotes(t)
	_, s := opened(t, n.folder, n.index, openOptions{Refresh: true, Make: true})
	c, err := catalog.Open(vfs.Disk{}, location.CatalogDir(n.index), catalog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	release, err := c.Hold()
	if err != nil {
		t.Fatal(err)
	}
	settings := s.View.Settings()
	settings.Extra = map[string]string{"kept": "yes"} // what is made anew forgets
	if err := c.Update(t.Context(), catalog.Update{Settings: &settings}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { time.Sleep(3 * lockStep); done <- release() }()
	if err := errors.Join(s.Remake(t.Context(), sheaf.ErrUnsupported, false), <-done); err != nil {
		t.Fatal(err)
	}
	if s.View.Settings().Extra["kept"] == "" {
		t.Error("it is made anew")
	}
	if err := s.Remake(t.Context(), sheaf.ErrUnsupported, false); err != nil || s.View.Settings().Extra["kept"] != "" {
		t.Errorf("the index was not made again: settings %+v, error %v", s.View.Settings(), err)
	}
}

// TestStoppedInTheFirstCommit: an engine that a process filled in another way and ended before
// that was recorded is made again, also where there are documents without files.
func TestStoppedInTheFirstCommit(t *testing.T) {
	cmd, s, other := takenFrom(t)
	o := other.IngestOptions()
	o.Trees = append(o.Trees, catalog.Tree{Name: "given"})
	if _, err := ingest.Put(t.Context(), o,
		[]ingest.Given{{Tree: "given", Path: "1.md", Text: []byte("given words")}}); err != nil {
		t.Fatal(err)
	}
	if err := other.Drop(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if err := other.OpenStores(t.Context()); err != nil {
		t.Fatal(err)
	}
	german, err := analysis.New(analysis.Options{Language: "de"})
	if err != nil {
		t.Fatal(err)
	}
	store, err := openEngine(other.config, location.EngineDir(other.Where.Dir), german, nil)
	if err == nil {
		err = errors.Join(store.Write(t.Context(), storetest.One("t:b", "Stein")), store.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	other.Close()
	again, err := s.open(cmd, openOptions{Refresh: true, Make: true})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.View.Docs() != 2 {
		t.Errorf("%d documents, want 2", again.View.Docs())
	}
}

// TestCheckBesideServer: what a server takes while its index is looked at is no damage.
func TestCheckBesideServer(t *testing.T) {
	n := newNotes(t)
	address := n.serve(t)
	found(t, address, "apples", "a.md")
	_, s := opened(t, n.folder, n.index, openOptions{AsIs: true})
	for i := range 2 { // of what was opened before the second, files are gone
		change(t, http.MethodPut, fmt.Sprintf("%s/v1/documents/api:%d.md", address, i), `{"text": "pears"}`)
		if faults, err := s.Faults(t.Context()); err != nil || len(faults) > 0 || s.View.Docs() != 2+i {
			t.Errorf("%d: %v, %v, %d documents", i, faults, err, s.View.Docs())
		}
	}
}

// TestCheckBesideRemaking: where another process begins to make an index again while it is looked
// at, and ends, that is what is wrong, though nothing of it is there that could be.
func TestCheckBesideRemaking(t *testing.T) {
	cmd, s, other := takenFrom(t)
	other.Close()
	whole, err := s.open(cmd, openOptions{Refresh: true, Make: true}) // which goes on with what was begun
	if err != nil {
		t.Fatal(err)
	}
	whole.Close()
	looking, err := s.open(cmd, openOptions{AsIs: true})
	if err != nil {
		t.Fatal(err)
	}
	defer looking.Close()
	// which empties the engine
	if err := errors.Join(other.Drop(t.Context(), true), other.OpenStores(t.Context())); err != nil {
		t.Fatal(err)
	}
	other.Close()
	faults, err := looking.Faults(t.Context())
	if err != nil || !errors.Is(errors.Join(faults...), collection.ErrRemaking) {
		t.Errorf("%v, %v", faults, err)
	}
}
