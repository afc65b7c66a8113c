package http

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"sheaf/collection"
)

// gate bounds how many requests work at once, how many have begun to, how many wait
// for that, and how many of one caller there are. Those that wait have their turns in
// about the order in which they came: with no more at work than there are processors
// each is quick, and the last to come waits no longer than if all had shared them. Those
// that rested go before those that have not begun: they hold what they found, and are
// sooner done.
//
// When a request came is not known exactly: it is seen when a processor is free to look,
// which on a busy machine is after others that came later. See [connection.came]: of
// those that ask again at once, who was answered first is served first, and who asks now
// and then goes a little before those that ask all the time.
type gate struct {
	limits Limits

	mu        sync.Mutex
	pause     pause
	working   int
	begun     int      // those that work, rest, or return from that
	coming    []*place // that wait to begin
	returning []*place // that wait to go on
	of        map[string]int
}

// maxBegun is how many requests may have begun for each that may work: so many wait
// for a model or a store on another machine while that one works.
const maxBegun = 8

func newGate(l Limits) *gate {
	return &gate{limits: l, pause: newPause(), of: map[string]int{}}
}

// place is a request inside the gate, whose lock guards it. It waits for one turn at
// a time.
type place struct {
	gate         *gate
	caller       string
	came         time.Time // as it counts
	works, begun bool
	left         bool          // for good
	in           chan struct{} // closed when it may work, nil before it waits
	let          bool          // in is closed
}

// enter counts a request of a caller in that counts as come then. The error is a problem:
// too many of one caller. The place is to be left.
func (g *gate) enter(caller string, came time.Time) (*place, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of[caller] >= g.limits.OfOne {
		return nil, problem("too-many-requests", "%d requests of this caller are running: must be at most that many at once",
			g.limits.OfOne)
	}
	g.of[caller]++
	return &place{gate: g, caller: caller, came: came}, nil
}

var _ collection.Turn = (*place)(nil)

// timers are some that are stopped.
var timers = sync.Pool{New: func() any {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}}

// errPatience says that the patience of who waits was at its end.
var errPatience = errors.New("the server is busy")

// Take waits until the request may work; at once when it may already. One that has
// not begun waits with bounded patience, and the error is a problem: too many wait, or
// it waited too long. One that rested waits until ctx ends, whose error it is. Where the
// patience that was given ends before, the error is errPatience.
func (p *place) Take(ctx context.Context, patience time.Duration) error {
	again, err := p.join()
	if err != nil {
		return err
	}
	select {
	case <-p.in: // as most that need not wait
		return nil
	default:
	}
	late := errPatience
	if limit := p.gate.limits.Patience; !again && (patience == 0 || limit < patience) {
		patience, late = limit, nil
	}
	var impatient <-chan time.Time
	if patience > 0 {
		timer := timers.Get().(*time.Timer)
		timer.Reset(patience)
		defer func() {
			timer.Stop() // and of what it would have said nothing comes
			timers.Put(timer)
		}()
		impatient = timer.C
	}
	select {
	case <-p.in:
		// Behind all that may go on. Go runs first who was told last, so that turns which
		// are handed on would leave those unread who came meanwhile; and before it looks
		// at the network, what sweeps up garbage, whenever nobody else has work for it.
		runtime.Gosched()
		return nil
	case <-impatient:
	case <-ctx.Done():
	}
	switch works := p.quit(); {
	case works: // let in at the last moment
		return nil
	case again && ctx.Err() != nil:
		return ctx.Err()
	case late != nil:
		return late
	}
	return problem("unavailable", "the server is busy")
}

// join lets a request work, or puts it among those that wait; again says that it has
// begun before.
func (p *place) join() (again bool, err error) {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case p.left: // its caller is gone, and what it still does is for nobody
		return false, context.Canceled
	case p.works:
		return p.begun, nil
	}
	again = p.begun
	if p.in == nil || p.let {
		p.in, p.let = make(chan struct{}), false
	}
	if again {
		g.returning = append(g.returning, p)
		g.handOn()
		return true, nil
	}
	if !(g.free() && g.mayBegin()) && len(g.coming) >= g.limits.Waiting {
		return false, problem("unavailable", "%d requests are waiting already", g.limits.Waiting)
	}
	at := len(g.coming)
	for at > 0 && g.coming[at-1].came.After(p.came) {
		at--
	}
	g.coming = slices.Insert(g.coming, at, p)
	g.handOn()
	return false, nil
}

// crowded reports whether so many wait that nobody goes by them: who needs no turn, since
// what they ask for is remembered, goes by all who do, and where most are such
// these wait several times as long as if all went in order.
func (g *gate) crowded() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	const each = 4 // that may work
	return len(g.coming) >= each*g.limits.Running
}

// held is how long a request waits in order at most that may need no turn: those before
// it may wait for a slow store.
const held = 20 * time.Millisecond

// next hands on a turn that was given back. The caller holds the lock.
func (g *gate) next() {
	if len(g.coming) > 0 && g.pause.due() {
		g.pause.begin(g)
	}
	g.handOn()
}

// handOn hands on turns that are free, to those who go on first. The caller holds the
// lock.
func (g *gate) handOn() {
	for g.free() && (len(g.returning) > 0 || len(g.coming) > 0 && g.mayBegin()) {
		g.admit()
	}
}

// free reports whether one more may work.
func (g *gate) free() bool { return g.working < g.limits.Running && !g.pause.on }

// mayBegin reports whether there is room for one more that has begun.
func (g *gate) mayBegin() bool { return g.begun < maxBegun*g.limits.Running }

// admit lets in who is first; the caller knows that somebody is.
func (g *gate) admit() {
	var p *place
	if len(g.returning) > 0 {
		p, g.returning = g.returning[0], g.returning[1:]
	} else {
		p, g.coming = g.coming[0], g.coming[1:]
		p.begun = true
		g.begun++
	}
	p.works, p.let = true, true
	g.working++
	close(p.in)
}

// quit ends the request's waiting, unless it may work by now, which it reports.
func (p *place) quit() (works bool) {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	g.coming, g.returning = without(g.coming, p), without(g.returning, p)
	return p.works
}

func without(list []*place, p *place) []*place {
	if i := slices.Index(list, p); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// Rest lets another request work; this one stays inside.
func (p *place) Rest() {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	p.rest()
	g.next()
}

// End gives the turn back as if it had never been taken: it is waited for again among
// those who have not begun.
func (p *place) End() {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	p.end()
}

// end is End; the caller holds the lock.
func (p *place) end() {
	p.rest()
	if p.begun {
		p.begun = false
		p.gate.begun--
	}
	p.gate.next()
}

func (p *place) rest() {
	if p.works {
		p.works = false
		p.gate.working--
	}
}

// Full reports whether as many requests work as there are processors. Of fewer, because
// only so many may, each has processors that nobody else uses.
func (p *place) Full() bool {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.working >= g.limits.Processors
}

// leave counts the request out.
func (p *place) leave() {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	p.left = true
	g.coming, g.returning = without(g.coming, p), without(g.returning, p)
	p.end()
	if g.of[p.caller]--; g.of[p.caller] == 0 {
		delete(g.of, p.caller)
	}
}

// load is how many requests work, how many wait for another machine, and how many for
// their turn.
func (g *gate) load() (working, resting, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.working, g.begun - g.working - len(g.returning), len(g.coming) + len(g.returning)
}
