package embedded_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"sheaf"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/store/storetest"
	"sheaf/text/analysis"
)

func analyzer(t testing.TB) *analysis.Analyzer { return storetest.Analyzer(t, "en") }

func open(t testing.TB, o embedded.Options) *embedded.Store {
	t.Helper()
	if o.Analyzer == nil {
		o.Analyzer = analyzer(t)
	}
	s := must.Get(embedded.Open(o))
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func note(id, doc, title, body string) store.Chunk {
	return store.Chunk{ID: sheaf.ID(id), Doc: sheaf.ID(doc),
		Fields:  []store.Field{{Name: sheaf.FieldTitle, Text: title}, {Name: sheaf.FieldBody, Text: body}},
		Columns: []store.Column{{Name: sheaf.ColumnPath, Values: []sheaf.Value{sheaf.TextValue(doc)}}}}
}

func words(q sheaf.TextQuery) store.Request {
	return store.Request{Limit: 10, Text: &store.TextRequest{Query: q, K1: 1.2, B: 0.75,
		Fields: []store.FieldWeight{{Name: sheaf.FieldTitle, Weight: 2}, {Name: sheaf.FieldBody, Weight: 1}}}}
}

func ids(r sheaf.Ranking) (out []sheaf.ID) {
	for _, h := range r {
		out = append(out, h.ID)
	}
	return out
}

// TestReaderAndSecondWriter checks that a store that is open for reading sees another's writes and refuses its own. A
// second writer is refused until the first load ends.
func TestReaderAndSecondWriter(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	s := open(t, embedded.Options{Dir: dir})
	find := func(s *embedded.Store, text string, want ...sheaf.ID) {
		t.Helper()
		r, err := s.Retrieve(ctx, words(sheaf.Match{Text: text}))
		must.That(t, err == nil && slices.Equal(ids(r), want), "%s finds %v, %v, want %v", text, ids(r), err, want)
	}
	write := func(replace sheaf.ID, c store.Chunk) {
		t.Helper()
		must.Do(t, s.Write(ctx, store.Batch{Replace: []sheaf.ID{replace}, Chunks: []store.Chunk{c}}))
	}
	write("t:b", note("t:b", "t:b", "Cats", "Cats sleep."))
	reader := open(t, embedded.Options{Dir: dir})
	find(reader, "sleeping", "t:b")
	write("t:b", note("t:c", "t:c", "Cows", "Moo."))
	find(reader, "moo sleep", "t:c")
	faults := s.Check(ctx, nil)
	must.That(t, len(faults) == 0, "%v", faults)
	load := must.Get(s.Bulk(ctx))
	second := open(t, embedded.Options{Dir: dir})
	err := second.Write(ctx, store.Batch{})
	must.That(t, errors.Is(err, sheaf.ErrUnavailable), "a second writer gets %v", err)
	find(second, "cow", "t:c")
	must.Do(t, load.Close())
	err = second.Write(ctx, store.Batch{Replace: []sheaf.ID{"t:c"}})
	must.That(t, err == nil, "a second writer, when the first is done: %v", err)
	find(s, "cow")
}

// TestReaderFollowsRemadeIndex checks that an open reader follows when the folder is emptied and filled again.
func TestReaderFollowsRemadeIndex(t *testing.T) {
	ctx, dir := context.Background(), filepath.Join(t.TempDir(), "index")
	write := func(doc string) {
		s := must.Get(embedded.Open(embedded.Options{Dir: dir, Analyzer: analyzer(t)}))
		must.Do(t, errors.Join(s.Write(ctx, store.Batch{Chunks: []store.Chunk{note("t:"+doc, "t:"+doc, "Note", "words")}}),
			s.Close()))
	}
	write("old")
	reader := open(t, embedded.Options{Dir: dir})
	must.Get(reader.Retrieve(ctx, words(sheaf.Match{Text: "words"})))
	if err := os.RemoveAll(dir); err != nil {
		t.Skipf("this platform keeps files that are open: %v", err)
	}
	time.Sleep(2 * time.Millisecond) // commit numbers start from the clock
	write("new")
	r, err := reader.Retrieve(ctx, words(sheaf.Match{Text: "words"}))
	check.That(t, err == nil && len(r) == 1 && r[0].ID == "t:new", "the reader finds %v, %v", ids(r), err)
}

// TestOpenedBeforeFirstCommit checks that a store that opens during the first commit of another
// sees that commit, whatever the clock shows.
func TestOpenedBeforeFirstCommit(t *testing.T) {
	ctx := context.Background()
	for range 20 {
		fsys := vfs.NewMem()
		writer := open(t, embedded.Options{FS: fsys, Dir: "/i"})
		load := must.Get(writer.Bulk(ctx))
		must.Do(t, load.Add(ctx, store.Batch{Chunks: []store.Chunk{note("t:a", "t:a", "Note", "words")}}))
		time.Sleep(time.Millisecond) // commit numbers start from the clock
		reader := open(t, embedded.Options{FS: fsys, Dir: "/i"})
		must.Do(t, errors.Join(load.Commit(ctx), load.Close()))
		r, err := reader.Retrieve(ctx, words(sheaf.Match{Text: "words"}))
		must.That(t, err == nil && len(r) == 1, "the reader finds %v, %v", ids(r), err)
	}
}

// TestPin checks that writes do not change a pinned store, and that closing it leaves other stores
// open.
func TestPin(t *testing.T) {
	ctx := context.Background()
	s := open(t, embedded.Options{Dir: t.TempDir()})
	write := func(id string) {
		t.Helper()
		must.Do(t, s.Write(ctx, store.Batch{Chunks: []store.Chunk{note(id, id, "Foxes", "A fox.")}}))
	}
	write("t:a")
	pinned := must.Get(s.Pin())
	before := must.Get(s.Version())
	write("t:b")
	must.Do(t, s.Merge(ctx))
	held := must.Get(pinned.(store.Versioned).Version())
	check.Equal(t, held, before, "version of the pinned store")
	for _, test := range []struct {
		of    store.Backend
		wants int
	}{{pinned, 1}, {s, 2}} {
		hits := must.Get(test.of.Retrieve(ctx, words(sheaf.Match{Text: "fox"})))
		check.Equal(t, len(hits), test.wants, "number of hits %v", ids(hits))
		n := must.Get(test.of.(store.Counter).Count(ctx, words(sheaf.Match{Text: "fox"})))
		check.Equal(t, n, test.wants, "count")
		stats, err := test.of.(store.Reporter).Stats(ctx)
		check.That(t, err == nil && stats.Chunks == test.wants, "%d chunks (%v), want %d", stats.Chunks, err, test.wants)
	}
	again := must.Get(pinned.(store.Pinner).Pin())
	for range 2 { // the second time has no effect
		must.Do(t, pinned.Close())
	}
	_, err := pinned.Retrieve(ctx, words(sheaf.Match{Text: "fox"}))
	check.That(t, errors.Is(err, sheaf.ErrUnavailable), "%v from a pinned store that is closed", err)
	if hits, err := again.Retrieve(ctx, words(sheaf.Match{Text: "fox"})); err != nil || len(hits) != 1 {
		t.Errorf("found %v (%v) in what was pinned again, want 1", ids(hits), err)
	}
	must.Do(t, again.Close())
	write("t:c")
	if hits, err := s.Retrieve(ctx, words(sheaf.Match{Text: "fox"})); err != nil || len(hits) != 3 {
		t.Errorf("found %v (%v) after the pinned one was closed, want 3", ids(hits), err)
	}
}

// TestWriteToIndexOfOtherOptions checks that a write returns ErrMadeOtherwise when another process has
// since created the index with other options.
func TestWriteToIndexOfOtherOptions(t *testing.T) {
	dir := t.TempDir()
	german := storetest.Analyzer(t, "de")
	s, other := open(t, embedded.Options{Dir: dir}), open(t, embedded.Options{Dir: dir, Analyzer: german})
	must.Do(t, other.Write(t.Context(), store.Batch{Chunks: []store.Chunk{note("t:a", "t:a", "Haus",
		"Ein Haus")}}))
	if _, err := s.Bulk(t.Context()); !errors.Is(err, store.ErrMadeOtherwise) || !errors.Is(err, sheaf.ErrInvalid) {
		t.Errorf("%v, want ErrMadeOtherwise", err)
	}
}
