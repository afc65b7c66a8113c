package api

import (
	"runtime"
	"runtime/debug"
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

// garbage is what a test makes.
var garbage []byte

// nearlyCollect makes garbage until it is about to be collected.
func nearlyCollect(t *testing.T, p *pause) {
	t.Helper()
	for range 100 {
		runtime.GC()
		for range 10000 {
			garbage = make([]byte, 64<<10)
			garbage = nil
			if p.look() {
				return
			}
		}
	}
	t.Fatal("it is never nearly full")
}

// What was found and is not swept up yet is not collected again.
func TestLookWhileSwept(t *testing.T) {
	g, _, _, _ := inPause(t, time.Minute)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pause.swept-- // as if it had been collected once more
	if g.pause.look() {
		t.Error("it is about to be collected, and has just been")
	}
}

// inPause is a gate of which somebody works and somebody waits, when garbage is about to
// be collected and the heap to be looked at.
func inPause(t *testing.T, most time.Duration) (g *gate, works, waits *place, took chan error) {
	t.Helper()
	percent := debug.SetGCPercent(400)
	t.Cleanup(func() { debug.SetGCPercent(percent) })
	live := make([]byte, 64<<20)
	t.Cleanup(func() { runtime.KeepAlive(live) })
	g, works, waits, _ = inOneTurn(t)
	g.pause.most = most
	if err := works.Take(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	took = make(chan error, 1)
	go func() { took <- waits.Take(t.Context(), 0) }()
	for _, _, waiting := g.load(); waiting != 1; _, _, waiting = g.load() {
		runtime.Gosched()
	}
	nearlyCollect(t, &g.pause)
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
	if g.pause.on || !g.pause.needed.IsZero() {
		t.Errorf("afterwards: pause %v, none before %v", g.pause.on, g.pause.needed)
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
	nearlyCollect(t, &g.pause)
	g.pause.turns = lookEvery - 1
	if g.pause.due() {
		t.Error("there is another pause at once")
	}
	g.pause.turns, g.pause.needed = lookEvery-1, time.Now()
	nearlyCollect(t, &g.pause)
	if !g.pause.due() {
		t.Error("there is never another pause")
	}
}

// Nobody's turn is put off where nobody waits.
func TestNoPauseForNobody(t *testing.T) {
	g, works, waits, took := inPause(t, time.Minute)
	g.pause.turns = 0
	works.leave()
	if err := <-took; err != nil {
		t.Fatal(err)
	}
	nearlyCollect(t, &g.pause)
	g.pause.turns = lookEvery - 1
	waits.leave()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pause.on {
		t.Error("there is a pause, and nobody waits")
	}
}
