package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model/hashed"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/text/analysis"
	"sheaf/text/chunk"
)

// twoProcesses returns one index of a folder, opened as by two processes.
func twoProcesses(t *testing.T) (a, b *world) {
	t.Helper()
	w, dir := &world{t: t, root: t.TempDir()}, t.TempDir()
	words := must.Get(analysis.New(analysis.Options{}))
	store := memory.New(words)
	t.Cleanup(func() { store.Close() })
	open := func() *world {
		c := must.Get(catalog.Open(vfs.Disk{}, dir, catalog.Options{}))
		t.Cleanup(func() { c.Close() })
		return &world{t: t, root: w.root, o: ingest.Options{Catalog: c, Backend: store,
			Trees: []catalog.Tree{{Name: "t", Root: w.root}}, Known: []catalog.Tree{}}}
	}
	return open(), open()
}

// TestFolderOfOtherProcessStays checks that a folder stays which another process added or moved, whichever process
// runs next.
func TestFolderOfOtherProcessStays(t *testing.T) {
	long, short := twoProcesses(t)
	long.write("a.md", "# A\n\nfirst words\n")
	long.run()
	extra := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(extra, "e.md"), []byte("# E\n\nextra words\n"), 0o644))
	short.o.Known = short.o.Trees
	short.o.Trees = append(short.o.Trees[:1:1], catalog.Tree{Name: "extra", Root: extra})
	must.Equal(t, short.run().Added, 1, "Added")
	long.write("b.md", "# B\n\nmore words\n")
	if r := long.run(); r.Added != 1 || r.Removed != 0 || finds(t, long.o.Backend, "words") != 3 {
		t.Errorf("%+v, %d found: want what the other process added, too", r, finds(t, long.o.Backend, "words"))
	}
	must.Do(t, os.WriteFile(filepath.Join(extra, "f.md"), []byte("# F\n\nfurther words\n"), 0o644))
	if r := long.run(); r.Added != 1 || finds(t, long.o.Backend, "words") != 4 {
		t.Errorf("%+v, %d found: want the other process's folder kept up to date", r, finds(t, long.o.Backend, "words"))
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(extra, moved); err != nil {
		t.Skipf("this platform keeps folders that are open: %v", err)
	}
	short.o.Known, short.o.Trees = short.o.Trees, append(short.o.Trees[:1:1], catalog.Tree{Name: "extra", Root: moved})
	short.run()
	long.o.Known = short.o.Known
	long.o.Trees = short.o.Known
	if r, err := ingest.Run(context.Background(), long.o); err != nil || r.Removed != 0 ||
		finds(t, long.o.Backend, "words") != 4 {
		t.Errorf("%+v, %v, %d found: want the folder where it is now", r, err, finds(t, long.o.Backend, "words"))
	}
	long.o.Known = long.o.Trees
	short.o.Known, short.o.Trees = nil, long.o.Trees[:1]
	short.run()
	if r := long.run(); r.Changes() || finds(t, long.o.Backend, "words") != 2 {
		t.Errorf("%+v, %d found: want the folder left out that the other process left out", r,
			finds(t, long.o.Backend, "words"))
	}
	long.o.Known, short.o.Trees = nil, append(short.o.Trees[:1:1], catalog.Tree{Name: "extra", Root: moved})
	short.run()
	long.o.Trees = long.o.Trees[:1]
	check.Equal(t, long.run().Removed, 2, "Removed")
}

// TestRebuildByOtherProcessIsDetected checks that a process with an open index detects a rebuild with other settings by
// another process. It then writes neither documents nor its own settings.
func TestRebuildByOtherProcessIsDetected(t *testing.T) {
	with := func(analyzer, chunker, model string) func(*catalog.Settings) {
		return func(s *catalog.Settings) { s.Analyzer, s.Chunker, s.Embedder = analyzer, chunker, model }
	}
	for name, now := range map[string]func(*catalog.Settings){
		"analyzer": with("de", "tree", "m"), "chunker": with("en", "window", "m"), "model": with("en", "tree", "n"),
	} {
		long, short := twoProcesses(t)
		long.write("a.md", "# A\n\nfirst words\n")
		long.o.Settings, short.o.Settings = with("en", "tree", "m"), now
		long.run()
		_, err := ingest.Run(t.Context(), short.o)
		check.That(t, errors.Is(err, ingest.ErrRebuilt) && errors.Is(err, sheaf.ErrUnavailable),
			"%s: %v before the rebuild, want ErrRebuilt", name, err)
		empty := catalog.Settings{Trees: long.o.Trees}
		// sheaf index --rebuild does this.
		must.Do(t, short.o.Catalog.Update(t.Context(), catalog.Update{Settings: &empty}))
		short.write("b.md", "# B\n\nsecond words\n")
		short.run()
		v := short.o.Catalog.View()
		made := v.Settings()
		v.Close()
		long.write("c.md", "# C\n\nthird words\n")
		check.Is(t, must.Err(ingest.Run(t.Context(), long.o)), ingest.ErrRebuilt, "%s: a run", name)
		_, err = ingest.Change(t.Context(), long.o,
			[]ingest.Given{{Tree: "given", Path: "1", Text: []byte("given words")}}, nil)
		check.That(t, errors.Is(err, ingest.ErrRebuilt), "%s: a document that is given: %v, want ErrRebuilt", name, err)
		v = short.o.Catalog.View()
		is := v.Settings()
		check.That(t, is.Analyzer == made.Analyzer && is.Chunker == made.Chunker && is.Embedder == made.Embedder &&
			v.Docs() == 2, "%s: %+v in %d documents, made as %+v", name, is, v.Docs(), made)
		v.Close()
	}
}

// TestWatchWhileOtherProcessIndexes checks that Watch does not report a file that another process indexes. It soon
// indexes a file which that process skipped.
func TestWatchWhileOtherProcessIndexes(t *testing.T) {
	w, other := twoProcesses(t)
	w.write("a.md", "# A\n\nfirst words\n")
	w.run()
	release := must.Get(other.o.Catalog.Hold())
	w.write("b.md", "# B\n\nsecond words\n")
	runs := make(chan error, 100)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- ingest.Watch(ctx, w.o, func(report *ingest.Report, err error) {
			if err == nil && report.Added != 1 {
				err = fmt.Errorf("%+v, want one added", report)
			}
			runs <- err
		})
	}()
	select {
	case err := <-runs:
		t.Errorf("told of %v while another process writes", err)
	case <-time.After(300 * time.Millisecond):
	}
	must.Do(t, release())
	must.Do(t, <-runs)
	stop()
	must.Do(t, <-ended)
}

// TestWatchFolderAddedByOtherProcess checks that Watch soon finds files in a folder that another process added.
func TestWatchFolderAddedByOtherProcess(t *testing.T) {
	w, other := twoProcesses(t)
	w.write("a.md", "# A\n\nfirst words\n")
	runs := make(chan *ingest.Report, 100)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- ingest.Watch(ctx, w.o, func(report *ingest.Report, err error) {
			if err != nil {
				t.Error(err)
			} else if report.Changes() {
				runs <- report
			}
		})
	}()
	<-runs
	other.o.Known = other.o.Trees
	other.o.Trees = other.with("extra")
	other.run()
	time.Sleep(time.Second)
	must.Do(t, os.WriteFile(filepath.Join(other.o.Trees[1].Root, "f.md"), []byte("# F\n\nlater words\n"),
		0o644))
	select {
	case report := <-runs:
		check.Equal(t, report.Added, 1, "added documents in %+v", report)
	case <-time.After(30 * time.Second): // shorter than the time after which Watch looks anyway
		t.Error("a note in a folder that another process added is not indexed")
	}
	stop()
	must.Do(t, <-ended)
}

// TestNoWriteBeforeStoreIsEmptied checks that no process writes to a store which a rebuild has yet to empty.
// A write waits for this, but not forever.
func TestNoWriteBeforeStoreIsEmptied(t *testing.T) {
	// The compressor of a catalog is shared by all tests, so it must not be created in a synctest bubble.
	outside, _ := twoProcesses(t)
	outside.write("a.md", "# A\n\nfirst words\n")
	outside.run()
	given := []ingest.Given{{Tree: "given", Path: "1", Text: []byte("given words")}}
	must.Get(ingest.Change(t.Context(), outside.o, given, nil))
	synctest.Test(t, func(t *testing.T) {
		long, short := twoProcesses(t)
		long.write("a.md", "# A\n\nfirst words\n")
		long.run()
		mark := func(as string) error {
			settings := catalog.Settings{Trees: long.o.Trees, Extra: map[string]string{ingest.RemakingKey: as}}
			return short.o.Catalog.Update(context.Background(), catalog.Update{Settings: &settings})
		}
		must.Do(t, mark("engine"))
		long.write("b.md", "# B\n\nsecond words\n")
		_, err := ingest.Run(t.Context(), long.o)
		check.That(t, errors.Is(err, ingest.ErrRebuilt) && finds(t, long.o.Backend, "words") == 1,
			"a run: %v, want ErrRebuilt and nothing written", err)
		for i, write := range []func() error{ // the remaking step forgets the tree of given documents
			func() error { _, err := ingest.Run(t.Context(), long.o); return err },
			func() error { _, err := ingest.Change(t.Context(), long.o, given, nil); return err },
		} {
			must.Do(t, mark("engine"))
			marked := make(chan error, 1)
			go func() { time.Sleep(100 * time.Millisecond); marked <- mark(ingest.RemakingDocuments) }()
			check.NoError(t, errors.Join(write(), <-marked), "write %d, which waits", i)
		}
		check.Equal(t, finds(t, long.o.Backend, "words"), 3, "found")
	})
}

// TestMissingFolder checks that one missing folder of several keeps its documents and its skipped
// files until it returns. If all are missing, the run reports this.
func TestMissingFolder(t *testing.T) {
	w, extra := newWorld(t), filepath.Join(t.TempDir(), "extra")
	w.write("a.md", "# A\n\nfirst words\n")
	must.Do(t, os.MkdirAll(extra, 0o755))
	for name, text := range map[string]string{"e.md": "# E\n\nextra words\n", "empty.md": ""} {
		must.Do(t, os.WriteFile(filepath.Join(extra, name), []byte(text), 0o644))
	}
	w.o.Trees = append(w.o.Trees, catalog.Tree{Name: "extra", Root: extra})
	w.run()
	must.Do(t, os.Rename(extra, extra+".away"))
	w.write("b.md", "# B\n\nmore words\n")
	r := w.run()
	if r.Added != 1 || r.Removed != 0 || len(r.Skipped) != 1 || !slices.Equal(r.Gone, []string{extra}) ||
		finds(t, w.o.Backend, "words") != 3 {
		t.Errorf("%+v, %d found: want what is gone left as it is", r, finds(t, w.o.Backend, "words"))
	}
	at := w.generation()
	r = w.run()
	check.That(t, !r.Changes() && len(r.Gone) == 1 && w.generation() == at, "%+v: want nothing done", r)
	s, err := ingest.Scan(t.Context(), w.o)
	check.That(t, err == nil && s.Removed == 0 && len(s.Gone) == 1, "%+v, %v: want nothing to do", s, err)
	must.Do(t, os.Rename(w.root, w.root+".away"))
	check.Is(t, must.Err(ingest.Run(t.Context(), w.o)), fs.ErrNotExist, "no folder is there")
	for _, folder := range []string{w.root, extra} {
		must.Do(t, os.Rename(folder+".away", folder))
	}
	if r := w.run(); r.Changes() || len(r.Gone) != 0 || finds(t, w.o.Backend, "words") != 3 {
		t.Errorf("%+v, %d found when all are back", r, finds(t, w.o.Backend, "words"))
	}
}

// TestUnrecordedRebuild checks a store to which another process wrote in another way, before
// the catalog recorded it. A run must report ErrRebuilt.
func TestUnrecordedRebuild(t *testing.T) {
	long, _ := twoProcesses(t)
	long.write("a.md", "# A\n\nfirst words\n")
	st := long.o.Backend
	long.o.Backend = refusing{st, store.ErrMadeOtherwise}
	check.Is(t, must.Err(ingest.Run(t.Context(), long.o)), ingest.ErrRebuilt, "Run")
	long.o.Backend, long.o.Settings = st, func(s *catalog.Settings) { s.Analyzer = "en" }
	long.run()
	long.write("b.md", "# B\n\nsecond words\n")
	long.o.Backend = refusing{st, store.ErrMadeOtherwise}
	_, err := ingest.Run(t.Context(), long.o)
	check.That(t, !errors.Is(err, ingest.ErrRebuilt) && errors.Is(err, store.ErrMadeOtherwise),
		"%v where it is recorded, want ErrMadeOtherwise", err)
}

// with returns the folders of a world plus another folder with one file.
func (w *world) with(name string) []catalog.Tree {
	w.t.Helper()
	root := w.t.TempDir()
	must.Do(w.t, os.WriteFile(filepath.Join(root, "e.md"), []byte("# E\n\nextra words\n"), 0o644))
	return append(slices.Clip(w.o.Trees), catalog.Tree{Name: name, Root: root})
}

// TestFolderRemovedByOtherProcess checks a folder that another process removes before this process gets
// the lock. It stays removed, also if it was added after the options were made.
func TestFolderRemovedByOtherProcess(t *testing.T) {
	long, short := twoProcesses(t)
	long.write("a.md", "# A\n\nfirst words\n")
	long.o.Known = long.o.Trees
	long.run()
	short.o.Known, short.o.Trees = short.o.Trees, short.with("extra")
	short.run()
	long.write("b.md", "# B\n\nmore words\n")
	planned, late := make(chan struct{}, 10), long.o
	late.Writing, late.Settings = ingest.NewWriting(), func(*catalog.Settings) { planned <- struct{}{} }
	must.Do(t, late.Writing.Lock(t.Context()))
	done := make(chan error, 1)
	go func() { _, err := ingest.Run(t.Context(), late); done <- err }()
	<-planned
	short.o.Known, short.o.Trees = short.o.Trees, short.o.Trees[:1]
	short.run()
	late.Writing.Unlock()
	if err := <-done; err != nil || finds(t, long.o.Backend, "words") != 2 {
		t.Errorf("%v, %d found: want the folder left out that the other process removed", err,
			finds(t, long.o.Backend, "words"))
	}
}

// TestTwoFoldersOfOneName checks that two processes can not add two folders of one name: the second does
// not replace the first.
func TestTwoFoldersOfOneName(t *testing.T) {
	a, b := twoProcesses(t)
	a.write("a.md", "# A\n\nfirst words\n")
	a.run()
	a.o.Known, b.o.Known = a.o.Trees, b.o.Trees
	a.o.Trees, b.o.Trees = a.with("extra"), b.with("extra")
	a.run()
	check.Fails(t, must.Err(ingest.Run(t.Context(), b.o)), sheaf.ErrUnavailable, a.o.Trees[1].Root, "Run")
	r := a.run()
	check.That(t, !r.Changes() && r.Unchanged == 2, "%+v, want the first folder as it was", r)
}

// TestRecordedFolderOrderStays checks that a process which knows the folders in another order keeps the
// recorded order.
func TestRecordedFolderOrderStays(t *testing.T) {
	a, b := twoProcesses(t)
	a.write("a.md", "# A\n\nfirst words\n")
	a.o.Trees = a.with("x")
	a.o.Known = a.o.Trees
	a.run()
	b.o.Known, b.o.Trees = a.o.Trees, a.with("y")
	slices.Reverse(b.o.Trees[1:])
	b.run()
	b.o.Known = b.o.Trees
	recorded := func(w *world) []catalog.Tree {
		v := w.view()
		return v.Settings().Trees
	}
	before := recorded(b)
	for _, w := range []*world{a, b} {
		if w.run(); !slices.Equal(recorded(w), before) {
			t.Errorf("%v were recorded, and now %v", before, recorded(w))
		}
	}
}

// TestPutWaitsForWriter checks that Change waits for another process that writes, and no longer than
// its context allows.
func TestPutWaitsForWriter(t *testing.T) {
	w, other := twoProcesses(t)
	w.write("a.md", "# A\n\nfirst words\n")
	w.run()
	release := must.Get(other.o.Catalog.Hold())
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	doc := []ingest.Given{{Tree: "given", Path: "b", Text: []byte("second words")}}
	_, err := ingest.Change(ctx, w.o, doc, nil)
	if !errors.Is(err, vfs.ErrLocked) || !errors.Is(err, sheaf.ErrUnavailable) {
		t.Errorf("while another process writes: %v", err)
	}
	released := make(chan error, 1)
	time.AfterFunc(100*time.Millisecond, func() { released <- release() })
	report, err := ingest.Change(t.Context(), w.o, doc, nil)
	check.That(t, err == nil && report.Added == 1, "after another process wrote: %+v, %v", report, err)
	must.Do(t, <-released)
}

// TestModelOfRebuiltIndex checks that a rebuilt index without vectors may take the current model's vectors.
func TestModelOfRebuiltIndex(t *testing.T) {
	w, _ := twoProcesses(t)
	must.Get(ingest.Change(t.Context(), w.o, []ingest.Given{{Tree: "given", Path: "1", Text: []byte("given words")}}, nil))
	w.o.Settings = func(s *catalog.Settings) { s.Embedder = "m" }
	for _, c := range []struct {
		made, mark string
		anew       bool
	}{{"", ingest.RemakingDocuments, false}, {"", "", true}, {"m", "", false}, {"n", ingest.RemakingDocuments, true}} {
		settings := catalog.Settings{Analyzer: "en", Embedder: c.made, Extra: map[string]string{}}
		if c.mark != "" {
			settings.Extra[ingest.RemakingKey] = c.mark
		}
		must.Do(t, w.o.Catalog.Update(t.Context(), catalog.Update{Settings: &settings}))
		v := w.o.Catalog.View()
		check.Equal(t, errors.Is(w.o.Agrees(v), ingest.ErrRebuilt), c.anew, "%+v", c)
		v.Close()
	}
}

// TestInvalidTrees checks that a run refuses trees with unclear names, and relative paths, which
// would depend on the working folder. It refuses them before it indexes anything.
func TestInvalidTrees(t *testing.T) {
	w := newWorld(t)
	w.write("a.md", "alpha\n")
	for want, trees := range map[string][]catalog.Tree{
		"must not be empty or hold a colon": {{Root: w.root}},
		"hold a colon":                      {{Name: "a:b", Root: w.root}},
		"must be an absolute path":          {{Name: "t", Root: "."}},
		"another tree has it":               {{Name: "t", Root: w.root}, {Name: "t", Root: t.TempDir()}},
	} {
		w.o.Trees = trees
		if r, err := ingest.Run(t.Context(), w.o); !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %+v, %v; want %q", trees, r, err, want)
		}
	}
}

// TestMissingOptions checks that missing required options are errors.
func TestMissingOptions(t *testing.T) {
	w := newWorld(t)
	for _, o := range []ingest.Options{{}, {Catalog: w.o.Catalog}, {Backend: w.o.Backend}} {
		_, run := ingest.Run(t.Context(), o)
		_, scan := ingest.Scan(t.Context(), o)
		watch := ingest.Watch(t.Context(), o, func(*ingest.Report, error) {})
		for _, err := range []error{run, scan, watch} {
			check.Is(t, err, sheaf.ErrInvalid, "%+v", o)
		}
	}
	check.Is(t, must.Err(catalog.Open(nil, t.TempDir(), catalog.Options{})), sheaf.ErrInvalid, "Open")
}

// TestOtherChunkerOrModel checks that, without settings, a run does not mix documents of another chunker
// or model into the index.
func TestOtherChunkerOrModel(t *testing.T) {
	for what, change := range map[string]func(*ingest.Options){
		"chunker": func(o *ingest.Options) { o.Chunk = chunk.Options{Chunker: "window"} },
		"model":   func(o *ingest.Options) { o.Embedder = otherModel{hashed.New(256)} },
	} {
		w := newWorld(t)
		w.o.Embedder = hashed.New(256)
		w.write("a.md", "# A\n\nfirst words\n")
		w.run()
		before := w.generation()
		w.write("b.md", "# B\n\nsecond words\n")
		changed := w.o
		change(&changed)
		if _, err := ingest.Run(t.Context(), changed); !errors.Is(err, sheaf.ErrInvalid) ||
			!strings.Contains(err.Error(), "made with the "+what) || w.generation() != before {
			t.Errorf("%s: %v", what, err)
		}
		changed.Rebuild = true
		r, err := ingest.Run(t.Context(), changed)
		check.That(t, err == nil && r.Changed == 1 && r.Added == 1, "%s: made anew: %+v, %v", what, r, err)
		check.Is(t, must.Err(ingest.Run(t.Context(), w.o)), sheaf.ErrInvalid, "%s: after a rebuild", what)
	}
}

type otherModel struct{ hashed.Embedder }

func (otherModel) Model() string { return "another" }
