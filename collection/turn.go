package collection

import (
	"context"
	"sync"
	"time"
)

// Turn is the right of a request to work, of which there are about as many as
// processors. It is used by one goroutine at a time.
type Turn interface {
	// Take waits until the request may work, and no longer than patience, 0 for as long
	// as it must. Its error is that of the search.
	Take(ctx context.Context, patience time.Duration) error
	// Rest gives the turn back for a while: who takes it again goes before those who
	// have not begun.
	Rest()
	// End gives it back, taken or not: who takes it again waits as one who has not begun.
	End()
	// Full reports whether requests work on every processor: then a search does one
	// thing after another, since whoever helped it would take the processor of another.
	Full() bool
}

type turnKey struct{}

// turn is that of a request whose branches may work together.
type turn struct {
	Turn
	// ctx is the request's: a stage with less time than the request still waits for
	// the turn, without which the others could not go on.
	ctx     context.Context
	mu      sync.Mutex
	changed sync.Cond
	begun   bool // it was taken once
	has     bool
	taking  bool // one of them waits for it, mu free
	away    int  // how many of them wait for another machine
}

// WithTurn is a context whose searches take t before they work, and give it back
// while they wait for a model or a store on another machine. A search whose answer is
// remembered, or is being found for somebody else, takes none.
func WithTurn(ctx context.Context, t Turn) context.Context {
	own := &turn{Turn: t, ctx: ctx}
	own.changed.L = &own.mu
	return context.WithValue(ctx, turnKey{}, own)
}

// TakeTurn waits for the turn of ctx, if it has one and does not work already.
func TakeTurn(ctx context.Context) error {
	t, ok := ctx.Value(turnKey{}).(*turn)
	if !ok {
		return nil
	}
	return t.take(0)
}

// TakeTurnWithin is TakeTurn for a request that may need no turn: it waits no longer than
// patience, and goes on without one then. Its error is that of ctx.
func TakeTurnWithin(ctx context.Context, patience time.Duration) error {
	t, ok := ctx.Value(turnKey{}).(*turn)
	if !ok {
		return ctx.Err()
	}
	_ = t.take(patience) // who is refused is so again when the turn is needed
	return ctx.Err()
}

// EndTurn gives the turn of ctx back, if it has one: others have it while the request
// waits for something that takes no processor. [TakeTurn] waits for it again, as if it
// had never been taken.
func EndTurn(ctx context.Context) {
	t, ok := ctx.Value(turnKey{}).(*turn)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun, t.has = false, false
	t.End()
}

// inTurn does some work in the turn of ctx. One that was taken for it is given back
// behind it: who waits then for what another request finds does not keep that one out.
func inTurn(ctx context.Context, work func() error) error {
	t, ok := ctx.Value(turnKey{}).(*turn)
	if !ok {
		return work()
	}
	t.mu.Lock()
	had := t.has
	t.mu.Unlock()
	if err := t.take(0); err != nil {
		return err
	}
	if !had {
		defer func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.rest()
		}()
	}
	return work()
}

// elsewhere runs ask, which waits for another machine, while others have the turn of
// ctx. If it was taken before, it is taken again when all that the request asks
// elsewhere has come; when that fails the error is that of the turn.
func elsewhere[T any](ctx context.Context, ask func() (T, error)) (out T, err error) {
	t, ok := ctx.Value(turnKey{}).(*turn)
	if !ok {
		return ask()
	}
	t.leave()
	defer func() {
		if back := t.back(); err == nil {
			err = back
		}
	}()
	return ask()
}

// take takes the turn for all who work on the request, with so much patience. Who comes
// while one of them waits for it waits for that one.
func (t *turn) take(patience time.Duration) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.taking {
		t.changed.Wait()
	}
	if t.has || t.away > 0 {
		return nil
	}
	t.taking = true
	t.mu.Unlock()
	err := t.Take(t.ctx, patience)
	t.mu.Lock()
	t.taking = false
	t.changed.Broadcast()
	if err != nil {
		return err
	}
	t.begun, t.has = true, true
	if t.away > 0 {
		t.rest()
	}
	return nil
}

// leave says that one of them waits for another machine.
func (t *turn) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.away++
	t.rest()
}

// back says that its answer has come.
func (t *turn) back() error {
	t.mu.Lock()
	t.away--
	begun := t.begun
	t.mu.Unlock()
	if !begun {
		return nil
	}
	return t.take(0)
}

// rest gives the turn back if the request has it. The caller holds mu.
func (t *turn) rest() {
	if t.has {
		t.has = false
		t.Rest()
	}
}
