package serve

import (
	"context"
	"sync"
)

// Turn is the right of a request to work, of which there are about as many as
// processors.
type Turn interface {
	// Take waits until the request may work. Its error is that of the search.
	Take(ctx context.Context) error
	// Rest gives the turn back; it is taken again later.
	Rest()
}

type turnKey struct{}

// turn is that of a request whose branches may work together.
type turn struct {
	Turn
	mu    sync.Mutex
	taken bool
	// resting is how many of them wait for another machine.
	resting int
}

// WithTurn is a context whose searches take t before they work, and give it back
// while they wait for a model or a store on another machine. A search whose answer is
// remembered, or is being found for somebody else, takes none.
func WithTurn(ctx context.Context, t Turn) context.Context {
	return context.WithValue(ctx, turnKey{}, &turn{Turn: t})
}

// takeTurn waits for the turn of ctx, if it has one.
func takeTurn(ctx context.Context) error {
	t, ok := ctx.Value(turnKey{}).(*turn)
	if !ok {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken {
		return nil
	}
	err := t.Take(ctx)
	t.taken = err == nil
	return err
}

// rest gives the turn of ctx back, if it was taken, until back is called: others work
// while this request waits. Who was let in once is not sent away: when it takes too long
// to get the turn again, the search goes on without.
func rest(ctx context.Context) (back func()) {
	t, ok := ctx.Value(turnKey{}).(*turn)
	if !ok {
		return func() {}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.resting++; t.resting == 1 && t.taken {
		t.Rest()
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.resting--; t.resting == 0 && t.taken {
			_ = t.Take(ctx)
		}
	}
}
