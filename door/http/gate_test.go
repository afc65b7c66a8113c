package http

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"sheaf/collection"
)

// inOneTurn is a gate with three requests, of which one may work at a time.
func inOneTurn(t *testing.T) (g *gate, a, b, c *place) {
	t.Helper()
	l := Limits{Running: 1, Patience: time.Minute}
	l.defaults()
	g = newGate(l)
	t.Cleanup(g.close)
	var places [3]*place
	for i := range places {
		p, err := g.enter("ann", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		places[i] = p
	}
	return g, places[0], places[1], places[2]
}

// Who rested goes on before those who have not begun, and waits no longer than its
// own time.
func TestReturningGoFirst(t *testing.T) {
	g, rested, works, comes := inOneTurn(t)
	take := func(ctx context.Context, p *place, waiting int) <-chan error {
		done := make(chan error, 1)
		go func() { done <- p.Take(ctx, 0) }()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if _, _, now := g.load(); now == waiting {
				return done
			}
			if time.Now().After(deadline) {
				t.Fatalf("never %d waiting", waiting)
			}
		}
	}
	if err := <-take(t.Context(), rested, 0); err != nil {
		t.Fatal(err)
	}
	rested.Rest()
	if err := <-take(t.Context(), works, 0); err != nil {
		t.Fatal(err)
	}
	began := take(t.Context(), comes, 1)
	ended, end := context.WithCancel(t.Context())
	end()
	if err := rested.Take(ended, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("when its time has ended: %v", err)
	}
	back := take(t.Context(), rested, 2)
	works.leave()
	if err := <-back; err != nil {
		t.Errorf("who rested: %v", err)
	}
	if working, resting, waiting := g.load(); working != 1 || resting != 0 || waiting != 1 {
		t.Errorf("%d work, %d rest, %d wait: want one at work and one waiting", working, resting, waiting)
	}
	rested.leave()
	if err := <-began; err != nil {
		t.Errorf("who came: %v", err)
	}
	comes.leave()
	if working, resting, waiting := g.load(); working+resting+waiting+g.begun+len(g.of) != 0 {
		t.Errorf("when all have left: %d work, %d rest, %d wait, %d begun", working, resting, waiting, g.begun)
	}
}

// Where many wait, who may need no turn waits in order too, for a while, and gives back
// what it took as if it had never been taken.
func TestCrowded(t *testing.T) {
	l := Limits{Running: 1, Patience: time.Minute}
	l.defaults()
	g := newGate(l)
	in := func() (*place, context.Context) {
		p, err := g.enter("ann", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.leave)
		return p, collection.WithTurn(t.Context(), p)
	}
	works, ctx := in()
	if err := collection.TakeTurn(ctx); err != nil {
		t.Fatal(err)
	}
	for n := range 4 {
		if g.crowded() {
			t.Fatalf("crowded with %d waiting", n)
		}
		waits, ctx := in()
		go func() {
			if collection.TakeTurn(ctx) == nil {
				waits.leave()
			}
		}()
		for _, _, waiting := g.load(); waiting != n+1; _, _, waiting = g.load() {
			time.Sleep(time.Millisecond)
		}
	}
	if !g.crowded() {
		t.Fatal("not crowded with 4 waiting")
	}
	without, ctx := in()
	if err := collection.TakeTurnWithin(ctx, time.Millisecond); err != nil || without.works {
		t.Errorf("after a while: %v, works %v; want it to go on without a turn", err, without.works)
	}
	gone, end := context.WithCancel(t.Context())
	p, _ := in()
	end()
	if err := collection.TakeTurnWithin(collection.WithTurn(gone, p), time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("whose caller is gone: %v", err)
	}
	last, ctx := in()
	took := make(chan error, 1)
	go func() { took <- collection.TakeTurnWithin(ctx, time.Minute) }()
	for _, _, waiting := g.load(); waiting != 5; _, _, waiting = g.load() {
		time.Sleep(time.Millisecond)
	}
	works.leave() // the four have their turns, and then the last one
	if err := <-took; err != nil || !last.works || !last.begun {
		t.Errorf("in order: %v, works %v, begun %v", err, last.works, last.begun)
	}
	collection.EndTurn(ctx)
	if last.works || last.begun {
		t.Errorf("given back: works %v, begun %v", last.works, last.begun)
	}
}

// A request may be left while its search still waits for its turn: then nobody has one, and
// the place is nobody's.
func TestLeaveWhileWaiting(t *testing.T) {
	l := Limits{Running: 1, Patience: time.Minute}
	l.defaults()
	for range 2000 {
		g := newGate(l)
		in := func() *place {
			p, err := g.enter("ann", time.Now())
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		works, waits := in(), in()
		if err := works.Take(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _ = waits.Take(ctx, 0) })
		for _, _, waiting := g.load(); waiting == 0; _, _, waiting = g.load() {
			runtime.Gosched()
		}
		cancel()
		works.leave()
		runtime.Gosched()
		waits.leave()
		all.Wait()
		if working, resting, waiting := g.load(); working != 0 || resting != 0 || waiting != 0 || len(g.of) > 0 {
			t.Fatalf("%d work, %d rest, %d wait, of %v", working, resting, waiting, g.of)
		}
	}
}

// No more begin than eight for each that may work, and a place that is left goes to
// the next.
func TestFewBegin(t *testing.T) {
	l := Limits{Running: 2, Patience: time.Millisecond}
	l.defaults()
	g := newGate(l)
	var places []*place
	for i := range 2*maxBegun + 1 {
		p, err := g.enter("ann", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, p)
		if err := p.Take(t.Context(), 0); (err == nil) != (i < 2*maxBegun) {
			t.Errorf("request %d: %v", i, err)
		}
		p.Rest()
	}
	places[0].leave()
	if err := places[len(places)-1].Take(t.Context(), 0); err != nil {
		t.Errorf("when another has left: %v", err)
	}
}

// What goes on for a request that was left takes no turn: nobody would give it back.
func TestLeftTakesNoTurn(t *testing.T) {
	g, works, waits, left := inOneTurn(t)
	if err := works.Take(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	left.leave()
	if err := left.Take(t.Context(), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("who left: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	waited := make(chan error, 1)
	go func() { waited <- waits.Take(ended, 0) }()
	for _, _, waiting := g.load(); waiting != 1; _, _, waiting = g.load() {
		time.Sleep(time.Millisecond)
	}
	waits.leave()
	end()
	if err := <-waited; err == nil {
		t.Error("who left while waiting has a turn")
	}
	works.leave()
	if working, resting, waiting := g.load(); working+resting+waiting+g.begun+len(g.of) != 0 {
		t.Errorf("when all have left: %d work, %d rest, %d wait, %d begun", working, resting, waiting, g.begun)
	}
}

// A search that works by itself may be helped, however few may work, unless there is
// one processor; when there are as many as processors nobody helps anybody.
func TestFullIsOfProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range []struct {
		running, processors, spare, work int
		full                             bool
	}{{1, 1, 0, 1, true}, {1, 4, 0, 1, false}, {4, 4, 0, 1, false}, {4, 4, 0, 3, false}, {4, 4, 0, 4, true},
		{8, 4, 0, 4, true},
		{2, 2, 1, 1, false}, {2, 2, 1, 2, true}} {
		runtime.GOMAXPROCS(c.processors)
		l := Limits{Running: c.running, Patience: time.Minute}
		l.defaults()
		runtime.GOMAXPROCS(c.processors + c.spare)
		g := newGate(l)
		var p collection.Turn
		for range c.work {
			own, err := g.enter("ann", time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if err := own.Take(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			p = own
		}
		if got := p.Full(); got != c.full {
			t.Errorf("%d of %d requests work on %d processors and %d that only Go is told of: full is %v", c.work, c.running,
				c.processors, c.spare, got)
		}
	}
}

// Those that wait begin in the order in which they count as come, which is no earlier
// than headStart before they were seen, and those that count as come at once in that in
// which they were seen.
func TestBeginInOrder(t *testing.T) {
	l := Limits{Running: 1, Patience: time.Minute}
	l.defaults()
	g := newGate(l)
	seen := time.Now()
	answered := func(before time.Duration) *connection {
		at := seen.Add(-before)
		c := &connection{}
		c.answered.Store(&at)
		return c
	}
	works, err := g.enter("ann", seen)
	if err != nil {
		t.Fatal(err)
	}
	if err := works.Take(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	var order []int
	var places []*place
	for i, c := range []*connection{nil, answered(time.Millisecond), answered(time.Hour), {}, answered(headStart),
		answered(5 * time.Millisecond), nil} {
		p, err := g.enter("ann", c.came(seen))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := p.join(); again || err != nil || p.works {
			t.Fatalf("request %d: %v, %v, works %v", i, again, err, p.works)
		}
		places = append(places, p)
	}
	for now := works; len(order) < len(places); {
		now.leave()
		i := -1
		for i < 0 { // until the turn is handed on
			runtime.Gosched()
			g.mu.Lock()
			i = slices.IndexFunc(places, func(p *place) bool { return p.works })
			g.mu.Unlock()
		}
		order, now = append(order, i), places[i]
	}
	if want := []int{2, 4, 5, 1, 0, 3, 6}; !slices.Equal(order, want) {
		t.Errorf("began in the order %v, want %v", order, want)
	}
}

// An answer that was written is what the next request over its connection counts from,
// and other connections know nothing of it.
func TestConnectionKnowsItsAnswers(t *testing.T) {
	ctx := ConnContext(t.Context(), nil)
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/livez", nil)
	a, err := New(Options{Collections: []*collection.Collection{{}}})
	if err != nil {
		t.Fatal(err)
	}
	a.ServeHTTP(httptest.NewRecorder(), req)
	c := connectionOf(req)
	if came, now := c.came(time.Now().Add(time.Millisecond)), time.Now(); came.After(now) {
		t.Errorf("it counts as come %v after the answer before", came.Sub(now))
	}
	now := time.Now()
	for name, c := range map[string]*connection{
		"none":    connectionOf(httptest.NewRequest(http.MethodGet, "/livez", nil)),
		"another": connectionOf(req.WithContext(ConnContext(t.Context(), nil))),
	} {
		if came := c.came(now); !came.Equal(now) {
			t.Errorf("%s: came %v, seen %v", name, came, now)
		}
	}
}
