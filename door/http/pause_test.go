package http

import (
	"runtime"
	"testing"
	"time"
)

// It is nearly full before Go collects by itself, and never where it never does.
func TestNearlyFull(t *testing.T) {
	for name, c := range map[string]struct {
		goal, live, now uint64
		want            bool
	}{
		"just collected":         {400, 100, 100, false},
		"half full":              {400, 100, 250, false},
		"nearly":                 {400, 100, 370, true},
		"beyond":                 {400, 100, 500, true},
		"less than what is live": {400, 100, 50, false},
		"never collected":        {1<<64 - 1, 100, 1 << 40, false},
		"more live than may be":  {100, 200, 300, false},
	} {
		if got := nearlyFull(c.goal, c.live, c.now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The heap is about to be collected when it is nearly full, and not while what was found the last
// time is swept up, or while it is being marked.
func TestLook(t *testing.T) {
	p := newPause()
	for i, c := range []struct {
		size, collected, stops uint64
		want                   bool
	}{
		{390, 3, 6, false}, // not swept up
		{300, 3, 6, false},
		{390, 3, 6, true},
		{390, 3, 7, false}, // being marked
		{390, 4, 8, false}, // not swept up
		{380, 4, 8, false},
		{100, 4, 8, false},
		{369, 4, 8, false},
		{370, 4, 8, true},
		{370, 6, 12, false}, // collected without being looked at
		{120, 6, 13, false},
		{380, 6, 13, true},
	} {
		p.read = func() heapState { return heapState{400, 100, c.size, c.collected, c.stops} }
		if got := p.look(); got != c.want {
			t.Errorf("%d: size %d after %d collections and %d stops: %v", i, c.size, c.collected, c.stops, got)
		}
	}
}

// What is read is what the heap is.
func TestReadHeap(t *testing.T) {
	read := newHeapReader()
	kept := make([]byte, 64<<20)
	runtime.GC()
	before := read()
	runtime.GC()
	after := read()
	if before.live < 64<<20 || before.goal < before.live || before.size < 64<<20 {
		t.Errorf("with 64 MB in use: %+v", before)
	}
	if after.collected <= before.collected || after.stops < before.stops+2 {
		t.Errorf("%+v, and collected once more %+v", before, after)
	}
	runtime.KeepAlive(kept)
}

// about is of a heap that is about to be collected and was swept up.
func about() heapState { return heapState{goal: 400, live: 100, size: 380} }

// inPause is a gate of which somebody works and somebody waits, when the heap is to be
// looked at.
func inPause(t *testing.T, most time.Duration) (g *gate, works, waits *place, took chan error) {
	t.Helper()
	g, works, waits, _ = inOneTurn(t)
	g.pause.most, g.pause.read = most, about
	if err := works.Take(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	took = make(chan error, 1)
	go func() { took <- waits.Take(t.Context(), 0) }()
	for _, _, waiting := g.load(); waiting != 1; _, _, waiting = g.load() {
		runtime.Gosched()
	}
	g.pause.turns = lookEvery - 1
	return g, works, waits, took
}

// When garbage is about to be collected and somebody waits, nobody works until it is marked.
func TestPause(t *testing.T) {
	g, works, waits, took := inPause(t, time.Minute)
	before := collections()
	g.mu.Lock()
	works.end()
	if !g.pause.on || waits.works {
		t.Errorf("pause: %v, and it works: %v", g.pause.on, waits.works)
	}
	g.mu.Unlock()
	if err := <-took; err != nil {
		t.Fatal(err)
	}
	if collections() == before {
		t.Error("it works, and garbage is not collected")
	}
	waits.leave()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pause.on || !g.pause.notBefore.IsZero() {
		t.Errorf("afterwards: pause %v, none before %v", g.pause.on, g.pause.notBefore)
	}
}

// Where it takes longer than anybody is to wait it goes on beside the requests, and there is
// no pause for a while.
func TestPauseThatDoesNotDo(t *testing.T) {
	g, works, _, took := inPause(t, 0)
	works.leave()
	if err := <-took; err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for range 2 * lookEvery {
		if g.pause.due() {
			t.Fatal("there is another pause at once")
		}
	}
	g.pause.notBefore = time.Now()
	for range lookEvery {
		if g.pause.due() {
			return
		}
	}
	t.Error("there is never another pause")
}

// Nobody's turn is put off where nobody waits.
func TestNoPauseForNobody(t *testing.T) {
	g, works, waits, took := inPause(t, time.Minute)
	g.pause.turns = 0
	works.leave()
	if err := <-took; err != nil {
		t.Fatal(err)
	}
	g.pause.turns = lookEvery - 1
	waits.leave()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pause.on {
		t.Error("there is a pause, and nobody waits")
	}
}
