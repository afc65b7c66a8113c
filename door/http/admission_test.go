package http_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
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
	"sheaf/store"
)

// slow is a store whose searches wait until free is closed.
type slow struct {
	store.Backend
	free chan struct{}
}

// Retrieve implements store.Backend.
func (b *slow) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	select {
	case <-b.free:
		return b.Backend.Retrieve(ctx, req)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func startSlow(t *testing.T, limits httpdoor.Limits) (*server, *slow) {
	t.Helper()
	b := &slow{free: make(chan struct{})}
	f := collectiontest.Open(t, notes, func(o *collection.Options) { b.Backend, o.Backend = o.Backend, b })
	return startOf(t, f, func(o *httpdoor.Options) { o.Limits = limits }), b
}

// TestCanceledRequestHasStatus499 checks that a request whose caller hangs up counts with status 499 and is not
// logged. A page that searches at every letter sends many of these.
func TestCanceledRequestHasStatus499(t *testing.T) {
	s, b := startSlow(t, httpdoor.Limits{Running: 2, Time: time.Minute})
	defer close(b.free)
	ctx, hangUp := context.WithCancel(t.Context())
	req := must.Get(http.NewRequestWithContext(ctx, "GET", s.URL+"/v1/search?query=undo", nil))
	done := make(chan error, 1)
	go func() {
		res, err := s.Client().Do(req)
		if err == nil {
			res.Body.Close()
		}
		done <- err
	}()
	waitLoad(t, s, "sheaf_requests_running 1") // wait until the server runs the request
	hangUp()
	must.That(t, <-done != nil, "it is answered")
	waitLoad(t, s, `sheaf_requests_total{operation="search",status="499"} 1`)
	check.That(t, s.log.Len() == 0, "the log says %s", s.log)
}

func TestTooManyRequests(t *testing.T) {
	s, b := startSlow(t, httpdoor.Limits{Running: 1, Waiting: 2, OfOne: 3, Patience: time.Minute, Time: time.Minute})
	var wg sync.WaitGroup
	statuses := make(chan int, 3)
	for range 3 {
		wg.Go(func() {
			res, err := http.Get(s.URL + "/v1/search?query=undo")
			if err != nil {
				t.Error(err)
				return
			}
			body, _ := io.ReadAll(res.Body)
			res.Body.Close()
			check.That(t, res.StatusCode == 200, "a request that waited: %s", body)
			statuses <- res.StatusCode
		})
	}
	waitLoad(t, s, "sheaf_requests_waiting 2")
	s.later(t, 429, "GET", "/v1/search?query=undo", "")
	s.want(t, 200, "GET", "/livez", "")
	close(b.free)
	wg.Wait()
	for range 3 {
		check.Equal(t, <-statuses, 200, "a request that waited")
	}
}

// TestRemoteStoresGetMoreRequests checks that a server runs more requests at once when its store is remote.
func TestRemoteStoresGetMoreRequests(t *testing.T) {
	for remote, want := range map[bool]int{false: 2 * runtime.GOMAXPROCS(0), true: 8 * runtime.GOMAXPROCS(0)} {
		t.Run(fmt.Sprintf("remote %v", remote), func(t *testing.T) {
			b := &busy{free: make(chan struct{})}
			f := collectiontest.Open(t, notes, func(o *collection.Options) {
				b.Backend, o.Backend, o.Distant, o.Embed = o.Backend, b, remote, nil
			})
			s := startOf(t, f, func(o *httpdoor.Options) {
				o.Limits = httpdoor.Limits{Patience: time.Minute, Time: time.Minute}
			})
			var asking sync.WaitGroup
			defer asking.Wait()
			free := sync.OnceFunc(func() { close(b.free) })
			defer free()
			for i := range want + 3 {
				asking.Go(func() {
					if res, err := http.Get(fmt.Sprintf("%s/v1/search?query=undo%d", s.URL, i)); err != nil {
						t.Error(err)
					} else if res.Body.Close(); res.StatusCode != 200 {
						t.Errorf("status %d", res.StatusCode)
					}
				})
			}
			waitLoad(t, s, fmt.Sprintf("sheaf_requests_running %d", want))
			waitLoad(t, s, "sheaf_requests_waiting 3")
			free()
			asking.Wait()
			waitLoad(t, s, "sheaf_requests_running 0")
		})
	}
}

// busy is a store that counts its concurrent searches. Each search takes 20 ms after free is closed.
type busy struct {
	store.Backend
	free      chan struct{}
	now, most atomic.Int64
}

// Retrieve implements store.Backend.
func (b *busy) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	n := b.now.Add(1)
	defer b.now.Add(-1)
	for most := b.most.Load(); n > most && !b.most.CompareAndSwap(most, n); most = b.most.Load() {
	}
	<-b.free
	time.Sleep(20 * time.Millisecond)
	return b.Backend.Retrieve(ctx, req)
}

// TestStoreRequestsStayWithinSlots checks that a store never gets more requests at once than there are slots.
// Many callers or callers that give up do not change this. A request with a slot gets its whole answer.
func TestStoreRequestsStayWithinSlots(t *testing.T) {
	b := &busy{free: make(chan struct{})}
	free := sync.OnceFunc(func() { close(b.free) })
	f := collectiontest.Open(t, notes, func(o *collection.Options) {
		b.Backend, o.Backend, o.Distant = o.Backend, b, true
	})
	s := startOf(t, f, func(o *httpdoor.Options) {
		o.Limits = httpdoor.Limits{Running: 8, Patience: 50 * time.Millisecond, Time: time.Minute}
	})
	defer free()
	var asking sync.WaitGroup
	var answered, refused atomic.Int64
	ask := func(i int) {
		res, err := http.Get(fmt.Sprintf("%s/v1/search?query=undo%d", s.URL, i))
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		switch {
		case res.StatusCode == 200 && strings.Contains(string(body), `"degraded":false`):
			answered.Add(1)
		case res.StatusCode == 503 && res.Header.Get("Retry-After") != "":
			refused.Add(1)
		default:
			t.Errorf("%d %s", res.StatusCode, body)
		}
	}
	const begun, requests, branches = 8, 100, 4 // the branches of the default profile that ask the store
	for i := range begun {
		asking.Go(func() { ask(i) })
		waitLoad(t, s, fmt.Sprintf("sheaf_requests_running %d", i+1))
	}
	var others sync.WaitGroup
	for i := begun; i < requests; i++ {
		others.Go(func() { ask(i) })
	}
	others.Wait()
	check.That(t, answered.Load() == 0 && refused.Load() == requests-begun,
		"beside %d that have begun %d of %d were answered and %d refused, want all of them", begun, answered.Load(),
		requests-begun, refused.Load())
	free()
	asking.Wait()
	check.That(t, answered.Load() == begun, "%d of %d that had begun were answered", answered.Load(), begun)
	for i := range requests { // many more requests than slots
		asking.Go(func() { ask(requests + i) })
	}
	asking.Wait()
	most := b.most.Load()
	check.That(t, most <= begun*branches, "%d calls of the store at once, want at most %d", most, begun*branches)
	waitLoad(t, s, "sheaf_requests_running 0")
}

// TestOtherDoorsNeedSlots checks that requests of other doors need slots, except pages without a scope.
func TestOtherDoorsNeedSlots(t *testing.T) {
	s := start(t, notes, func(o *httpdoor.Options) {
		o.Limits = httpdoor.Limits{Running: 1, OfOne: 2, Patience: time.Minute}
	})
	free := make(chan struct{})
	work := func(_ access.Grant, admit httpdoor.Admit) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			leave, err := admit(r.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer leave()
			if r.URL.Path == "/door" {
				<-free
			}
		})
	}
	s.api.Mount("/door", access.ScopeSearch, work)
	s.api.Mount("/open", "", work)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			res, err := http.Get(s.URL + "/door")
			if err != nil {
				t.Error(err)
				return
			}
			res.Body.Close()
		})
	}
	waitLoad(t, s, "sheaf_requests_running 1")
	waitLoad(t, s, "sheaf_requests_waiting 1")
	s.later(t, 429, "GET", "/door", "")
	s.want(t, 200, "GET", "/open", "")
	close(free)
	wg.Wait()
	waitLoad(t, s, "sheaf_requests_running 0")
}

func waitLoad(t *testing.T, s *server, want string) {
	t.Helper()
	eventually(t, want, func() bool {
		_, body := s.ask(t, "GET", "/metrics", "")
		return strings.Contains(string(body), want+"\n")
	})
}

func TestQueuedRequestTimesOut(t *testing.T) {
	s, b := startSlow(t, httpdoor.Limits{Running: 1, Waiting: 10, OfOne: 10, Patience: 20 * time.Millisecond,
		Time: time.Minute})
	done := make(chan int, 1)
	go func() {
		res, err := http.Get(s.URL + "/v1/search?query=undo")
		if err != nil {
			t.Error(err)
			return
		}
		res.Body.Close()
		done <- res.StatusCode
	}()
	waitLoad(t, s, "sheaf_requests_running 1")
	s.later(t, 503, "GET", "/v1/search?query=undo", "")
	close(b.free)
	check.Equal(t, <-done, 200, "the request before it")
}

func TestRunningRequestTimesOut(t *testing.T) {
	s, b := startSlow(t, httpdoor.Limits{Time: 50 * time.Millisecond})
	defer close(b.free)
	s.want(t, 503, "GET", "/v1/search?query=undo", "")
}
