package http

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Whatever requests do, in whatever order, no more work than may, and whenever a turn is free
// and somebody waits who may have it, who is first has it.
func TestGateHistories(t *testing.T) {
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 0))
		l := Limits{Running: []int{1, 2, 3, 100}[random.IntN(4)], Waiting: 1 + random.IntN(40), OfOne: 1000}
		l.defaults()
		g := newGate(l)
		var places []*place
		var history []string
		var often [7]int // something of each kind is done
		total := 0
		for i := range often {
			often[i] = 1 << random.IntN(6)
			total += often[i]
		}
		check := func() {
			if fault := g.fault(places); fault != "" {
				t.Fatalf("seed %d, %d may work: %s, after %v", seed, l.Running, fault, history)
			}
		}
		for range 200 {
			op := 0
			for n := random.IntN(total); n >= often[op]; op++ {
				n -= often[op]
			}
			var p *place
			if len(places) > 0 {
				p = places[random.IntN(len(places))]
				if i := slices.IndexFunc(places, func(p *place) bool { return p.works }); i >= 0 && random.IntN(2) == 0 {
					p = places[i]
				}
			}
			now := "comes"
			switch {
			case op == 0 || p == nil:
				p, err := g.enter("ann", time.Unix(int64(random.IntN(100)), 0))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := p.join(); err != nil {
					p.leave()
					break
				}
				places = append(places, p)
			case op == 1:
				now = "rests"
				if p.waits() {
					break
				}
				p.Rest()
			case op == 2:
				now = "returns"
				if p.waits() {
					break
				}
				if _, err := p.join(); err != nil {
					p.leave()
					places = without(places, p)
				}
			case op == 3:
				now = "ends"
				if p.waits() {
					break
				}
				p.End()
			case op == 4:
				now = "is tired of waiting"
				p.quit()
			case op == 5:
				now = "leaves"
				p.leave()
				places = without(places, p)
			default:
				now = "a pause begins or ends"
				g.pause.on = !g.pause.on
				g.handOn()
			}
			history = append(history, now)
			check()
		}
		for len(places) > 0 {
			p := places[len(places)-1]
			p.leave()
			places = without(places, p)
			check()
		}
		if g.working+g.begun+len(g.coming)+len(g.returning)+len(g.of) != 0 {
			t.Fatalf("seed %d: when all have left, %d work, %d begun, %d and %d wait, of %v", seed, g.working, g.begun,
				len(g.coming), len(g.returning), g.of)
		}
	}
}

func (p *place) waits() bool {
	return slices.Contains(p.gate.coming, p) || slices.Contains(p.gate.returning, p)
}

// fault is what is wrong with a gate that holds these places; "" for nothing.
func (g *gate) fault(places []*place) string {
	working, begun := 0, 0
	for _, p := range places {
		if p.works {
			working++
			select {
			case <-p.in:
			default:
				return "who works was not told"
			}
		}
		if p.begun {
			begun++
		}
		if p.works && (!p.begun || p.waits()) {
			return "who works waits, or has not begun"
		}
	}
	for _, p := range g.coming {
		if p.begun || !slices.Contains(places, p) {
			return "who has begun, or has left, waits to begin"
		}
	}
	for _, p := range g.returning {
		if !p.begun || !slices.Contains(places, p) {
			return "who has not begun, or has left, waits to go on"
		}
	}
	free := g.working < g.limits.Running && !g.pause.on
	switch {
	case working != g.working || begun != g.begun || len(places) != g.of["ann"]:
		return "it counts wrongly"
	case g.working > g.limits.Running:
		return "more work than may"
	case g.begun > maxBegun*g.limits.Running:
		return "more have begun than may"
	case free && len(g.returning) > 0:
		return "a turn is free, and somebody waits to go on"
	case free && len(g.coming) > 0 && g.mayBegin():
		return "a turn is free, and somebody waits to begin"
	case len(g.coming) > g.limits.Waiting:
		return "too many wait"
	case !slices.IsSortedFunc(g.coming, func(a, b *place) int { return a.came.Compare(b.came) }):
		return "they wait in another order than they came in"
	}
	return ""
}

// Requests that come, rest, return and hang up at once, while there are pauses too, have
// their turns, no more than may at a time, and nothing is left of them.
func TestGateTogether(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, processors := range []int{1, 2, 8} {
		for _, running := range []int{1, 3, 100} {
			runtime.GOMAXPROCS(processors)
			l := Limits{Running: running, OfOne: 1000, Patience: time.Hour}
			l.defaults()
			g := newGate(l)
			var working atomic.Int64
			take := func(ctx context.Context, p *place) bool {
				if p.Take(ctx, 0) != nil {
					return false
				}
				if n := working.Add(1); n > int64(running) {
					t.Errorf("%d work, %d may", n, running)
				}
				runtime.Gosched()
				return true
			}
			var all sync.WaitGroup
			for i := range 3*running + 20 {
				all.Go(func() {
					random := rand.New(rand.NewPCG(uint64(i), 0))
					for range 100 {
						p, err := g.enter("ann", time.Now())
						if err != nil {
							t.Error(err)
							return
						}
						ctx, cancel := context.WithCancel(t.Context())
						if random.IntN(3) == 0 {
							go cancel()
						}
						for has := take(ctx, p); has; {
							working.Add(-1)
							switch random.IntN(4) {
							case 0:
								p.Rest()
								runtime.Gosched()
								has = take(ctx, p)
							case 1:
								p.End()
								has = take(ctx, p)
							default:
								has = false
							}
						}
						p.leave()
						cancel()
					}
				})
			}
			all.Go(func() { // pauses, as many as there is time for
				for range 10 {
					g.mu.Lock()
					if !g.pause.on {
						g.pause.begin(g)
					}
					on := g.pause.on
					for ; on; on = g.pause.on {
						g.mu.Unlock()
						runtime.Gosched()
						g.mu.Lock()
					}
					g.mu.Unlock()
				}
			})
			all.Wait()
			g.close()
			if fault := g.fault(nil); fault != "" {
				t.Errorf("%d on %d: %s", running, processors, fault)
			}
			if g.begun+len(g.coming)+len(g.returning)+len(g.of) != 0 {
				t.Errorf("%d on %d: %d begun, %d and %d wait, of %v", running, processors, g.begun, len(g.coming), len(g.returning),
					g.of)
			}
		}
	}
}
