package collection

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/collection/intake"
	"sheaf/index/vfs"
)

// These are the states of a task.
const (
	TaskWaiting = "waiting"
	TaskDone    = "done"
	TaskFailed  = "failed"
)

// Task is accepted work that runs later.
type Task struct {
	ID      string    `json:"id" doc:"The task's identifier."`
	State   string    `json:"state" enum:"waiting,done,failed" doc:"Whether the task waits, is done or failed."`
	Created time.Time `json:"created" doc:"When the task was accepted."`
	Ended   time.Time `json:"ended,omitzero" doc:"When the task was done or failed."`
	Changes int       `json:"changes" doc:"How many documents the task changes."`
	Results []Stored  `json:"results" doc:"The documents, when the task is done."`
	Error   string    `json:"error,omitempty" doc:"Why it failed. Nothing was changed unless this text says so."`
}

// keptTask is the head of a task in intake.db: its state without changes and results. intake.db stores the changes of a
// waiting task, and the results of an ended one, separately.
type keptTask struct {
	Task
	Owner string `json:"owner"`
}

func readTask(tx *intake.Tx, id string) (*keptTask, error) {
	var k keptTask
	if ok, err := tx.ReadTask(id, intake.Head, &k); !ok || err != nil {
		return nil, err
	}
	return &k, nil
}

// withEnd returns the head of a task that has ended. If failure is "", the task is done, otherwise it has failed.
func (k *keptTask) withEnd(failure string, results []Stored, now time.Time) *keptTask {
	out := *k
	out.State, out.Ended, out.Error, out.Results = TaskDone, now, failure, orEmpty(results)
	if failure != "" {
		out.State = TaskFailed
	}
	return &out
}

// write stores an ended task, unless the task was removed. If there are too many ended tasks, it removes the oldest.
func (k *keptTask) write(tx *intake.Tx) error {
	if !tx.HasTask(k.ID, intake.Head) {
		return nil // the task is already removed
	}
	if err := k.putPart(tx, intake.Results, k.Results); err != nil {
		return err
	}
	return errors.Join(tx.DropTask(k.ID, intake.Work), forgetTasks(tx))
}

// putPart stores the head of a task, and one other part of it: the changes or the results.
func (k *keptTask) putPart(tx *intake.Tx, part intake.Part, value any) error {
	head := *k
	head.Results = []Stored{}
	return errors.Join(tx.WriteTask(k.ID, intake.Head, &head), tx.WriteTask(k.ID, part, value))
}

// forgetTasks removes the oldest ended tasks, so that only keptTasks remain.
func forgetTasks(tx *intake.Tx) error {
	var ended []string
	for id := range tx.Tasks() {
		if !tx.HasTask(id, intake.Work) {
			ended = append(ended, id)
		}
	}
	var err error
	for _, id := range ended[:max(0, len(ended)-keptTasks)] {
		err = errors.Join(err, tx.DropTask(id, intake.Head, intake.Results))
	}
	return err
}

// queue holds the waiting tasks, oldest first.
type queue struct {
	mu      sync.Mutex
	waiting []queued
	wake    chan struct{}
	ended   chan struct{} // closed and replaced whenever a task ends
}

// queued is a waiting task with the documents that it changes.
type queued struct {
	id      string
	changes map[sheaf.ID]bool
}

// maxTasks limits the waiting tasks. keptTasks limits the ended tasks that are stored.
const (
	maxTasks  = 1000
	keptTasks = 1000
)

// waitForEarlier waits until no waiting task changes one of the documents in changes. So changes of a document happen
// in the order in which they were accepted.
func (q *queue) waitForEarlier(ctx context.Context, changes []Change) error {
	for {
		q.mu.Lock()
		waiting := slices.ContainsFunc(q.waiting, func(task queued) bool {
			return slices.ContainsFunc(changes, func(ch Change) bool { return task.changes[ch.ID] })
		})
		ended := q.ended
		q.mu.Unlock()
		if !waiting {
			return nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return fmt.Errorf("%w: an earlier task still changes the document: repeat this in a moment", sheaf.ErrUnavailable)
		}
	}
}

// settle waits for earlier tasks that change the same documents. If recovery still runs after the start, settle first
// waits until the index has all documents that were accepted earlier.
func (c *Collection) settle(ctx context.Context, changes []Change) error {
	for began := time.Now(); c.given.recovering.Load(); {
		if why := c.given.stuck.Load(); why != nil && errors.Is(*why, intake.ErrDamaged) {
			return intake.ErrDamaged
		}
		if time.Since(began) > recoverPatience {
			return fmt.Errorf("%w: accepted documents are still being indexed: repeat this when /readyz answers 200",
				sheaf.ErrUnavailable)
		}
		if err := pause(ctx, recoverStep); err != nil {
			return err
		}
	}
	return c.given.queue.waitForEarlier(ctx, changes)
}

func (q *queue) add(id string, work []Change) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at, queuedNow := slices.BinarySearchFunc(q.waiting, id, func(task queued, id string) int {
		return strings.Compare(task.id, id)
	})
	if queuedNow {
		return
	}
	task := queued{id, map[sheaf.ID]bool{}}
	for i := range work {
		task.changes[work[i].ID] = true
	}
	q.waiting = slices.Insert(q.waiting, at, task)
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// first returns the ID of the oldest task, or "" if the queue is empty. It also returns the number of waiting tasks.
func (q *queue) first() (id string, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > 0 {
		id = q.waiting[0].id
	}
	return id, len(q.waiting)
}

func (q *queue) end(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(task queued) bool { return task.id == id })
	close(q.ended)
	q.ended = make(chan struct{})
}

// stampDigits is the number of hexadecimal digits at the beginning of a task's ID. These digits are the time.
const stampDigits = 16

// nextTask returns the ID for a task that is accepted at the time now. Tasks run in the order of their IDs. newest is
// the greatest ID so far. The result is greater than newest, even if the clock was set back.
func nextTask(newest string, now time.Time) string {
	stamp := now.UnixNano()
	if last, err := strconv.ParseInt(newest[:min(len(newest), stampDigits)], 16, 64); err == nil {
		stamp = max(stamp, last+1)
	}
	random := make([]byte, 8)
	_, _ = rand.Read(random) // crypto/rand never fails
	return fmt.Sprintf("%0*x-%s", stampDigits, stamp, hex.EncodeToString(random))
}

// Submit accepts changes, which Work makes later. When Submit returns, the changes are durable. The first [Key] makes
// the request safe to repeat; Submit ignores other keys.
func (c *Collection) Submit(ctx context.Context, grant access.Grant, owner string, changes []Change,
	keys ...Key) (*Task, error) {
	changes, err := c.checkChanges(&grant, changes)
	if err != nil {
		return nil, err
	}
	key, before, err := c.useKey(ctx, keys)
	if err != nil {
		return nil, err
	}
	if before != nil {
		return before.Task, nil
	}
	defer key.release()
	if err := c.acquireOwner(); err != nil {
		return nil, err
	}
	defer c.disown()
	if err := c.prepare(ctx); err != nil {
		return nil, err
	}
	if _, waiting := c.given.queue.first(); waiting >= maxTasks {
		return nil, fmt.Errorf("%w: %d tasks are waiting: repeat this later", sheaf.ErrUnavailable, maxTasks)
	}
	now := c.o.Now().UTC()
	k := keptTask{Task: Task{State: TaskWaiting, Created: now, Changes: len(changes), Results: []Stored{}}, Owner: owner}
	err = c.given.file.Update(func(tx *intake.Tx) error {
		k.ID = nextTask(tx.NewestTask(), now)
		task := k.Task
		return errors.Join(k.putPart(tx, intake.Work, changes), key.putResults(tx, keyRecord{Done: true, Task: &task}))
	})
	if err != nil {
		return nil, fmt.Errorf("accept a task: %w", err)
	}
	c.given.queue.add(k.ID, changes)
	return &k.Task, nil
}

// Task returns the task called id, if the caller owns the task or sees everything. Otherwise the error is
// sheaf.ErrNotFound, as for a task that does not exist. If the grant has expired, the error is [ErrForbidden].
func (c *Collection) Task(grant access.Grant, owner, id string) (*Task, error) {
	if err := c.notExpired(&grant); err != nil {
		return nil, err
	}
	var k *keptTask
	err := c.given.file.View(func(tx *intake.Tx) (err error) {
		if k, err = readTask(tx, id); err == nil && k != nil && k.State == TaskDone {
			_, err = tx.ReadTask(id, intake.Results, &k.Results)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case k == nil, k.Owner != owner && !grant.SeesAll():
		return nil, fmt.Errorf("%w: there is no task %q", sheaf.ErrNotFound, id)
	}
	return &k.Task, nil
}

// Tasks lists the tasks that Task would return to this caller, newest first, and at most limit. The parameter state
// selects the tasks in one state; "" selects all. The tasks in the list have no results.
func (c *Collection) Tasks(grant access.Grant, owner, state string, limit int) []Task {
	list := []Task{}
	if c.notExpired(&grant) != nil {
		return list
	}
	err := c.eachTask(func(k *keptTask) {
		if (k.Owner == owner || grant.SeesAll()) && (state == "" || k.State == state) {
			list = append(list, k.Task)
		}
	})
	if err != nil {
		c.notice(err)
	}
	slices.Reverse(list)
	return list[:min(limit, len(list))]
}

// eachTask calls the function see with the head of each task, oldest first.
func (c *Collection) eachTask(see func(*keptTask)) error {
	return c.given.file.View(func(tx *intake.Tx) error {
		for id := range tx.Tasks() {
			k, err := readTask(tx, id)
			if err != nil {
				return err
			}
			see(k)
		}
		return nil
	})
}

// WillWork announces a call of Work. The collection is not ready until Work has indexed the accepted documents, or
// finds that the disk is full. A server that accepts requests before it calls Work calls WillWork first.
func (c *Collection) WillWork() {
	c.given.recovering.Store(c.given.file != nil)
}

// brokenRest is the time between two attempts to repair after a failed change.
const brokenRest = 5 * time.Second

// recoverPatience is the longest time that a change waits for earlier accepted documents. After this time, the change
// fails with sheaf.ErrUnavailable. recoverStep is the time between checks.
const (
	recoverPatience = 10 * time.Second
	recoverStep     = 5 * time.Millisecond
)

// Work first indexes the documents that earlier processes accepted. Then it runs tasks in order of acceptance. When ctx
// ends, it returns nil. While another process accepts documents for the index, Work waits, and this collection accepts
// none. If the store refuses a document, the document stays in intake.db, and Status lists it.
func (c *Collection) Work(ctx context.Context) error {
	if c.given.file == nil {
		return nil
	}
	c.WillWork()
	if !c.ownWhenFree(ctx) {
		return nil
	}
	defer c.disown()
	c.WillWork()
	err := insist(ctx, func() error {
		err := c.recover(ctx)
		c.given.stuck.Store(nil)
		if vfs.NoSpace(err) || vfs.Forbidden(err) || errors.Is(err, intake.ErrDamaged) {
			c.given.stuck.Store(&err)
		}
		return err
	})
	c.given.recovering.Store(false)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		c.noteDamage(err)
		return fmt.Errorf("index accepted documents: %w", err)
	}
	var aside sync.WaitGroup
	defer aside.Wait()
	aside.Go(func() { c.keepVectors(ctx) })
	if err := c.given.file.Compact(); err != nil {
		c.notice(fmt.Errorf("compact the file of given documents: %w", err))
	}
	for ctx.Err() == nil {
		id, _ := c.given.queue.first()
		if id != "" && len(c.given.broken) == 0 {
			c.do(ctx, id)
			continue
		}
		select {
		case <-c.given.queue.wake:
		case <-c.given.broken:
			c.mend(ctx)
		case <-ctx.Done():
		}
	}
	return nil
}

// mend indexes documents again after a failed change, because the store may have a part of the change.
func (c *Collection) mend(ctx context.Context) {
	err := insist(ctx, func() error { return c.recover(ctx) })
	if err == nil || ctx.Err() != nil {
		return
	}
	c.notice(fmt.Errorf("finish an interrupted change: %w: next try in %v", err, brokenRest))
	time.AfterFunc(brokenRest, c.given.breaks)
}

func (c *Collection) notice(err error) {
	if c.o.Notice != nil {
		c.o.Notice(err)
	}
}

// insist calls the function work until it succeeds or its error is permanent, or ctx ends. It returns the last error.
func insist(ctx context.Context, work func() error) error {
	err := work()
	for wait := 100 * time.Millisecond; forNow(err) && pause(ctx, wait) == nil; wait = min(2*wait, 5*time.Second) {
		err = work()
	}
	return err
}

// forNow reports whether an error is temporary: another process writes, access is denied, or the system lacks space
// or files. If a file is too large for its file system, the error is permanent.
func forNow(err error) bool {
	return errors.Is(err, sheaf.ErrUnavailable) || vfs.TooManyFiles(err) || vfs.Forbidden(err) ||
		vfs.NoSpace(err) && !errors.Is(err, syscall.EFBIG)
}

// do runs the task called id. It repeats the task after a temporary error. Any other error ends the task as failed.
func (c *Collection) do(ctx context.Context, id string) {
	err := insist(ctx, func() (err error) {
		var k *keptTask
		var changes []Change
		if k, changes, err = c.work(id); k == nil || err != nil {
			return err
		}
		give, err := c.take(ctx)
		if err == nil {
			defer give()
			_, err = c.carryOut(ctx, changes, entry{task: k})
		}
		return err
	})
	if err != nil && ctx.Err() != nil {
		return // the next process runs the task
	}
	if err != nil {
		k, _, unread := c.work(id)
		switch {
		case unread != nil:
			c.notice(fmt.Errorf("the task %s cannot be read: %w: the server tries again when it starts", id, unread))
		case k != nil: // it has not ended yet
			if err := c.given.file.Update(k.withEnd(c.ownerText(id, err), nil, c.o.Now().UTC()).write); err != nil {
				c.notice(err)
			}
		}
	}
	c.given.queue.end(id)
}

// work reads a waiting task and its changes. If no task with this ID waits, k is nil.
func (c *Collection) work(id string) (k *keptTask, changes []Change, err error) {
	err = c.given.file.View(func(tx *intake.Tx) (err error) {
		if k, err = readTask(tx, id); err == nil && k != nil {
			if k.State != TaskWaiting {
				k = nil
				return nil
			}
			_, err = tx.ReadTask(id, intake.Work, &changes)
		}
		return err
	})
	return k, changes, err
}

// ownerText returns the text of a failed task for the owner of the task. If the request is at fault, the text says why.
// If the server is at fault, only the log says why.
func (c *Collection) ownerText(id string, why error) string {
	kinds := []error{sheaf.ErrInvalid, sheaf.ErrNotFound, sheaf.ErrUnsupported, ErrConflict, ErrForbidden, ErrPrecondition}
	if errors.As(why, new(*RejectedError)) ||
		slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(why, kind) }) {
		return Told(why, &access.Grant{}).Error()
	}
	c.notice(fmt.Errorf("the task %s failed: %w", id, why))
	return "the server failed; its log says why"
}
