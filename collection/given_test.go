package collection_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/collection/intake"
	"sheaf/index/catalog"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model"
)

// TestOneProcessAcceptsDocuments checks that, of two processes with one index, only the first with Work accepts
// documents. The other accepts them after the first ends. Tasks run once.
func TestOneProcessAcceptsDocuments(t *testing.T) {
	a := collectiontest.Open(t, map[string]string{"a.md": "# A\n"}, nil)
	b := a.Beside(t)
	work := func(f *collectiontest.Fixture) (end func()) { return collectiontest.Working(t, f.Collection) }
	put := func(text string) []collection.Change {
		return []collection.Change{{ID: "api:given.md", Put: &collection.DocumentInput{Text: "# Given\n\n" + text + "\n"}}}
	}
	grant, words := access.Unrestricted(), map[string]string{"meaning": "0"}
	write := func(f *collectiontest.Fixture, text string) error {
		_, err := f.Collection.Write(t.Context(), grant, put(text))
		return err
	}
	for _, f := range []*collectiontest.Fixture{a, b} { // without Work, both can write in turn
		must.Do(t, write(f, "harbor"))
	}
	endA := work(a)
	until(t, "the first one", func() error { return write(a, "ship") })
	endB := work(b)
	refused := write(b, "boat")
	check.Fails(t, refused, sheaf.ErrUnavailable, "another process", "a write of the second collection")
	check.Is(t, must.Err(b.Submit(t.Context(), grant, "", put("boat"))), sheaf.ErrUnavailable,
		"a task of the second collection")
	check.Equal(t, len(find(t, reader(t, b, grant), collection.SearchRequest{Text: "ship", Parameters: words}).Results), 1,
		"hits of the second collection")
	task := must.Get(a.Submit(t.Context(), grant, "", put("canoe")))
	until(t, "the task", func() error {
		if now, err := a.Task(grant, "", task.ID); err != nil || now.State != collection.TaskDone {
			return errors.Join(err, errors.New("it is not done"))
		}
		return nil
	})
	endA()
	until(t, "the second one, later", func() error {
		if err := write(a, "kayak"); !errors.Is(err, sheaf.ErrUnavailable) {
			return fmt.Errorf("the first one writes after it: %v, want ErrUnavailable", err)
		}
		return nil
	})
	until(t, "the second one, later", func() error { return write(b, "raft") })
	now, err := b.Task(grant, "", task.ID)
	check.That(t, err == nil && now.State == collection.TaskDone, "the first one's task: %+v, %v", now, err)
	endB()
	check.Equal(t, len(find(t, reader(t, a, grant), collection.SearchRequest{Text: "raft", Parameters: words}).Results), 1,
		"hits of the last document")
}

// TestWritesFailOnDamagedIntake checks that writes fail and searches work while the file of given documents is damaged.
func TestWritesFailOnDamagedIntake(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, nil)
	must.Do(t, os.WriteFile(intake.Open(f.Options.Intake).Path(), bytes.Repeat([]byte("no file of bbolt"), 4096),
		0o600))
	f.WillWork()
	workUntil(t, f.Collection, func() bool { return true })
	began := time.Now()
	_, err := f.Collection.Write(t.Context(), access.Unrestricted(),
		[]collection.Change{{ID: "api:a.md", Put: &collection.DocumentInput{Text: "Apples."}}})
	took := time.Since(began)
	check.That(t, errors.Is(err, intake.ErrDamaged) && took <= 5*time.Second, "after %v: %v", took, err)
}

// awayModel is a remote model that fails while away is set.
type awayModel struct {
	model.Embedder
	away  *atomic.Bool
	texts *atomic.Int64
	// refuses is a word; the model fails for texts with it. "" means none.
	refuses string
}

// Embed implements model.Embedder.
func (m awayModel) Embed(ctx context.Context, purpose model.Purpose, texts []string) ([][]float32, error) {
	if m.away.Load() {
		return nil, errors.New("the model is away")
	}
	if m.refuses != "" && slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, m.refuses) }) {
		return nil, errors.New("the text is too long")
	}
	m.texts.Add(int64(len(texts)))
	return m.Embedder.Embed(ctx, purpose, texts)
}

// TestMissingVectorsOfGivenDocuments checks documents that were given without vectors: while the model was
// away, or with vectors for some chunks only. When the model is back, each gets its vectors once
// and keeps its version.
func TestMissingVectorsOfGivenDocuments(t *testing.T) {
	m := awayModel{away: &atomic.Bool{}, texts: &atomic.Int64{}}
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, func(o *collection.Options) {
		m.Embedder = o.Ingest.Embedder
		o.Ingest.Embedder, o.Model = m, nil
	})
	own := make([]float32, m.Dims())
	own[0] = 1
	m.away.Store(true)
	var before []string
	for _, ch := range []collection.Change{
		{ID: "api:text.md", Put: &collection.DocumentInput{Text: "# Boats\n\nA boat.\n", Access: []string{"public"}}},
		{ID: "api:chunks.md", Put: &collection.DocumentInput{Chunks: []collection.ChunkInput{{Text: "A ship.",
			Vectors: [][]float32{own}}, {Text: "A quay."}}}},
	} {
		stored := must.Get(f.Collection.Write(t.Context(), access.Unrestricted(), []collection.Change{ch}))
		must.Equal(t, stored[0].Pending, "vectors", "Pending")
		before = append(before, stored[0].ETag)
	}
	pending := func() (list []collection.Pending) {
		st := must.Get(reader(t, f, access.Unrestricted()).Status(t.Context()))
		return st.Pending
	}
	recover := func() {
		must.Do(t, f.Collection.Recover(t.Context()))
	}
	if recover(); len(pending()) != 2 {
		t.Errorf("the model is away: %+v wait", pending())
	}
	m.away.Store(false)
	if recover(); len(pending()) != 0 {
		t.Errorf("the model is back: %+v wait", pending())
	}
	asked := m.texts.Load()
	if recover(); m.texts.Load() != asked {
		t.Errorf("the model is asked for %d texts when nothing waits", m.texts.Load()-asked)
	}
	for i, id := range []sheaf.ID{"api:text.md", "api:chunks.md"} {
		d, err := reader(t, f, access.Unrestricted()).Document(t.Context(), id)
		check.That(t, err == nil && d.ETag == before[i] && d.Pending == "", "%s: %+v, %v", id, d, err)
	}
	check.Equal(t, len(find(t, reader(t, f, access.Grant{Scopes: []access.Scope{access.ScopeSearch}}),
		collection.SearchRequest{Text: "boat"}).Results), 1, "results for the restricted caller")
}

// TestDocumentThatModelRefuses checks a document that the model refuses. Other documents still get
// vectors, and retries of the refused one are rare.
func TestDocumentThatModelRefuses(t *testing.T) {
	m := awayModel{away: &atomic.Bool{}, texts: &atomic.Int64{}, refuses: "granite"}
	now := time.Now()
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, func(o *collection.Options) {
		m.Embedder = o.Ingest.Embedder
		o.Ingest.Embedder, o.Model, o.Now = m, nil, func() time.Time { return now }
	})
	m.away.Store(true)
	changes := []collection.Change{{ID: "api:refused.md", Put: &collection.DocumentInput{Text: "Of granite.\n"}}}
	for i := range 20 {
		changes = append(changes, collection.Change{ID: sheaf.ID(fmt.Sprintf("api:n%d.md", i)),
			Put: &collection.DocumentInput{Text: fmt.Sprintf("Of marble %d.\n", i)}})
	}
	must.Get(f.Collection.Write(t.Context(), access.Unrestricted(), changes))
	m.away.Store(false)
	state := func() (waits int, generation uint64) {
		st := must.Get(reader(t, f, access.Unrestricted()).Status(t.Context()))
		return len(st.Pending), st.Generation
	}
	embed := collection.VectorLooks(f.Collection)
	const looks = 200
	tries := 0
	for range looks {
		_, before := state()
		now = now.Add(time.Minute)
		must.Do(t, embed(t.Context()))
		if _, after := state(); after != before {
			tries++
		}
	}
	if waits, _ := state(); waits != 1 || tries < 3 || tries > 25 {
		t.Errorf("%d wait, and %d of %d looks indexed again", waits, tries, looks)
	}
}

// TestTasksInOrder checks that the later of two accepted tasks wins. It covers a clock that was set back, and another
// process that runs the tasks or accepts the second.
func TestTasksInOrder(t *testing.T) {
	id := sheaf.DocumentID(catalog.FreeTree, "d.md")
	for name, test := range map[string]struct {
		later      time.Duration // time from the first to the second task, by the clock
		restarts   bool          // between the tasks
		restartsBy bool          // after both tasks
	}{
		"in one process":                     {later: time.Second},
		"the clock was set back":             {later: -time.Hour},
		"found by another process":           {later: time.Second, restartsBy: true},
		"set back, and another process":      {later: -time.Hour, restartsBy: true},
		"accepted before the first is found": {later: time.Second, restarts: true},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			f := collectiontest.Open(t, nil, func(o *collection.Options) { o.Now = func() time.Time { return now } })
			c := f.Collection
			again := func() {
				t.Helper()
				must.Do(t, c.Close())
				c = must.Get(collection.New(f.Options))
				t.Cleanup(func() { _ = c.Close() })
			}
			for i, text := range []string{"first", "second"} {
				must.Get(c.Submit(t.Context(), access.Unrestricted(), "me",
					[]collection.Change{{ID: id, Put: &collection.DocumentInput{Text: text}}}))
				if now = now.Add(test.later); i == 0 && test.restarts {
					again()
				}
			}
			if test.restartsBy {
				again()
			}
			end := collectiontest.Working(t, c)
			until(t, "the tasks", func() error {
				if done := c.Tasks(access.Unrestricted(), "me", collection.TaskDone, 10); len(done) < 2 {
					return fmt.Errorf("done are %+v", done)
				}
				return nil
			})
			end()
			view := f.Options.Catalog.View()
			defer view.Close()
			if text, err := view.Text(id); err != nil || string(text) != "second" {
				t.Errorf("%q, %v: want that of the task that was accepted last", text, err)
			}
		})
	}
}

// workUntil makes a collection apply accepted changes until so returns true.
func workUntil(t *testing.T, c *collection.Collection, so func() bool) (end func()) {
	t.Helper()
	end = collectiontest.Working(t, c)
	until(t, "the accepted changes", func() error {
		if err := c.Ready(t.Context()); err != nil || so() {
			return err
		}
		return errors.New("they are not done")
	})
	return end
}

// until repeats try until it succeeds, for a minute at most.
func until(t *testing.T, what string, try func() error) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		err := try()
		if err == nil {
			return
		}
		must.That(t, time.Since(began) <= time.Minute, "%s: %v", what, err)
	}
}

// older makes the folder of an earlier version with documents, tasks and answers. One task waits,
// and one batch is unfinished.
func older(t *testing.T, index string) {
	t.Helper()
	must.Do(t, os.CopyFS(index, os.DirFS(filepath.Join("testdata", "older"))))
}

// olderDay is the day of the answers of the earlier version.
var olderDay = time.Date(2026, 11, 29, 7, 0, 0, 0, time.UTC)

// TestFilesOfEarlierVersionMove checks that documents, tasks and answers of an earlier version move to the new
// file, without unacknowledged ones.
func TestFilesOfEarlierVersionMove(t *testing.T) {
	f := collectiontest.Open(t, nil, func(o *collection.Options) { o.Now = func() time.Time { return olderDay } })
	older(t, f.Options.Intake)
	kept, err := collection.WasGiven(f.Options.Intake)
	check.That(t, err == nil && kept("api:d1.md") && !kept("api:none.md"), "before a process takes them over: %v", err)
	done := workUntil(t, f.Collection, func() bool {
		return len(f.Tasks(access.Unrestricted(), "", collection.TaskDone, 9)) == 2
	})
	var ids []string
	err = intake.Open(f.Options.Intake).View(func(tx *intake.Tx) error {
		for id := range tx.Hashes() {
			ids = append(ids, string(id))
		}
		return nil
	})
	want := strings.Fields("api:b1.md api:b2.md api:d1.md api:d2.md api:d3.md api:t1.md api:t2.md")
	slices.Sort(ids)
	check.That(t, err == nil && slices.Equal(ids, want), "given are %v, %v; want %v", ids, err, want)
	r := reader(t, f, access.Unrestricted())
	for id, tag := range map[sheaf.ID]string{"api:d1.md": "cf4bc0ef30b841102094eaca4e1dedd0",
		"api:b2.md": "8380b841315e665bb6e22377a5b7ea69"} {
		d, err := r.Document(t.Context(), id)
		check.That(t, err == nil && strings.Contains(d.ETag, tag), "%s: %+v, %v: want the version %s", id, d, err, tag)
	}
	var key collection.Key
	for part, text := range map[*[32]byte]string{
		&key.Name:    "c8e974d672f5e329d16b2dd0943a2b20ad9cbd603d299d7ef1827ac166161539",
		&key.Request: "34ef882dd262c045ff165e84eadb3e606d889cad40f6e0425bdc7b442b5929aa"} {
		must.Get(hex.Decode(part[:], []byte(text)))
	}
	again, err := f.Collection.Write(t.Context(), access.Unrestricted(),
		[]collection.Change{{ID: "api:d1.md", Put: &collection.DocumentInput{Text: "Another."}}}, key)
	check.That(t, err == nil && len(again) == 1 && again[0].ETag == `"cf4bc0ef30b841102094eaca4e1dedd0-69d98233"` &&
		again[0].Created, "a request with a key that was answered before: %+v, %v", again, err)
	for _, name := range []string{"documents", "tasks", "answers.jsonl"} {
		_, err := os.Stat(filepath.Join(f.Options.Intake, name))
		check.That(t, os.IsNotExist(err), "%s is there: %v", name, err)
		if _, err := os.Stat(filepath.Join(f.Options.Intake, "moved-1", name)); err != nil {
			t.Error(err)
		}
	}
	done()
}
