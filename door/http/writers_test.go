package http_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sheaf"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model"
)

// slowEmbedder is a remote model. While slow is true, its answers wait until free is closed.
type slowEmbedder struct {
	model.Embedder
	slow  *atomic.Bool
	asked *atomic.Int32 // calls while it is slow
	free  chan struct{}
	let   func() // closes free, once
}

// Embed implements model.Embedder.
func (e slowEmbedder) Embed(ctx context.Context, purpose model.Purpose, texts []string) ([][]float32, error) {
	if e.slow.Load() {
		e.asked.Add(1)
		<-e.free
	}
	return e.Embedder.Embed(ctx, purpose, texts)
}

// slowModel opens the notes with a slowEmbedder that is not slow yet.
func slowModel(t *testing.T) (*collectiontest.Fixture, slowEmbedder) {
	t.Helper()
	model := slowEmbedder{slow: new(atomic.Bool), asked: new(atomic.Int32), free: make(chan struct{})}
	model.let = sync.OnceFunc(func() { close(model.free) })
	return collectiontest.Open(t, notes, func(o *collection.Options) {
		ingest := *o.Ingest
		model.Embedder = ingest.Embedder
		ingest.Embedder = model
		o.Ingest = &ingest
	}), model
}

// TestPutDuringRun checks that during a long run a document is refused in time, without a change.
func TestPutDuringRun(t *testing.T) {
	f, model := slowModel(t)
	defer model.let()
	s := startOf(t, f, func(o *httpdoor.Options) { o.Limits = httpdoor.Limits{Time: 200 * time.Millisecond} })
	f.Write(t, "long.md", "# Long\n\nIt takes its time.\n")
	model.slow.Store(true)
	done := make(chan error, 1)
	go func() {
		_, err := f.Refresh(context.Background())
		done <- err
	}()
	for model.asked.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	s.later(t, 503, "PUT", "/v1/documents/api:a.md", `{"text": "Apples.\n"}`)
	model.let()
	must.Do(t, <-done)
	check.Equal(t, len(kept(t, s)), 0, "documents after the last was deleted")
	var stored collection.Stored
	// without a short time limit
	startOf(t, f, nil).get(t, "PUT", "/v1/documents/api:a.md", `{"text": "Apples.\n"}`, &stored)
	check.That(t, stored.Created, "%+v", stored)
}

// TestReadersWhileWritersWait checks that readers get answers while documents wait for a remote model or
// for other writes.
func TestReadersWhileWritersWait(t *testing.T) {
	f, model := slowModel(t)
	defer model.let()
	s := startOf(t, f, func(o *httpdoor.Options) {
		o.Limits = httpdoor.Limits{Running: 1, Patience: time.Minute, Time: time.Minute}
	})
	model.slow.Store(true)
	var writers sync.WaitGroup
	for i := range 3 {
		writers.Go(func() {
			s.want(t, 201, "PUT", fmt.Sprintf("/v1/documents/api:%d.md", i), `{"text": "Apples."}`)
		})
	}
	time.Sleep(100 * time.Millisecond)
	for _, path := range []string{"/v1/documents/notes:git.md", "/v1/search?query=undo&profile=tree"} {
		s.want(t, 200, "GET", path, "")
	}
	model.let()
	writers.Wait()
	waitLoad(t, s, "sheaf_requests_running 0")
}

// TestSecondServerNamesWriter checks that the second server of an index names the first as the writer.
// It does not advise to wait a moment.
func TestSecondServerNamesWriter(t *testing.T) {
	first := collectiontest.Open(t, notes, nil)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- first.Work(ctx) }()
	defer func() { stop(); <-done }()
	second := startOf(t, first.Beside(t), nil)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		res, body := second.ask(t, "PUT", "/v1/documents/api:a.md", `{"text": "Apples.\n"}`)
		if res.StatusCode < 300 { // the first server has not started yet
			time.Sleep(10 * time.Millisecond)
			continue
		}
		text := string(body)
		check.That(t, res.StatusCode == 503 && strings.Contains(text, "another server accepts documents for this index") &&
			!strings.Contains(text, "moment"), "%d %s", res.StatusCode, body)
		return
	}
	t.Error("both take documents")
}

// TestSecondServerTakesOver checks that the second of two servers takes over the
// documents when the first ends. This also holds for a key that is new to it. A third server takes
// over when the second ends.
func TestSecondServerTakesOver(t *testing.T) {
	index := collectiontest.Open(t, notes, nil)
	begin := func(f *collectiontest.Fixture) (s *server, end func()) {
		s = startOf(t, f, nil)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- f.Work(ctx) }()
		return s, sync.OnceFunc(func() {
			stop()
			err := <-done
			check.That(t, err == nil, "%v", err)
		})
	}
	put := func(s *server, key string) (status int) {
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
			res, body := s.ask(t, "PUT", "/v1/documents/api:a.md", `{"text": "Apples.\n"}`, "Idempotency-Key", key)
			if status = res.StatusCode; status < 300 {
				break
			}
			check.That(t, strings.Contains(string(body), "another server accepts documents for this index"), "%d %s", status,
				body)
			time.Sleep(10 * time.Millisecond)
		}
		return status
	}
	first, endFirst := begin(index)
	defer endFirst()
	check.Equal(t, put(first, "k1"), 201, "the first")
	second, endSecond := begin(index.Beside(t))
	defer endSecond()
	endFirst()
	for other := index.Beside(t); ; time.Sleep(20 * time.Millisecond) { // until the second server has noticed
		_, err := other.Collection.Write(t.Context(), access.Unrestricted(), []collection.Change{{ID: "api:none.md"}})
		if errors.Is(err, collection.ErrTaken) {
			break
		}
		must.That(t, errors.Is(err, sheaf.ErrNotFound), "%v", err)
	}
	third, endThird := begin(index.Beside(t))
	defer endThird()
	if status := put(second, "k1"); status != 201 { // the answer of the first server
		t.Errorf("the second, once the first is started again: %d", status)
	}
	third.want(t, 503, "PUT", "/v1/documents/api:a.md", `{"text": "Apples.\n"}`, "Idempotency-Key", "k2")
	endSecond()
	check.Equal(t, put(third, "k2"), 200, "the first, once the second has ended")
}
