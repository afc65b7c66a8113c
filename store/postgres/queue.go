package postgres

import (
	"context"
	"errors"
	"fmt"
)

// queue runs the prepared tasks of a load one after the other, while the load prepares the next.
// After an error it runs no other task.
type queue struct {
	tasks  chan task
	cancel context.CancelCauseFunc
	ended  chan struct{} // closed after the last task
	// fault is the reason why the queue ended, and chunks the number of chunks of the failed task.
	fault  error
	chunks int
}

// task is work for the server: a statement, or rows.
type task struct {
	chunks int // chunks that it writes, for the error message
	run    func(ctx context.Context) error
}

// maxWaiting limits the waiting tasks. A task has at most about pieceBytes.
const maxWaiting = 4

// newQueue starts a queue. It goes on after ctx ends, until stop.
func newQueue(ctx context.Context) *queue {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	q := &queue{tasks: make(chan task, maxWaiting), cancel: cancel, ended: make(chan struct{})}
	go q.work(ctx)
	return q
}

// work runs tasks until one fails or ctx ends.
func (q *queue) work(ctx context.Context) {
	defer close(q.ended)
	for {
		select {
		case t := <-q.tasks:
			if q.fault = t.run(ctx); q.fault == nil {
				continue
			}
			q.chunks = t.chunks
			if cause := context.Cause(ctx); cause != nil && !errors.Is(q.fault, cause) {
				q.fault = fmt.Errorf("%w: %w", cause, q.fault)
			}
		case <-ctx.Done():
			q.fault = context.Cause(ctx)
		}
		return
	}
}

// stop cancels the running task, drops the waiting ones, and waits for the end.
func (q *queue) stop() {
	q.cancel(context.Canceled)
	<-q.ended
}

// put queues a task when the queue has space. It returns the error of an earlier task.
func (q *queue) put(t task) error {
	select {
	case <-q.ended:
		return q.fault
	default:
	}
	select {
	case q.tasks <- t:
		return nil
	case <-q.ended:
		return q.fault
	}
}

// settle waits until every task has run.
func (q *queue) settle() error {
	done := make(chan struct{})
	if err := q.put(task{run: func(context.Context) error { close(done); return nil }}); err != nil {
		return err
	}
	select {
	case <-done:
		return nil
	case <-q.ended:
		return q.fault
	}
}

// failed returns how many chunks the failed task had; 0 when none failed.
func (q *queue) failed() int {
	select {
	case <-q.ended:
		return q.chunks
	default:
		return 0
	}
}
