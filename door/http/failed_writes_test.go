package http_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/collection/intake"
	httpdoor "sheaf/door/http"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

// full is a store whose writes fail while writes is true.
type full struct {
	store.Backend
	writes atomic.Bool
	fault  error       // the error of failed writes
	last   store.Batch // the last batch written
}

func (f *full) Write(ctx context.Context, b store.Batch) error {
	if f.writes.Load() {
		return f.fault
	}
	f.last = b
	return f.Backend.Write(ctx, b)
}

// filling starts a server with a full store.
func filling(t *testing.T) (*server, *full) {
	t.Helper()
	store := &full{fault: errors.New("it fails")}
	return startOf(t, collectiontest.Open(t, notes, func(o *collection.Options) {
		store.Backend, o.Backend = o.Backend, store
	}), nil), store
}

// kept returns the given documents by ID.
func kept(t *testing.T, s *server) map[string]string {
	t.Helper()
	out := map[string]string{}
	must.Do(t, intake.Open(s.fixture.Options.Intake).View(func(tx *intake.Tx) error {
		for id := range tx.Hashes() {
			out[string(id)] = string(tx.Document(id))
		}
		return nil
	}))
	return out
}

// changeFile changes the file of given documents without the server.
func changeFile(t *testing.T, s *server, change func(*intake.Tx) error) {
	t.Helper()
	must.Do(t, intake.Open(s.fixture.Options.Intake).Update(change))
}

// TestFailedWrites checks that a failed write leaves every document unchanged in the index and in
// the intake. The next patch and the next process find it unchanged too.
func TestFailedWrites(t *testing.T) {
	s, store := filling(t)
	var answer httpdoor.BatchAnswer
	s.get(t, "POST", "/v1/documents", `{"documents": [{"id": "api:a.md", "text": "Apples.\n"}, {"id": "api:b.md", `+
		`"text": "Bananas.\n"}]}`, &answer)
	before := kept(t, s)
	for _, c := range []struct {
		method, path, body string
	}{
		{"PUT", "/api:a.md", `{"text": "Pears.\n"}`}, {"PUT", "/api:a.md", `{"text": "Apples.\n"}`},
		{"PUT", "/api:new.md", `{"text": "Pears.\n"}`}, {"PATCH", "/api:a.md", `{"title": "Pears"}`},
		{"POST", "", `{"documents": [{"id": "api:b.md", "delete": true}, {"id": "api:a.md", "text": "Pears.\n"}]}`},
		{"DELETE", "/api:b.md", ""},
	} {
		store.writes.Store(true)
		s.want(t, 500, c.method, "/v1/documents"+c.path, c.body)
		store.writes.Store(false)
		after := kept(t, s)
		check.That(t, maps.Equal(after, before), "%s %s %s: kept are %v, before %v", c.method, c.path, c.body, after, before)
		for _, text := range []string{"apples", "bananas", "pears"} {
			check.Equal(t, len(found(t, s, text)) > 0, text != "pears", "%s %s %s: %s is found", c.method, c.path, c.body, text)
		}
		for _, id := range []string{"api:a.md", "api:b.md"} {
			s.want(t, 200, "PATCH", "/v1/documents/"+id, `{}`)
		}
	}
}

// TestNoSpace checks that without disk space the answer asks for a retry and does not name the
// path. Accepted documents wait for space, also after a restart.
func TestNoSpace(t *testing.T) {
	s, store := filling(t)
	store.fault = &fs.PathError{Op: "write", Path: "/secret/place", Err: syscall.ENOSPC}
	var answer httpdoor.BatchAnswer
	s.get(t, "PUT", "/v1/documents/api:a.md", `{"text": "Apples."}`, &collection.Stored{})
	apples := kept(t, s)["api:a.md"]
	store.writes.Store(true)
	for method, body := range map[string]string{"PUT": `{"text": "Pears."}`, "DELETE": ""} {
		answer := s.later(t, 503, method, "/v1/documents/api:a.md", body)
		check.That(t, strings.Contains(answer, "no disk space left") && !strings.Contains(answer, "secret"), "%s", answer)
	}
	// The intake gets a document that the index lacks.
	store.writes.Store(false)
	s.get(t, "PUT", "/v1/documents/api:b.md", `{"text": "Bananas."}`, &collection.Stored{})
	s.get(t, "DELETE", "/v1/documents/api:a.md", "", &struct{}{})
	changeFile(t, s, func(tx *intake.Tx) error { return tx.Set("api:a.md", []byte(apples)) })
	store.writes.Store(true)
	s.fixture.WillWork()
	working(t, s.fixture.Collection) // the test fails if the worker ends with an error
	eventually(t, "it can answer, though not take anything", func() bool {
		res, _ := s.ask(t, "GET", "/readyz", "")
		return res.StatusCode == 200
	})
	s.get(t, "POST", "/v1/documents", `{"async": true, "documents": [{"id": "api:c.md", "text": "Cherries."}]}`, &answer)
	time.Sleep(200 * time.Millisecond) // time for an attempt that fails
	ids := found(t, s, "apples cherries")
	must.That(t, len(ids) == 0, "found without space: %v", ids)
	store.writes.Store(false)
	eventually(t, "with space again all that was accepted is found", func() bool {
		return len(found(t, s, "apples")) > 0 && len(found(t, s, "cherries")) > 0
	})
}

// TestTemporaryFileErrors checks temporary file errors, such as too many open files. The answer asks for a
// retry, and accepted tasks wait.
func TestTemporaryFileErrors(t *testing.T) {
	for _, fault := range []error{syscall.EMFILE, syscall.EACCES, syscall.EROFS} {
		t.Run(fault.Error(), func(t *testing.T) {
			s, store := filling(t)
			store.fault = &fs.PathError{Op: "open", Path: "/secret/place", Err: fault}
			store.writes.Store(true)
			body := s.later(t, 503, "PUT", "/v1/documents/api:a.md", `{"text": "Apples."}`)
			check.That(t, !strings.Contains(body, "secret"), "%s", body)
			var answer httpdoor.BatchAnswer
			s.get(t, "POST", "/v1/documents", `{"async": true, "documents": [{"id": "api:c.md", "text": "Cherries."}]}`, &answer)
			task := workFor(t, s.fixture.Collection, 300*time.Millisecond, answer.Task.ID)
			must.That(t, task.State == collection.TaskWaiting, "%+v", task)
			store.writes.Store(false)
			check.Equal(t, workFor(t, s.fixture.Collection, time.Minute, answer.Task.ID).State, collection.TaskDone,
				"state when files can be opened")
		})
	}
}

// workFor runs the worker of a collection for a time, or until a task has ended.
func workFor(t *testing.T, c *collection.Collection, long time.Duration, id string) *collection.Task {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), long)
	done := make(chan error, 1)
	go func() { done <- c.Work(ctx) }()
	var task *collection.Task
	for {
		task = must.Get(c.Task(access.Unrestricted(), "", id))
		if task.State != collection.TaskWaiting || ctx.Err() != nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	stop()
	must.Do(t, <-done)
	return task
}

// TestCrashesBetweenSteps checks that the next process completes accepted changes from any step,
// and restores documents that the index lost.
func TestCrashesBetweenSteps(t *testing.T) {
	s, _ := filling(t)
	for id, text := range map[string]string{"a": "Apples.", "b": "Bananas.", "c": "Cherries.", "d": "Dates."} {
		s.get(t, "PUT", "/v1/documents/api:"+id+".md", `{"text": "`+text+`"}`, &collection.Stored{})
	}
	before := kept(t, s)
	version := func(id, from, to string) []byte {
		return []byte(strings.Replace(before["api:"+id+".md"], from, to, 1))
	}
	s.get(t, "DELETE", "/v1/documents/api:d.md", "", &struct{}{})
	changeFile(t, s, func(tx *intake.Tx) error {
		return errors.Join(tx.Put("api:a.md", version("a", "Apples", "Pears")), // the index lacks it
			tx.Put("api:b.md", version("b", "Bananas", "Bananas")), // its end is not recorded
			tx.Put("api:c.md", nil),                                // the index still has it
			tx.Set("api:d.md", version("d", "Dates", "Dates")),     // the index lost it
			tx.Put("api:e.md", []byte(strings.ReplaceAll(strings.Replace(before["api:d.md"], "Dates", "Elderberries", 1),
				"api:d.md", "api:e.md"))))
	})
	s.restarted(t)
	for query, want := range map[string]bool{"apples": false, "pears": true, "bananas": true, "cherries": false,
		"dates": true, "elderberries": true} {
		check.Equal(t, len(found(t, s, query)) > 0, want, "%s is found", query)
	}
	names := slices.Sorted(maps.Keys(kept(t, s)))
	want := []string{"api:a.md", "api:b.md", "api:d.md", "api:e.md"}
	check.That(t, slices.Equal(names, want), "kept are %v, want %v", names, want)
}

// startWith starts a server that keeps given documents in the folder docs.
func startWith(t *testing.T, docs string) *server {
	t.Helper()
	return startOf(t, collectiontest.Open(t, notes, func(o *collection.Options) { o.Intake = docs }), nil)
}

// startPicky starts a server like startWith whose store rejects heavy documents.
func startPicky(t *testing.T, docs string) *server {
	t.Helper()
	return startOf(t, collectiontest.Open(t, notes, func(o *collection.Options) {
		o.Intake, o.Backend = docs, collectiontest.Picky{Backend: o.Backend}
	}), nil)
}

// refused returns the given documents that the status lists as skipped.
func refused(t *testing.T, s *server) []collection.Skip {
	t.Helper()
	var st collection.Status
	s.get(t, "GET", "/v1/status", "", &st)
	return slices.DeleteFunc(st.Skipped, func(k collection.Skip) bool { return k.Tree != "api" })
}

// TestPartlyRejectedBatch checks a batch that the store takes only in part. The answer names the
// rejected documents, which stay unchanged. All other changes are made in the store, the catalog
// and the intake.
func TestPartlyRejectedBatch(t *testing.T) {
	s := startPicky(t, t.TempDir())
	s.get(t, "POST", "/v1/documents", `{"documents": [{"id": "api:a.md", "text": "Apples.\n"}, {"id": "api:b.md", `+
		`"text": "Bananas.\n"}]}`, &httpdoor.BatchAnswer{})
	res, body := s.ask(t, "POST", "/v1/documents", `{"documents": [{"id": "api:c.md", "text": "Pears.\n"}, {"id": `+
		`"api:a.md", "text": "Plums, heavy.\n"}, {"id": "api:new.md", "text": "Grapes, heavy.\n"}, {"id": "api:b.md", `+
		`"delete": true}]}`)
	var p httpdoor.Problem
	err := json.Unmarshal(body, &p)
	check.That(t, err == nil && res.StatusCode == 422 && len(p.Errors) == 2 && p.Errors[0].Pointer == "#/documents/1" &&
		p.Errors[1].Pointer == "#/documents/2" && strings.Contains(p.Detail, "api:a.md (") &&
		strings.Contains(p.Detail, "it is too heavy") &&
		strings.Contains(p.Detail, "2 of 4 changes are made, and the refused documents are unchanged") &&
		!strings.Contains(p.Detail, "versions"), "%d %s", res.StatusCode, body)
	for text, want := range map[string]bool{"apples": true, "pears": true, "bananas": false, "plums": false,
		"grapes": false} {
		check.Equal(t, len(found(t, s, text)) > 0, want, "%s is found", text)
	}
	var texts []string
	for _, content := range kept(t, s) {
		texts = append(texts, content)
	}
	all := strings.Join(texts, "")
	check.That(t, len(texts) == 2 && strings.Contains(all, "Apples") && strings.Contains(all, "Pears"), "kept are %v",
		texts)
	for id, want := range map[string]int{"api:a.md": 200, "api:c.md": 200, "api:b.md": 404, "api:new.md": 404} {
		s.want(t, want, "PATCH", "/v1/documents/"+id, `{}`)
	}
	res, body = s.ask(t, "PUT", "/v1/documents/api:a.md", `{"text": "heavy"}`)
	check.That(t, res.StatusCode == 422 && strings.Contains(string(body), "0 of 1 changes are made") && len(found(t, s,
		"apples")) != 0, "PUT: %d %s", res.StatusCode, body)
}

// TestRejectedAfterCrash checks that a version which the store rejects after a crash is replaced by the one before.
func TestRejectedAfterCrash(t *testing.T) {
	s := startPicky(t, t.TempDir())
	s.get(t, "PUT", "/v1/documents/api:a.md", `{"text": "Apples."}`, &collection.Stored{})
	before := kept(t, s)
	changeFile(t, s, func(tx *intake.Tx) error {
		heavy := []byte(strings.Replace(before["api:a.md"], "Apples", "heavy Apples", 1))
		other := []byte(strings.ReplaceAll(string(heavy), "api:a.md", "api:b.md"))
		return errors.Join(tx.Put("api:a.md", heavy), tx.Put("api:b.md", other))
	})
	s.restarted(t)
	after := kept(t, s)
	check.That(t, maps.Equal(after, before) && len(found(t, s, "apples")) != 0, "kept are %v, want %v", after, before)
}

// TestChangesBeforeIndexing checks that changes to documents which are not indexed yet wait, so deleted documents
// stay deleted.
func TestChangesBeforeIndexing(t *testing.T) {
	docs := t.TempDir()
	s := startWith(t, docs)
	s.get(t, "POST", "/v1/documents", `{"documents": [{"id": "api:a.md", "text": "heavy apples"}, {"id": "api:b.md", `+
		`"text": "heavy bananas"}]}`, &httpdoor.BatchAnswer{})
	s = startWith(t, docs) // with an empty index
	s.fixture.WillWork()
	var ended sync.WaitGroup
	ended.Go(func() {
		s.want(t, 200, "PUT", "/v1/documents/api:a.md", `{"text": "Light apples."}`)
		for _, id := range []string{"a", "b"} {
			s.want(t, 200, "DELETE", "/v1/documents/api:"+id+".md", "")
		}
	})
	time.Sleep(20 * time.Millisecond) // in most runs, the requests come first
	working(t, s.fixture.Collection)
	ended.Wait()
	if files := kept(t, s); len(files) > 0 || len(found(t, s, "apples")) > 0 || len(found(t, s, "bananas")) > 0 {
		t.Errorf("kept are %v", files)
	}
}

// TestOnlyVersionRejectedAtStart checks that a given document stays and is reported if the store rejects its only
// version. It does not block others.
func TestOnlyVersionRejectedAtStart(t *testing.T) {
	docs, heavy := t.TempDir(), ""
	s := startWith(t, docs)
	s.get(t, "POST", "/v1/documents", `{"documents": [{"id": "api:a.md", "text": "heavy apples"}, {"id": "api:b.md", `+
		`"text": "Bananas."}]}`, &httpdoor.BatchAnswer{})
	s = startPicky(t, docs)
	s.fixture.WillWork()
	check.That(t, strings.Contains(s.want(t, 503, "GET", "/readyz", ""), "accepted"), "ready before all is indexed")
	for name, content := range kept(t, s) {
		if strings.Contains(content, "heavy") {
			heavy = name
		}
	}
	working(t, s.fixture.Collection)
	eventually(t, "bananas are indexed", func() bool { return len(found(t, s, "bananas")) > 0 })
	eventually(t, "the status names what is refused", func() bool { return len(refused(t, s)) > 0 })
	if list := refused(t, s); list[0].Path != "a.md" || !strings.Contains(list[0].Detail, "it is too heavy") {
		t.Errorf("the status says %+v", list)
	}
	_, ok := kept(t, s)[heavy]
	check.That(t, ok && heavy != "", "%q is not kept: %v", heavy, kept(t, s))
	s.get(t, "POST", "/v1/documents", `{"documents": [{"id": "api:c.md", "text": "Cherries."}], "async": true}`,
		&collection.Task{})
	eventually(t, "the task is done", func() bool { return len(found(t, s, "cherries")) > 0 })
	s.get(t, "PUT", "/v1/documents/api:a.md", `{"text": "Light apples."}`, &collection.Stored{})
	list := refused(t, s)
	check.That(t, len(list) == 0 && len(found(t, s, "apples")) != 0, "put again: the status says %+v", list)
	check.That(t, !strings.Contains(kept(t, s)[heavy], "heavy"), "put again: the version before it is kept")
}

// TestDeleteRejectedDocument checks that a key which may delete a rejected document deletes all
// of it. Keys of other sets cannot.
func TestDeleteRejectedDocument(t *testing.T) {
	docs := t.TempDir()
	s := startWith(t, docs)
	s.get(t, "POST", "/v1/documents", `{"documents": [{"id": "api:a.md", "text": "heavy apples", "sets": ["fruit"]}, `+
		`{"id": "api:b.md", "text": "heavy bananas"}]}`, &httpdoor.BatchAnswer{})
	s = startPicky(t, docs)
	fixture := s.fixture
	working(t, fixture.Collection)
	eventually(t, "the status names both", func() bool { return len(refused(t, s)) == 2 })
	ctx := context.Background()
	bound := func(sets ...string) access.Grant {
		return access.Grant{Scopes: []access.Scope{access.ScopeIngest}, Tenant: access.All, Sets: sets}
	}
	for id, sets := range map[sheaf.ID][]string{"api:a.md": {"stone"}, "api:b.md": {"fruit"}} {
		check.Is(t, must.Err(fixture.Collection.Write(ctx, bound(sets...), []collection.Change{{ID: id}})), sheaf.ErrNotFound,
			"a key of the sets %[2]v deletes %[1]s", id, sets)
	}
	res, body := s.ask(t, "PUT", "/v1/documents/api:b.md", `{"text": "more heavy bananas"}`)
	check.That(t, res.StatusCode == 422 && len(kept(t, s)) == 2 && len(refused(t, s)) == 2,
		"another version that is refused: %d %s; kept are %v", res.StatusCode, body, kept(t, s))
	_, err := fixture.Collection.Write(ctx, bound("fruit"), []collection.Change{{ID: "api:a.md"}})
	check.That(t, err == nil, "deleted by a key of its set: %v", err)
	if list := refused(t, s); len(list) != 1 || len(kept(t, s)) != 1 {
		t.Errorf("one is deleted: the status says %+v, kept are %v", list, kept(t, s))
	}
	var stored collection.Stored
	s.get(t, "DELETE", "/v1/documents/api:b.md", "", &stored)
	check.That(t, stored.Deleted, "%+v", stored)
	if list := refused(t, s); len(list) > 0 || len(kept(t, s)) > 0 {
		t.Errorf("both are deleted: the status says %+v, kept are %v", list, kept(t, s))
	}
	s.want(t, 404, "DELETE", "/v1/documents/api:b.md", "")
}

// half is a store that writes, and then reports an error while fails is true. It acts like a disk
// that fills up before the catalog is saved.
type half struct {
	store.Backend
	fails atomic.Bool
}

func (h *half) Write(ctx context.Context, b store.Batch) error {
	err := h.Backend.Write(ctx, b)
	if h.fails.Load() {
		return errors.Join(err, errors.New("it fails"))
	}
	return err
}

// TestChangeFailsAfterStoreWrite checks a change that fails after the store wrote it. The document is unchanged soon
// in the running server, or when the next one starts.
func TestChangeFailsAfterStoreWrite(t *testing.T) {
	for _, restart := range []bool{false, true} {
		for method, body := range map[string]string{"PUT": `{"text": "Pears."}`, "DELETE": ""} {
			store := &half{}
			fixture := collectiontest.Open(t, notes, func(o *collection.Options) { store.Backend, o.Backend = o.Backend, store })
			s := startOf(t, fixture, nil)
			if !restart {
				working(t, fixture.Collection)
			}
			s.get(t, "PUT", "/v1/documents/api:a.md", `{"text": "Apples."}`, &collection.Stored{})
			store.fails.Store(true)
			s.want(t, 500, method, "/v1/documents/api:a.md", body)
			store.fails.Store(false)
			if restart {
				next := must.Get(collection.New(fixture.Options))
				working(t, next)
			}
			eventually(t, fmt.Sprintf("after %s, another process %v, it is as it was", method, restart), func() bool {
				return slices.Contains(found(t, s, "apples"), "api:a.md") && len(found(t, s, "pears")) == 0
			})
		}
	}
}
