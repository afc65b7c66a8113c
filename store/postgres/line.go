package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// line runs the tasks that a load has prepared, one after the other, while the load prepares the
// next. After an error it runs no other task.
type line struct {
	mu      sync.Mutex
	moved   *sync.Cond // signals a change of the fields below
	tasks   []task     // waiting tasks
	bytes   int        // bytes of these tasks
	running bool       // a task is running
	fault   error      // the error of a task
	chunks  int        // chunks of the task with the error
	cancel  context.CancelCauseFunc
	ended   chan struct{} // closed when the goroutine has ended; nil without one
}

// task is work for the server: a statement, or rows.
type task struct {
	chunks int // chunks that it writes, for the error message
	bytes  int
	run    func(ctx context.Context) error
}

// maxWaiting is how many bytes may wait; a single task may have more.
const maxWaiting = 2 * pieceBytes

// start begins a line. It goes on after ctx ends, until stop.
func (l *line) start(ctx context.Context) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.moved = sync.NewCond(&l.mu)
	l.tasks, l.bytes, l.running, l.fault, l.chunks = nil, 0, false, nil, 0
	l.cancel, l.ended = cancel, make(chan struct{})
	go l.work(ctx, l.ended)
}

// stop ends a line: it cancels the running task and drops the waiting ones. Without a line it does
// nothing.
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

// work runs tasks until one fails or the line ends.
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
		l.tasks[0] = task{} // frees its rows
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

// fail records the first error; it requires l.mu.
func (l *line) fail(err error, chunks int) {
	if l.fault == nil {
		l.fault, l.chunks = err, chunks
	}
	l.tasks, l.bytes = nil, 0
	l.moved.Broadcast()
}

// put queues a task and waits until there is room. It returns the error of an earlier task.
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

// settle waits until every task has run.
func (l *line) settle() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.fault == nil && (l.running || len(l.tasks) > 0) {
		l.moved.Wait()
	}
	return l.fault
}

// drain waits until the last task has begun. Then it is time to prepare the next.
func (l *line) drain() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.fault == nil && len(l.tasks) > 0 {
		l.moved.Wait()
	}
	return l.fault
}

// drained reports whether drain need not wait.
func (l *line) drained() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.tasks) == 0
}

// failed returns how many chunks the failed task had; 0 when none failed.
func (l *line) failed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.chunks
}
