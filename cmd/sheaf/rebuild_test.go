package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/store/storetest"
	"sheaf/text/analysis"
)

// These are the times to wait for another process: see collection.NeedFresh.
const (
	lockStep      = 50 * time.Millisecond
	waitForAnswer = 500 * time.Millisecond
)

// TestNoWritesAfterStoppedRebuild checks that a server does not write to an index whose rebuild
// stopped after its first step. The rest of the rebuild would remove those writes from the engine,
// while the catalog lists them as indexed.
func TestNoWritesAfterStoppedRebuild(t *testing.T) {
	n := newNotes(t)
	address := n.serve(t)
	found(t, address, "apples", "a.md")
	killed := quietSession(location.Location{Root: n.folder, Dir: n.index, Exists: true})
	must.Do(t, killed.Drop(t.Context(), false))
	n.write(t, "b.md", "# B\n\nbears\n")
	found(t, address, "bears", "b.md")
	found(t, address, "apples", "a.md")
	n.run(t, "index")
	found(t, address, "bears", "b.md")
	found(t, address, "apples", "a.md")
	n.run(t, "check")
}

// TestDropWaitsForWriter checks that Drop waits until another process has finished writing to the index.
func TestDropWaitsForWriter(t *testing.T) {
	dir := t.TempDir()
	c := must.Get(catalog.Open(vfs.Disk{}, location.CatalogDir(dir), catalog.Options{}))
	defer c.Close()
	s := quietSession(location.Location{Root: t.TempDir(), Dir: dir, Exists: true})
	for what, lock := range map[string]func() (func() error, error){
		"documents": c.Hold,
		"index":     func() (func() error, error) { return location.Lock(dir) },
	} {
		release := must.Get(lock())
		done := make(chan error, 1)
		go func() { time.Sleep(3 * lockStep); done <- release() }()
		check.NoError(t, errors.Join(s.Drop(t.Context(), false), <-done), "%s", what)
	}
}

// quiet returns streams that discard all output.
func quiet() streams { return streams{stderr: io.Discard, err: &terminal.Output{Writer: io.Discard}} }

// quietSession returns a session of an index that is not open.
func quietSession(where location.Location) *session {
	a := &app{streams: quiet(), config: &config.Config{}}
	return a.newSession(where.Root, where)
}

// opened opens a session of an index as commands do, and returns its command too.
func opened(t *testing.T, folder, index string, o openOptions) (*cobra.Command, *session) {
	t.Helper()
	out := must.Get(os.Create(filepath.Join(t.TempDir(), "out")))
	t.Cleanup(func() { _ = out.Close() })
	a := newApp(os.Stdin, out, out)
	cmd := a.command()
	a.in, a.index = folder, index // making the command sets both to their defaults
	cmd.SetContext(t.Context())
	s := must.Get(a.open(cmd, o))
	t.Cleanup(s.Close)
	return cmd, s
}

// takenFrom returns a session, and another session that has emptied the index and begun to fill it.
func takenFrom(t *testing.T) (cmd *cobra.Command, s, other *session) {
	t.Helper()
	n := newNotes(t)
	cmd, s = opened(t, n.folder, n.index, openOptions{Refresh: true, Make: true})
	other = s.newSession(s.Folder, s.Where)
	must.Do(t, other.Drop(t.Context(), false))
	must.Do(t, other.OpenStores(t.Context()))
	t.Cleanup(other.Close)
	load, err := other.Backend.(store.Bulk).Bulk(t.Context()) // the engine that replaces the old one
	if err == nil {
		err = errors.Join(load.Add(t.Context(), storetest.One("t:b", "stone")), load.Commit(t.Context()), load.Close())
	}
	must.Do(t, err)
	return cmd, s, other
}

// TestSearchDuringRebuild checks that a search waits for a rebuild in another process instead of
// reporting an empty index.
func TestSearchDuringRebuild(t *testing.T) {
	cmd, s, _ := takenFrom(t)
	search := func(r *collection.Reader, q collection.SearchRequest) (*collection.Answer, error) {
		q.Text = "apples"
		return r.Search(cmd.Context(), q)
	}
	err := s.show(cmd, searchOptions{}, search)
	check.That(t, err == nil, "%v, want what is there again", err)
}

// TestRefreshDuringRebuild checks that a refresh waits too: the previous index is gone.
func TestRefreshDuringRebuild(t *testing.T) {
	_, s, other := takenFrom(t)
	release := must.Get(other.Catalog.Hold())
	late := make(chan error, 1)
	go func() { time.Sleep(waitForAnswer + 3*lockStep); late <- release() }()
	if err := errors.Join(s.Refresh(t.Context()), <-late); err != nil || s.View.Docs() == 0 || len(s.allWarnings()) > 0 {
		t.Errorf("%v, %d documents, %q", err, s.View.Docs(), s.allWarnings())
	}
}

// TestRemakeKeepsRemadeIndex checks that Remake keeps an index that another process remade while
// Remake waited.
func TestRemakeKeepsRemadeIndex(t *testing.T) {
	n := newNotes(t)
	_, s := opened(t, n.folder, n.index, openOptions{Refresh: true, Make: true})
	c := must.Get(catalog.Open(vfs.Disk{}, location.CatalogDir(n.index), catalog.Options{}))
	defer c.Close()
	release := must.Get(c.Hold())
	settings := s.View.Settings()
	settings.Extra = map[string]string{"kept": "yes"} // remaking removes this setting
	must.Do(t, c.Update(t.Context(), catalog.Update{Settings: &settings}))
	done := make(chan error, 1)
	go func() { time.Sleep(3 * lockStep); done <- release() }()
	must.Do(t, errors.Join(s.Remake(t.Context(), sheaf.ErrUnsupported, false), <-done))
	check.That(t, s.View.Settings().Extra["kept"] != "", "it is made anew")
	if err := s.Remake(t.Context(), sheaf.ErrUnsupported, false); err != nil || s.View.Settings().Extra["kept"] != "" {
		t.Errorf("the index was not made again: settings %+v, error %v", s.View.Settings(), err)
	}
}

// TestOpenRemakesUnrecordedEngine checks an engine that a process filled with other settings before it
// ended. The settings were not recorded. Opening remakes the engine and keeps given documents.
func TestOpenRemakesUnrecordedEngine(t *testing.T) {
	cmd, s, other := takenFrom(t)
	o := other.IngestOptions()
	o.Trees = append(o.Trees, catalog.Tree{Name: "given"})
	must.Get(ingest.Change(t.Context(), o,
		[]ingest.Given{{Tree: "given", Path: "1.md", Text: []byte("given words")}}, nil))
	must.Do(t, other.Drop(t.Context(), false))
	must.Do(t, other.OpenStores(t.Context()))
	german := must.Get(analysis.New(analysis.Options{Language: "de"}))
	engine := engineOptions(other.config)
	engine.Dir, engine.Analyzer = location.EngineDir(other.Where.Dir), german
	store := must.Get(embedded.Open(engine))
	must.Do(t, errors.Join(store.Write(t.Context(), storetest.One("t:b", "Stein")), store.Close()))
	other.Close()
	again := must.Get(s.open(cmd, openOptions{Refresh: true, Make: true}))
	defer again.Close()
	check.That(t, again.View.Docs() == 2, "%d documents, want 2", again.View.Docs())
}

// TestCheckWhileServerWrites checks that documents added during a check are not reported as faults.
func TestCheckWhileServerWrites(t *testing.T) {
	n := newNotes(t)
	address := n.serve(t)
	found(t, address, "apples", "a.md")
	_, s := opened(t, n.folder, n.index, openOptions{AsIs: true})
	for i := range 2 { // before the second check, files of the opened index are gone
		change(t, http.MethodPut, fmt.Sprintf("%s/v1/documents/api:%d.md", address, i), `{"text": "pears"}`)
		if faults, err := s.Faults(t.Context()); err != nil || len(faults) > 0 || s.View.Docs() != 2+i {
			t.Errorf("%d: %v, %v, %d documents", i, faults, err, s.View.Docs())
		}
	}
}

// TestCheckReportsUnfinishedRebuild checks that a check reports an unfinished rebuild of another process,
// though the emptied engine shows no other fault.
func TestCheckReportsUnfinishedRebuild(t *testing.T) {
	cmd, s, other := takenFrom(t)
	other.Close()
	whole, err := s.open(cmd, openOptions{Refresh: true, Make: true}) // continues the unfinished rebuild
	must.Do(t, err)
	whole.Close()
	looking := must.Get(s.open(cmd, openOptions{AsIs: true}))
	defer looking.Close()
	// Drop empties the engine.
	must.Do(t, errors.Join(other.Drop(t.Context(), true), other.OpenStores(t.Context())))
	other.Close()
	faults, err := looking.Faults(t.Context())
	check.That(t, err == nil && errors.Is(errors.Join(faults...), collection.ErrRemaking), "%v, %v", faults, err)
}

// TestRebuildOfOlderAnalyzer checks that a store from an older analyzer is rebuilt without a
// question if files can restore all documents. An error names each document without a file.
func TestRebuildOfOlderAnalyzer(t *testing.T) {
	server := testServer(t, "postgres")
	schema := fmt.Sprintf("older_%d_%d", os.Getpid(), time.Now().Unix())
	conn := must.Get(pgx.Connect(t.Context(), server))
	t.Cleanup(func() {
		_, err := conn.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
		check.That(t, err == nil, "%v", err)
		_ = conn.Close(context.Background())
	})
	u := must.Get(url.Parse(server))
	q := u.Query()
	q.Set("schema", schema)
	u.RawQuery = q.Encode()
	t.Setenv("SHEAF_STORE", u.String())
	n := newNotes(t)
	n.run(t, "index")
	n.write(t, "b.md", "# B\n\nbears\n")
	n.run(t, "index")
	older := func() {
		t.Helper()
		must.Get(conn.Exec(t.Context(), "UPDATE "+schema+".setting SET value = 'sheaf-3 language=en' WHERE name "+
			"= 'analyzer'"))
	}
	older()
	out, err := n.try("index", "--rebuild")
	check.That(t, err == nil && strings.Contains(out, "2 documents"), "everything has a file: %v\n%s", err, out)
	foreign := fmt.Sprintf("UPDATE %s.chunk SET id = 'other:x.md', doc = 'other:x.md' WHERE ord = (SELECT max(ord) "+
		"FROM %[1]s.chunk)", schema)
	must.Get(conn.Exec(t.Context(), foreign))
	older()
	if out, err := n.try("index", "--rebuild"); err == nil ||
		!strings.Contains(out, "removes 1 document that the files of this folder cannot bring back: other:x.md") {
		t.Errorf("a document of another n.folder: %v\n%s", err, out)
	}
}
