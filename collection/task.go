package collection

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/store"
)

// The states of a task.
const (
	TaskWaiting = "waiting"
	TaskDone    = "done"
	TaskFailed  = "failed"
)

// Task is work that was accepted and is done later.
type Task struct {
	ID      string    `json:"id" doc:"The task's identifier."`
	State   string    `json:"state" enum:"waiting,done,failed" doc:"Whether it waits, is done, or was given up."`
	Created time.Time `json:"created" doc:"When it was accepted."`
	Ended   time.Time `json:"ended,omitzero" doc:"When it was done or given up."`
	Changes int       `json:"changes" doc:"How many documents it changes."`
	Results []Stored  `json:"results" doc:"The documents, once it is done."`
	Error   string    `json:"error,omitempty" doc:"Why it was given up: then nothing was changed, unless it says which changes are made."`

	owner string
}

// keptTask is a task on disk. Its file is named by its number, so that tasks are
// done in the order in which they were accepted.
type keptTask struct {
	Task
	Owner string       `json:"owner"`
	Work  []keptChange `json:"work,omitempty"`
	// Results are those of the task, and stand last: readEnded reads no further.
	Results []Stored `json:"results"`
}

// task is the task as it is remembered: without the results of one that is done, which
// [Collection.Task] finds in its file.
func (k *keptTask) task() *Task {
	t := k.Task
	if t.owner = k.Owner; t.State != TaskDone {
		t.Results = []Stored{}
	}
	return &t
}

type keptChange struct {
	ID          sheaf.ID       `json:"id"`
	Put         *DocumentInput `json:"put,omitempty"`
	IfMatch     string         `json:"if_match,omitempty"`
	IfNoneMatch string         `json:"if_none_match,omitempty"`
	Within      []string       `json:"within,omitempty"`
}

// tasks are the accepted tasks, waiting ones in order.
type tasks struct {
	mu sync.Mutex
	// byID are without the results of those that are done: a thousand tasks of a thousand
	// documents have more than memory is for, and they are in their files.
	byID map[string]*Task
	// all says that byID has all that are kept: until Work has found those of processes
	// before, and while another one is given documents, others are in their files only.
	all    bool
	queue  []queued
	newest int64 // time that begins an ID
	wake   chan struct{}
	// touched counts the waiting tasks that change a document; ended is closed,
	// and made anew, whenever a task ends.
	touched map[sheaf.ID]int
	ended   chan struct{}
}

// queued is a task that waits, and the documents that it changes.
type queued struct {
	id      string
	changes []sheaf.ID
}

// maxTasks is how many tasks wait at most, keptTasks how many ended ones are
// remembered.
const (
	maxTasks  = 1000
	keptTasks = 1000
)

func newTasks() *tasks {
	return &tasks{byID: map[string]*Task{}, wake: make(chan struct{}, 1), touched: map[sheaf.ID]int{},
		ended: make(chan struct{})}
}

// settle waits until no waiting task changes one of the documents: changes of a
// document are made in the order in which they were accepted.
func (t *tasks) settle(ctx context.Context, changes []Change) error {
	for {
		t.mu.Lock()
		waiting := slices.ContainsFunc(changes, func(ch Change) bool { return t.touched[ch.ID] > 0 })
		ended := t.ended
		t.mu.Unlock()
		if !waiting {
			return nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return fmt.Errorf("%w: a task that was accepted before changes the document", sheaf.ErrUnavailable)
		}
	}
}

func (t *tasks) counts() TaskCounts {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := TaskCounts{Waiting: len(t.queue)}
	for _, task := range t.byID {
		if task.State == TaskFailed {
			n.Failed++
		}
	}
	return n
}

// stampDigits is how many hexadecimal digits of a time begin the ID of a task.
const stampDigits = 16

// stamp is the time that begins the ID of the next task: tasks are made in the order of their
// IDs, also by a process that finds them, and also when the clock was set back.
func (t *tasks) stamp(now time.Time) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.newest = max(t.newest+1, now.UnixNano())
	return t.newest
}

func (t *tasks) add(task *Task, work []keptChange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID[task.ID] != nil {
		return // accepted since Work began to look
	}
	t.byID[task.ID] = task
	if task.State == TaskWaiting {
		waits := queued{id: task.ID}
		for i := range work {
			waits.changes = append(waits.changes, work[i].ID)
			t.touched[work[i].ID]++
		}
		at, _ := slices.BinarySearchFunc(t.queue, waits.id, func(q queued, id string) int {
			return strings.Compare(q.id, id)
		})
		t.queue = slices.Insert(t.queue, at, waits)
	}
	if stamp, err := strconv.ParseInt(task.ID[:min(len(task.ID), stampDigits)], 16, 64); err == nil {
		t.newest = max(t.newest, stamp)
	}
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Submit accepts changes that Work makes later. When it returns they are kept,
// whatever happens to this process.
func (c *Collection) Submit(ctx context.Context, grant access.Grant, owner string, changes []Change) (*Task, error) {
	changes, err := c.allowed(&grant, changes)
	if err != nil {
		return nil, err
	}
	if c.o.Tasks == "" {
		return nil, fmt.Errorf("accept a task: %w: the collection keeps none", sheaf.ErrUnsupported)
	}
	if err := c.own(); err != nil {
		return nil, err
	}
	defer c.disown()
	once := onceOf(ctx)
	if task, err := c.accepted(once); task != nil || err != nil {
		return task, err
	}
	if c.given.tasks.counts().Waiting >= maxTasks {
		return nil, fmt.Errorf("%w: %d tasks are waiting", sheaf.ErrUnavailable, maxTasks)
	}
	now := c.o.Now().UTC()
	random := make([]byte, 8)
	_, _ = rand.Read(random) // it never fails: see crypto/rand
	task := &Task{ID: fmt.Sprintf("%0*x-%s", stampDigits, c.given.tasks.stamp(now), hex.EncodeToString(random)),
		State: TaskWaiting, Created: now, Changes: len(changes), Results: []Stored{}, owner: owner}
	k := keptTask{Task: *task, Owner: owner, Results: task.Results}
	for _, ch := range changes {
		k.Work = append(k.Work, keptChange(ch))
	}
	shown := *task
	if err := once.Keep(Begun{Task: &shown}); err != nil {
		return nil, err
	}
	if err := c.keepTask(&k); err != nil {
		return nil, err
	}
	c.given.tasks.add(task, k.Work)
	return &shown, nil
}

func (c *Collection) keepTask(k *keptTask) error {
	content, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("keep task: %w", err)
	}
	if err := (vfs.Disk{}).MkdirAll(c.o.Tasks); err != nil {
		return fmt.Errorf("keep task: %w", err)
	}
	if err := vfs.WriteFile(filepath.Join(c.o.Tasks, k.ID+".json"), content, 0); err != nil {
		return err
	}
	return vfs.Disk{}.SyncDir(c.o.Tasks)
}

// Task is the task called id, as far as its owner asks; others, but for callers
// that may do everything, get the sheaf.ErrNotFound of one that does not exist. A grant that
// has ended is [ErrForbidden].
func (c *Collection) Task(grant access.Grant, owner, id string) (*Task, error) {
	if err := c.good(&grant); err != nil {
		return nil, err
	}
	shown, ok := c.given.tasks.get(id)
	mine := func(task *Task) bool { return task.owner == owner || grant.SeesAll() }
	if ok && shown.Results != nil && mine(&shown) {
		return &shown, nil
	}
	k, err := c.keptTask(id)
	switch {
	case err == nil && mine(k.task()):
		if !ok {
			shown = *k.task()
		}
		shown.Results = orEmpty(k.Results)
		return &shown, nil
	case err == nil, errors.Is(err, fs.ErrNotExist): // it is forgotten by now
	case ok && mine(&shown):
		c.given.unread(c.taskFile(id), err)
		return nil, err
	case !ok && grant.SeesAll():
		c.given.unread(c.taskFile(id), err)
		return nil, fmt.Errorf("%w: the task %q is kept and cannot be read: the status says why", sheaf.ErrUnavailable, id)
	}
	return nil, fmt.Errorf("%w: there is no task %q", sheaf.ErrNotFound, id)
}

// keptTask is the task called id as it is kept, whoever accepted it; fs.ErrNotExist when there
// is none, or none can be called so.
func (c *Collection) keptTask(id string) (*keptTask, error) {
	if c.o.Tasks == "" || strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyz-") != "" {
		return nil, fs.ErrNotExist
	}
	return readTask(c.o.Tasks, id+".json")
}

func (t *tasks) get(id string) (Task, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	task := t.byID[id]
	if task == nil {
		return Task{}, false
	}
	return *task, true
}

// Tasks are those that owner may ask for with Task, newest first, at most limit, without the
// documents of each. state is that of all of them, "" any.
func (c *Collection) Tasks(grant access.Grant, owner, state string, limit int) []Task {
	if c.good(&grant) != nil {
		return []Task{}
	}
	list := []Task{}
	for _, task := range c.tasksNow() {
		if (task.owner == owner || grant.SeesAll()) && (state == "" || task.State == state) {
			shown := *task
			shown.Results = []Stored{}
			list = append(list, shown)
		}
	}
	slices.SortFunc(list, func(a, b Task) int { return strings.Compare(b.ID, a.ID) }) // which begin with the time
	return list[:min(limit, len(list))]
}

// tasksNow is all tasks by ID.
func (c *Collection) tasksNow() map[string]*Task {
	t := c.given.tasks
	t.mu.Lock()
	all := t.all
	t.mu.Unlock()
	now := map[string]*Task{}
	if !all {
		// What cannot be read Work tells of, and the status.
		_ = eachTask(c.o.Tasks, func(k *keptTask) { now[k.ID] = k.task() }, func(string, error) {})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.Copy(now, t.byID)
	return now
}

// WillWork says that Work will be called: until that has indexed what was accepted, or finds
// no space for it, the collection is not ready. Who listens first and works then says so before.
func (c *Collection) WillWork() {
	c.given.recovering.Store(c.o.Ingest != nil && c.o.Documents != "")
}

// brokenRest is how long what could not be mended is left alone.
const brokenRest = 5 * time.Second

// recoverPatience is how long a change waits for what was accepted before, and recoverStep
// how often it looks.
const (
	recoverPatience = 10 * time.Second
	recoverStep     = 5 * time.Millisecond
)

// Work indexes what was accepted before this process began, then does the tasks
// in the order in which they were accepted, until ctx ends; then it returns nil. While
// another process does so for the same index, it waits, and the collection takes no documents.
// What the store does not take stays kept, and Status tells of it.
func (c *Collection) Work(ctx context.Context) error {
	if c.o.Ingest == nil || c.o.Documents == "" {
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
		c.given.full.Store(vfs.NoSpace(err) || vfs.Forbidden(err))
		return err
	})
	c.given.recovering.Store(false)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		c.seen(err)
		return fmt.Errorf("index what was accepted: %w", err)
	}
	var aside sync.WaitGroup
	defer aside.Wait()
	aside.Go(func() { c.keepVectors(ctx) })
	for ctx.Err() == nil {
		select {
		case <-c.given.broken:
			c.mend(ctx)
			continue
		default:
		}
		if id := c.given.tasks.next(); id != "" {
			c.do(ctx, id)
			continue
		}
		select {
		case <-c.given.tasks.wake:
		case <-c.given.broken:
			c.mend(ctx)
		case <-ctx.Done():
		}
	}
	return nil
}

// mend brings documents back to what they were of whose changes the store may have a part.
func (c *Collection) mend(ctx context.Context) {
	err := insist(ctx, func() error { return c.recover(ctx) })
	if err == nil || ctx.Err() != nil {
		return
	}
	c.notice(fmt.Errorf("bring back what a change left half made: %w: it is tried again in %v", err, brokenRest))
	time.AfterFunc(brokenRest, c.given.breaks)
}

func (c *Collection) notice(err error) {
	if c.o.Notice != nil {
		c.o.Notice(err)
	}
}

// insist repeats what fails for now, as when another process writes, there is no space or too
// many files are open,
// until ctx ends, and returns the last error.
func insist(ctx context.Context, work func() error) error {
	err := work()
	for wait := 100 * time.Millisecond; forNow(err) && ctx.Err() == nil; wait = min(2*wait, 5*time.Second) {
		select {
		case <-ctx.Done():
		case <-time.After(wait):
			err = work()
		}
	}
	return err
}

// forNow reports whether what failed may succeed later. A file that is larger than its file
// system lets one be never does.
func forNow(err error) bool {
	return errors.Is(err, sheaf.ErrUnavailable) || vfs.TooManyFiles(err) || vfs.Forbidden(err) ||
		vfs.NoSpace(err) && !errors.Is(err, syscall.EFBIG)
}

func (t *tasks) next() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 {
		return ""
	}
	return t.queue[0].id
}

// failed is a task as it is when it is given up without its file.
func (t *tasks) failed(id string, now time.Time, why string) *Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	task := *t.byID[id]
	task.State, task.Ended, task.Error = TaskFailed, now, why
	return &task
}

// do does the first task. Work that fails for now is tried again; work that is wrong is
// given up.
func (c *Collection) do(ctx context.Context, id string) {
	var k *keptTask
	err := insist(ctx, func() (err error) { k, err = readTask(c.o.Tasks, id+".json"); return err })
	if err != nil && ctx.Err() != nil {
		return // the next process does it
	}
	if err != nil {
		task := c.given.tasks.failed(id, c.o.Now().UTC(), c.toldOwner(id, err)+": it is looked at again when the "+
			"server starts")
		c.given.unread(c.taskFile(id), err)
		c.given.tasks.end(task)
		return
	}
	changes := make([]Change, len(k.Work))
	for i, w := range k.Work {
		changes[i] = Change(w)
	}
	var results []Stored
	err = insist(ctx, func() (err error) { results, err = c.writeTask(ctx, id, changes); return err })
	if err != nil && ctx.Err() != nil {
		return // the next process does it
	}
	k.State, k.Ended, k.Results, k.Work = TaskDone, c.o.Now().UTC(), orEmpty(results), nil
	if err != nil {
		k.State, k.Error, k.Results = TaskFailed, c.toldOwner(id, err), []Stored{}
	}
	err = insist(ctx, func() error { return c.keepTask(k) })
	if err != nil && ctx.Err() != nil {
		return // the next process finds that it was made
	}
	task := k.task()
	if err == nil {
		err = c.endBegun(id)
	} else {
		task.Results = k.Results // which are nowhere else
	}
	if err != nil {
		c.notice(fmt.Errorf("the end of the task %s is not kept: %w: the next server finds it again", id, err))
	}
	for _, old := range c.given.tasks.end(task) {
		if err := os.Remove(c.taskFile(old)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.notice(fmt.Errorf("forget task: %w", err))
		}
	}
}

// toldOwner is what the owner of a task is told of why it is given up: what is wrong with it,
// as who waits for an answer is told; what went wrong inside is for the log.
func (c *Collection) toldOwner(id string, why error) string {
	var rejected *RejectedError
	if errors.As(why, &rejected) || slices.ContainsFunc([]error{sheaf.ErrInvalid, sheaf.ErrNotFound, sheaf.ErrUnsupported,
		ErrConflict, ErrForbidden, ErrPrecondition}, func(kind error) bool { return errors.Is(why, kind) }) {
		return Told(why, &access.Grant{}).Error()
	}
	c.notice(fmt.Errorf("the task %s is given up: %w", id, why))
	return "the server failed; its log says why"
}

// end records the end of a task that waits, and returns those to forget.
func (t *tasks) end(task *Task) (forgotten []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.IndexFunc(t.queue, func(q queued) bool { return q.id == task.ID })
	for _, id := range t.queue[at].changes {
		if t.touched[id]--; t.touched[id] <= 0 {
			delete(t.touched, id)
		}
	}
	close(t.ended)
	t.ended = make(chan struct{})
	t.byID[task.ID] = task
	t.queue = slices.Delete(t.queue, at, at+1)
	var ended []string
	for id, other := range t.byID {
		if other.State != TaskWaiting {
			ended = append(ended, id)
		}
	}
	if len(ended) <= keptTasks {
		return nil
	}
	slices.Sort(ended)
	forgotten = ended[:len(ended)-keptTasks]
	for _, id := range forgotten {
		delete(t.byID, id)
	}
	return forgotten
}

func readTask(folder, name string) (*keptTask, error) {
	path := filepath.Join(folder, name)
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read task: %w", err)
	}
	var k keptTask
	if err := json.Unmarshal(content, &k); err != nil {
		return nil, fmt.Errorf("read task: %w: %s: %w", sheaf.ErrCorrupt, path, err)
	}
	if k.ID+".json" != name {
		return nil, fmt.Errorf("read task: %w: %s: it is that of the task %q", sheaf.ErrCorrupt, path, k.ID)
	}
	return &k, nil
}

// headBytes is more than a task takes on disk without its work and its results, but for
// one that was given up for a long reason.
const headBytes = 4 << 10

// readEnded is readTask without the results of a task that ended, if its file begins with all
// the rest: a thousand tasks of a thousand documents are read in the time of a thousand.
func readEnded(folder, name string) (*keptTask, error) {
	f, err := os.Open(filepath.Join(folder, name))
	if err != nil {
		return nil, fmt.Errorf("read task: %w", err)
	}
	defer f.Close()
	head := make([]byte, headBytes)
	n, _ := io.ReadFull(f, head) // of another file readTask says what is wrong
	if rest, _, ok := bytes.Cut(head[:n], []byte(`,"results":`)); ok {
		var k keptTask
		err := json.Unmarshal(append(slices.Clip(rest), '}'), &k)
		if err == nil && k.State != TaskWaiting && k.Owner != "" && k.ID+".json" == name {
			return &k, nil
		}
	}
	return readTask(folder, name)
}

// eachTask calls see with every task that is kept in a folder, as readEnded reads it, and failed
// with the file of each that cannot be read.
func eachTask(folder string, see func(*keptTask), failed func(file string, err error)) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		switch k, err := readEnded(folder, e.Name()); {
		case err == nil:
			see(k)
		case !errors.Is(err, fs.ErrNotExist): // else it was forgotten just now
			failed(filepath.Join(folder, e.Name()), err)
		}
	}
	return nil
}

func (c *Collection) taskFile(id string) string { return filepath.Join(c.o.Tasks, id+".json") }

// recover finds tasks that wait, and documents that are kept and not indexed as
// they are kept: after a crash, or when the index was made again. A file that cannot be read
// holds up no other: Status names it, and it stays where it is.
func (c *Collection) recover(ctx context.Context) error {
	for _, dir := range []string{c.o.Documents, c.o.Tasks} {
		if err := vfs.Sweep(dir, vfs.UnfinishedAge); err != nil {
			c.notice(fmt.Errorf("remove what a process left that was killed: %w", err))
		}
	}
	c.given.readAgain()
	err := eachTask(c.o.Tasks, func(k *keptTask) {
		task := k.task()
		c.given.tasks.add(task, k.Work)
		if task.State != TaskWaiting { // its end was kept, and no more
			if err := c.endBegun(k.ID); err != nil {
				c.notice(err)
			}
		}
	}, func(file string, err error) {
		c.notice(err)
		c.given.unread(file, err)
	})
	if err != nil {
		return err
	}
	c.given.tasks.mu.Lock()
	c.given.tasks.all = true
	c.given.tasks.mu.Unlock()
	return c.recoverDocuments(ctx)
}

// Recover indexes the documents that are kept and not indexed as they are kept, as Work does
// when it begins, for a program that runs no Work. Nothing is done while another process is
// given documents: that one did so.
func (c *Collection) Recover(ctx context.Context) error {
	if c.o.Ingest == nil || c.o.Documents == "" || c.own() != nil {
		return nil
	}
	defer c.disown()
	if err := c.recoverDocuments(ctx); err != nil {
		return err
	}
	return c.embedPending(ctx, &vectorLooks{})
}

func (c *Collection) recoverDocuments(ctx context.Context) error {
	if err := c.recoverBatch(ctx); err != nil {
		return err
	}
	tried := map[string]bool{}
	for ctx.Err() == nil {
		if more, err := c.recoverSome(ctx, tried); err != nil || !more {
			return err
		}
	}
	return nil
}

// recoverSome indexes some of the documents that are missing, and reports whether
// there were any that it has not tried. Others may write before and after.
func (c *Collection) recoverSome(ctx context.Context, tried map[string]bool) (more bool, err error) {
	give, err := c.take(ctx)
	if err != nil {
		return false, err
	}
	defer give()
	missing, err := c.missing()
	if err != nil {
		return false, err
	}
	var puts []ingest.Given
	var names []string
	size := 0
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		if tried[name] {
			continue
		}
		if size >= ingest.DefaultCommitBytes {
			break
		}
		tried[name] = true
		content, stored, err := c.stored(name)
		if err != nil {
			c.notice(err)
			c.given.unread(filepath.Join(c.o.Documents, name), err)
			continue
		}
		puts, names = append(puts, stored.Document.given(stored.ID, content)), append(names, name)
		size += len(content)
	}
	if len(puts) == 0 {
		return false, nil // also where nothing can be written
	}
	err = c.index(ctx, puts, nil)
	var partial *store.PartialError
	if err != nil && !errors.As(err, &partial) {
		return false, err
	}
	for i, name := range names {
		id := sheaf.DocumentID(puts[i].Tree, puts[i].Path)
		refused := partial != nil && partial.Rejected[id] != nil
		if refused && len(missing[name]) == 1 {
			c.given.leave(id, name, partial.Rejected[id])
			continue
		}
		for _, e := range missing[name] {
			gone, keep := e.Name(), name
			if refused { // it was never acknowledged: the version before it is next
				gone, keep = name, ""
			}
			if err := c.removeFile(gone, keep); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// missing are the files of documents that the index may not have as they are kept,
// with all versions of each. Of two, which a crash can leave, that of the catalog
// counts: the other was never acknowledged, or is replaced, and the store may have
// either, as it may of a document that it was about to get or lose. In an index that was made anew the newer one counts. It must be the
// caller's turn to write.
func (c *Collection) missing() (map[string][]fs.DirEntry, error) {
	entries, err := os.ReadDir(c.o.Documents)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kept := map[string][]fs.DirEntry{} // by key
	for _, e := range entries {
		if key, _, ok := strings.Cut(e.Name(), "-"); ok && strings.HasSuffix(e.Name(), ".json") { // else an unfinished file
			kept[key] = append(kept[key], e)
		}
	}
	names := map[string][]fs.DirEntry{}
	view := c.o.Catalog.View()
	defer view.Close()
	settings, pending := view.Settings(), view.Pending()
	for id, state := range view.Files() {
		key, name := fileKey(id), fileName(id, state.Hash)
		if list := kept[key]; settings.Root(id.Tree()) == "" &&
			slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == name }) {
			if len(list) > 1 || pending[id] == ingest.ReasonBegun {
				names[name] = list
			}
			delete(kept, key)
		}
	}
	for _, list := range kept {
		newest := list[0]
		for _, e := range list[1:] {
			older, err := older(newest, e)
			if err != nil {
				return nil, err
			}
			if older == newest {
				newest = e
			}
		}
		names[newest.Name()] = list
	}
	return names, view.Err()
}

func older(a, b fs.DirEntry) (fs.DirEntry, error) {
	x, err := a.Info()
	if err != nil {
		return nil, err
	}
	y, err := b.Info()
	if err != nil {
		return nil, err
	}
	if cmp.Compare(x.ModTime().UnixNano(), y.ModTime().UnixNano()) > 0 {
		return b, nil
	}
	return a, nil
}
