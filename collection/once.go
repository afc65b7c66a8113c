package collection

import (
	"context"
	"errors"
	"io/fs"
)

// Once has the changes of a request made once, also when it is repeated because the process
// ended before it was answered.
type Once struct {
	// Before is what was kept when the request was begun before.
	Before Begun
	// Keep keeps what the request will have done, just before it is done.
	Keep func(Begun) error
}

// Begun is what a request will have done: its changes, or the task that it made of them.
type Begun struct {
	Changes []BegunChange `json:"changes,omitempty"`
	Task    *Task         `json:"task,omitempty"`
}

// BegunChange is what a change will have done.
type BegunChange struct {
	Stored
	// Hash is that of what the document will be; "" when it is deleted.
	Hash string `json:"hash,omitempty"`
}

// results say what the changes will have done.
func (b *Begun) results() []Stored {
	out := make([]Stored, len(b.Changes))
	for i := range out {
		out[i] = b.Changes[i].Stored
	}
	return out
}

type onceKey struct{}

// WithOnce is a context in which Write, Patch and Submit work once.
func WithOnce(ctx context.Context, o Once) context.Context {
	return context.WithValue(ctx, onceKey{}, &o)
}

// onceOf is the Once of ctx; an empty one when it has none.
func onceOf(ctx context.Context) *Once {
	if o, ok := ctx.Value(onceKey{}).(*Once); ok {
		return o
	}
	return &Once{Keep: func(Begun) error { return nil }}
}

// accepted is the task that was made of a request before, as it was accepted; nil when it was
// not, or is forgotten by now.
func (c *Collection) accepted(o *Once) (*Task, error) {
	if o.Before.Task == nil {
		return nil, nil
	}
	k, err := readTask(c.o.Tasks, o.Before.Task.ID+".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c.given.tasks.add(k.task(), k.Work) // where it was kept, and that failed
	return o.Before.Task, nil
}
