package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// line carries out what a load has prepared, one task after the other, while the load
// prepares the next. After an error it carries out nothing more.
type line struct {
	mu      sync.Mutex
	moved   *sync.Cond // whatever follows has changed
	tasks   []task     // that wait
	bytes   int        // of those
	running bool       // a task is being carried out
	fault   error      // of a task
	chunks  int        // of the task with the fault
	cancel  context.CancelCauseFunc
	ended   chan struct{} // closed when the goroutine has; nil without one
}

// task is something to be asked of the server: a statement, or rows.
type task struct {
	chunks int // that are being written, of which an error speaks
	bytes  int
	run    func(ctx context.Context) error
}

// maxWaiting is how many bytes may wait, unless they are those of one task.
const maxWaiting = 2 * pieceBytes

// start begins a line, which goes on when ctx ends, until stop.
func (l *line) start(ctx context.Context) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.moved = sync.NewCond(&l.mu)
	l.tasks, l.bytes, l.running, l.fault, l.chunks = nil, 0, false, nil, 0
	l.cancel, l.ended = cancel, make(chan struct{})
	go l.work(ctx, l.ended)
}

// stop ends a line, whose task is cut short and whose waiting tasks are dropped. Without
// one it does nothing.
func (l *line) stop() {
	l.mu.Lock()
	ended := l.ended
	if ended != nil {
		l.cancel(context.Canceled)
		l.fail(context.Canceled, 0)
	}
	l.mu.Unlock()
	if ended != nil {
		<-ended
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = nil
}

// work carries out tasks until one fails or the line ends.
func (l *line) work(ctx context.Context, ended chan struct{}) {
	defer close(ended)
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for len(l.tasks) == 0 && l.fault == nil {
			l.moved.Wait()
		}
		if l.fault != nil {
			return
		}
		t := l.tasks[0]
		l.tasks[0] = task{} // so that its rows are not kept
		l.tasks = l.tasks[1:]
		l.bytes -= t.bytes
		l.running = true
		l.moved.Broadcast()
		l.mu.Unlock()
		err := t.run(ctx)
		l.mu.Lock()
		l.running = false
		l.moved.Broadcast()
		if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
			err = fmt.Errorf("%w: %w", cause, err)
		}
		if err != nil {
			l.fail(err, t.chunks)
		}
	}
}

// fail notes the first fault; it needs l.mu.
func (l *line) fail(err error, chunks int) {
	if l.fault == nil {
		l.fault, l.chunks = err, chunks
	}
	l.tasks, l.bytes = nil, 0
	l.moved.Broadcast()
}

// put lets a task wait for its turn, when there is room. An error is that of a task before.
func (l *line) put(t task) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.fault == nil && len(l.tasks) > 0 && l.bytes+t.bytes > maxWaiting {
		l.moved.Wait()
	}
	if l.fault == nil {
		l.tasks = append(l.tasks, t)
		l.bytes += t.bytes
		l.moved.Broadcast()
	}
	return l.fault
}

// settle waits until every task is carried out.
func (l *line) settle() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.fault == nil && (l.running || len(l.tasks) > 0) {
		l.moved.Wait()
	}
	return l.fault
}

// drain waits until the last task has begun, which is when to prepare what comes next.
func (l *line) drain() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.fault == nil && len(l.tasks) > 0 {
		l.moved.Wait()
	}
	return l.fault
}

// drained reports whether drain has nothing to wait for.
func (l *line) drained() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.tasks) == 0
}

// failed is of how many chunks the task was that failed; 0 when none did.
func (l *line) failed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.chunks
}
