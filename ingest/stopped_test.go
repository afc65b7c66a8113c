package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model/hashed"
	"sheaf/store"
	"sheaf/store/embedded"
)

// stopping stops a run after some commits of the backend.
type stopping struct {
	store.Backend
	after int // commits
	stop  context.CancelFunc
}

func (s *stopping) Bulk(ctx context.Context) (store.BulkWriter, error) {
	w, err := s.Backend.(store.Bulk).Bulk(ctx)
	return &stoppingWriter{w, s}, err
}

type stoppingWriter struct {
	store.BulkWriter
	s *stopping
}

func (w *stoppingWriter) Commit(ctx context.Context) error {
	err := w.BulkWriter.Commit(ctx)
	if w.s.after--; w.s.after == 0 {
		w.s.stop()
	}
	return err
}

// TestStoppedBetweenCommits checks that the catalog records a batch which the backend committed,
// even if the run stops then. Both then have the same documents.
func TestStoppedBetweenCommits(t *testing.T) {
	for after := 1; after <= 3; after++ {
		w := newWorld(t)
		for i := range 30 {
			w.write(fmt.Sprintf("n%02d.md", i), fmt.Sprintf("# N%d\n\nalpha beta gamma\n", i))
		}
		ctx, stop := context.WithCancel(context.Background())
		o := w.o
		o.CommitBytes = 200
		o.Backend = &stopping{w.o.Backend, after, stop}
		_, err := ingest.Run(ctx, o)
		must.That(t, errors.Is(err, context.Canceled), "stopped after %d commits: %v", after, err)
		stats := must.Get(w.o.Backend.(store.Reporter).Stats(context.Background()))
		view := w.o.Catalog.View()
		check.That(t, stats.Chunks != 0 && stats.Chunks == view.Chunks(),
			"stopped after %d commits: %d chunks can be found, the catalog knows %d", after, stats.Chunks, view.Chunks())
		view.Close()
		w.run()
		w.sameAsClean(fmt.Sprintf("stopped after %d commits", after))
	}
}

// killed ends a run after the backend commits and before the catalog does.
type killed struct{ store.Backend }

func (k killed) Bulk(ctx context.Context) (store.BulkWriter, error) {
	w, err := k.Backend.(store.Bulk).Bulk(ctx)
	return killedWriter{w}, err
}

type killedWriter struct{ store.BulkWriter }

func (w killedWriter) Commit(ctx context.Context) error {
	return errors.Join(w.BulkWriter.Commit(ctx), errKilled)
}

var errKilled = errors.New("killed")

// TestKilledBetweenCommits checks changes of files after the backend commits and before the catalog does. The next
// run makes both equal to the folder, for files that are gone, changed back, or back again.
func TestKilledBetweenCommits(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"same.md", "changed.md", "away.md"} {
		w.write(name, "# "+name+"\n\nalpha beta\n")
	}
	w.run()
	full := func(name string) string { return filepath.Join(w.root, name) }
	w.write("new.md", "# New\n\nalpha\n\n## More\n\nalpha\n")
	w.write("changed.md", "# Another text\n\nalpha alpha alpha\n\n## More\n\nalpha\n")
	elsewhere := filepath.Join(t.TempDir(), "away.md")
	must.Do(t, os.Rename(full("away.md"), elsewhere))
	o := w.o
	o.Backend = killed{w.o.Backend}
	if _, err := ingest.Run(t.Context(), o); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	must.Do(t, errors.Join(os.Remove(full("new.md")), os.Rename(elsewhere, full("away.md"))))
	w.write("changed.md", "# changed.md\n\nalpha beta\n")
	w.run()
	w.sameAsClean("killed between commits")
	view := w.view()
	check.That(t, len(view.Pending()) == 0, "waiting: %v", view.Pending())
	generation := w.generation()
	r := w.run()
	check.That(t, !r.Changes() && w.generation() == generation, "then a run does something: %+v", r)
}

// TestFirstProgressHasTotal checks that the first progress gives the total amount of work before any work
// is done. A caller can then save memory for one large file as for a large folder.
func TestFirstProgressHasTotal(t *testing.T) {
	w := newWorld(t)
	w.write("only.md", "# Only\n\nalpha\n")
	var first *ingest.Progress
	w.o.Progress = func(p ingest.Progress) {
		if p.Phase == ingest.PhaseIndex && first == nil {
			first = &p
		}
	}
	must.Get(ingest.Run(context.Background(), w.o))
	check.That(t, first != nil && first.Files == 0 && first.AllFiles == 1 && first.AllBytes != 0, "told first: %+v", first)
}

// halfway fails once, after it writes half of the chunks.
type halfway struct {
	store.Backend
	failed bool
}

func (h *halfway) Write(ctx context.Context, batch store.Batch) error {
	if h.failed {
		return h.Backend.Write(ctx, batch)
	}
	h.failed = true
	batch.Chunks = batch.Chunks[:len(batch.Chunks)/2]
	return errors.Join(h.Backend.Write(ctx, batch), sheaf.ErrUnavailable)
}

// unsteady fails some writes, after it writes none or a part of the chunks.
type unsteady struct {
	store.Backend
	r    *rand.Rand
	fail int // out of 4 writes
}

func (u *unsteady) Write(ctx context.Context, batch store.Batch) error {
	if u.r.IntN(4) >= u.fail {
		return u.Backend.Write(ctx, batch)
	}
	if u.r.IntN(2) == 0 {
		return sheaf.ErrUnavailable
	}
	batch.Chunks = batch.Chunks[:u.r.IntN(len(batch.Chunks)+1)]
	return errors.Join(u.Backend.Write(ctx, batch), sheaf.ErrUnavailable)
}

// TestUnsteadyStore checks a store without transactions and a model. Both fail or are absent at
// times, while files and given documents come and go. When both work, the store has all chunks and
// vectors that the catalog lists.
func TestUnsteadyStore(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 0))
		w := newWorld(t)
		m := &fakeModel{Embedder: hashed.New(256)}
		w.o.Embedder, w.o.Settings = m, func(s *catalog.Settings) { s.Embedder = m.Model() }
		w.run() // this run makes an index with a model
		o, kept := w.o, map[sheaf.ID]ingest.Given{}
		o.Kept = func(doc sheaf.ID, hash catalog.Hash) (ingest.Given, bool, error) {
			g, ok := kept[doc]
			return g, ok && catalog.HashOf(g.Text) == hash, nil
		}
		st := &unsteady{w.o.Backend, r, 0}
		o.Backend = st
		step := func() error {
			if r.IntN(3) > 0 {
				_, err := ingest.Run(t.Context(), o)
				return err
			}
			over := o
			over.Trees = append(slices.Clone(o.Trees), catalog.Tree{Name: "g"})
			over.Backend = st
			path := fmt.Sprintf("g%d.md", r.IntN(3))
			var put []ingest.Given
			var removed []sheaf.ID
			if r.IntN(3) == 0 {
				removed = []sheaf.ID{sheaf.DocumentID("g", path)}
			} else {
				put = []ingest.Given{{Tree: "g", Path: path,
					Text: []byte(fmt.Sprintf("# G\n\nalpha %d\n\n## Two\n\nbeta\n", r.IntN(9)))}}
			}
			_, err := ingest.Change(t.Context(), over, put, removed)
			for errors.Is(err, sheaf.ErrUnavailable) { // a client repeats the request
				_, err = ingest.Change(t.Context(), over, put, removed)
			}
			if len(put) > 0 {
				kept[sheaf.DocumentID("g", path)] = put[0]
			}
			return err
		}
		for range 12 {
			st.fail, m.broken, o.Embedder = r.IntN(4), nil, m
			switch r.IntN(6) {
			case 0:
				o.Embedder = nil
			case 1:
				m.broken = errors.New("the model is down")
			}
			for range r.IntN(3) {
				name := fmt.Sprintf("n%d.md", r.IntN(6))
				if r.IntN(3) == 0 {
					_ = os.Remove(filepath.Join(w.root, name)) // it may not exist
				} else {
					w.write(name, fmt.Sprintf("# N\n\nalpha\n\n## S%d\n\ngamma\n", r.IntN(3)))
				}
			}
			err := step()
			must.That(t, err == nil || errors.Is(err, sheaf.ErrUnavailable), "seed %d: %v", seed, err)
		}
		st.fail, m.broken, o.Embedder = 0, nil, m
		_, err := ingest.Run(t.Context(), o)
		must.That(t, err == nil, "seed %d: %v", seed, err)
		view := w.o.Catalog.View()
		must.Do(t, w.o.Backend.(*embedded.Store).Merge(t.Context())) // drops deleted passages, which count
		stats := must.Get(w.o.Backend.(store.Reporter).Stats(t.Context()))
		// Each chunk here has one passage and one title vector.
		if want := 2 * view.Chunks(); stats.Chunks != view.Chunks() || stats.Vectors != want {
			t.Errorf("seed %d: the store has %d chunks and %d vectors, the catalog knows %d: %v wait", seed, stats.Chunks,
				stats.Vectors, view.Chunks(), view.Pending())
		}
		view.Close()
	}
}

// TestWithoutModel checks that documents indexed without a model get vectors from the next run with one.
func TestWithoutModel(t *testing.T) {
	w := newWorld(t)
	m := &fakeModel{Embedder: hashed.New(256), broken: errors.New("the model is down")}
	w.o.Embedder, w.o.Settings = m, func(s *catalog.Settings) { s.Embedder = m.Model() }
	w.write("a.md", "# A\n\nalpha\n")
	w.write("b.md", "# B\n\nbeta\n")
	must.Equal(t, w.run().Pending, 2, "wait for vectors")
	m.broken = nil
	broken := w.o
	broken.Backend = away{w.o.Backend}
	if _, err := ingest.Run(t.Context(), broken); !errors.Is(err, sheaf.ErrUnavailable) {
		t.Fatal(err)
	}
	without := w.o
	without.Embedder = nil
	if r, err := ingest.Run(t.Context(), without); err != nil || r.Pending != 2 || r.EmbedError != "" {
		t.Fatalf("without a model: %+v, %v", r, err)
	}
	w.run()
	w.write("b.md", "# B\n\nbeta beta\n")
	r, err := ingest.Run(t.Context(), without)
	must.That(t, err == nil && r.Pending == 1, "changed without a model: %+v, %v", r, err)
	r = w.run()
	check.That(t, r.Changed == 1 && r.Pending == 0, "with the model again: %+v", r)
	stats, err := w.o.Backend.(store.Reporter).Stats(t.Context())
	check.That(t, err == nil && stats.Vectors == 2*stats.Chunks && stats.Chunks != 0,
		"%d vectors of %d chunks, %v", stats.Vectors, stats.Chunks, err)
}

// away writes nothing.
type away struct{ store.Backend }

func (away) Write(context.Context, store.Batch) error { return sheaf.ErrUnavailable }

// TestLeftoverChunks checks chunks that failed runs left in a store without transactions. The error says what may be
// written. If their files are then gone or are no documents, the next run removes the chunks. Scan counts them as
// removed.
func TestLeftoverChunks(t *testing.T) {
	w := newWorld(t)
	w.write("old.md", "# Old\n\ndelta\n")
	w.run()
	for i := range 8 {
		w.write(fmt.Sprintf("n%02d.md", i), fmt.Sprintf("# N%d\n\nalpha beta gamma\n", i))
	}
	broken := func(b store.Backend) {
		t.Helper()
		o := w.o
		o.Backend = b
		if _, err := ingest.Run(t.Context(), o); !errors.Is(err, sheaf.ErrUnavailable) ||
			!strings.Contains(err.Error(), "chunks may be written") {
			t.Fatal(err)
		}
	}
	broken(&halfway{Backend: w.o.Backend})
	must.Do(t, os.Remove(filepath.Join(w.root, "n00.md")))
	for range 2 {
		broken(away{w.o.Backend})
	}
	report := must.Get(ingest.Scan(t.Context(), w.o))
	check.That(t, report.Added == 7 && report.Removed == 1 && len(report.Waiting) == 8 &&
		report.Waiting[0] == "t:n00.md" && report.Pending == 0, "waiting: %d new, %d gone, %v; %d without vectors",
		report.Added, report.Removed, report.Waiting, report.Pending)
	w.write("n01.md", "\x00\x00\x00 no text\x00")
	broken(&halfway{Backend: w.o.Backend})
	must.Do(t, os.Remove(filepath.Join(w.root, "n02.md")))
	for range 2 {
		report := w.run()
		stats := must.Get(w.o.Backend.(store.Reporter).Stats(t.Context()))
		view := w.o.Catalog.View()
		check.That(t, stats.Chunks == view.Chunks() && view.Chunks() != 0 && len(view.Pending()) == 0 && report.Removed == 0,
			"%d chunks can be found, the catalog knows %d; %v wait, %d removed", stats.Chunks, view.Chunks(), view.Pending(),
			report.Removed)
		view.Close()
	}
	w.sameAsClean("repeated")
}

// TestWorkDoneByOtherProcess checks that a run writes nothing if another process did the work before this
// run got the lock. The other process may then still hold the lock of the store.
func TestWorkDoneByOtherProcess(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.write("a.md", "# A\n\nalpha\n")
	planned, settings := make(chan struct{}, 10), w.o.Settings
	late := w.o
	late.Backend, late.Writing = refusing{w.o.Backend, sheaf.ErrUnavailable}, ingest.NewWriting()
	late.Settings = func(s *catalog.Settings) {
		if settings != nil {
			settings(s)
		}
		planned <- struct{}{}
	}
	must.Do(t, late.Writing.Lock(t.Context()))
	done := make(chan error, 1)
	var report *ingest.Report
	go func() {
		var err error
		report, err = ingest.Run(t.Context(), late)
		done <- err
	}()
	<-planned
	w.run()
	late.Writing.Unlock()
	err := <-done
	check.That(t, err == nil && report.Unchanged == 1 && !report.Changes(), "%v, %+v", err, report)
}

// refusing is a store that refuses to be written.
type refusing struct {
	store.Backend
	err error
}

func (r refusing) Bulk(context.Context) (store.BulkWriter, error) { return nil, r.err }
