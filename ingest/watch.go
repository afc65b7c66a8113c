package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"sheaf/index/catalog"
	"sheaf/index/vfs"
)

// These are times of Watch. After the last event of a burst, Watch waits quietTime, because editors write, rename and
// remove files in one save. In an endless burst, Watch waits at most patience. A run takes some tens of milliseconds,
// so search finds a saved note well within a second. Without events, Watch indexes again after a minute (rescan),
// because the system may lose an event.
const (
	quietTime = 50 * time.Millisecond
	patience  = 400 * time.Millisecond
	rescan    = time.Minute
)

// poll and pollShare apply where the system does not report changes. Watch then indexes again after half a second
// (poll). If runs take long, it waits longer, so that runs take at most one part in pollShare of the time.
const (
	poll      = 500 * time.Millisecond
	pollShare = 20
)

// lockPatience is the longest time that another process may write before Watch reports it. Usually that process indexes
// the same saved file.
const lockPatience = 5 * time.Second

// Watch keeps the index up to date until ctx ends, then returns nil. It returns an error only for invalid options.
// Watch runs at the start, after a change in the folders, and after another process adds or removes a folder. It also
// runs every minute, as the system may lose events. Where the system does not report changes (too many folders, a
// network drive), Watch polls, up to twice a second.
//
// Watch calls onRun after a run, from one goroutine. onRun may be nil. Watch does not call onRun after these runs:
//   - a run that fails with the same error as the run before
//   - a run that fails because another process has been writing for less than lockPatience
//   - a run that ends after ctx
func Watch(ctx context.Context, o Options, onRun func(*Report, error)) error {
	if err := o.prepare(); err != nil {
		return err
	}
	if onRun == nil {
		onRun = func(*Report, error) {}
	}
	f := watchFindings{stale: true}
	o.Walk.watch, o.Walked = f.add, nil // each run walks the folders again and watches them
	recorded := func() []catalog.Tree {
		_ = o.Catalog.Follow() // the run reports its error
		view := o.Catalog.View()
		defer view.Close()
		return view.Settings().Trees
	}
	var trees []catalog.Tree // the recorded trees when the last run began
	fault, locked := "", time.Time{}
	w := watch{events: make(chan struct{}, 1)}
	if o.Known != nil {
		w.others = func() bool { return !slices.Equal(recorded(), trees) }
	}
	unlisten := func() {}
	defer func() { unlisten() }()
	w.run = func() error {
		trees = recorded()
		if f.begin() {
			unlisten()
			unlisten = f.listen(&w)
		}
		report, err := Run(ctx, o)
		if o.Progress != nil {
			o.Progress(Progress{})
		}
		unseen := f.end(err == nil)
		if report != nil {
			report.Unseen = unseen
		}
		// No event comes when a missing folder returns.
		w.polls = unseen != "" || report != nil && len(report.Gone) > 0
		if !errors.Is(err, vfs.ErrLocked) {
			locked = time.Time{}
		} else if locked.IsZero() {
			locked = time.Now()
		}
		if !locked.IsZero() && time.Since(locked) < lockPatience {
			return err
		}
		before := fault
		fault = faultOf(err)
		if ctx.Err() == nil && (err == nil || fault != before) {
			onRun(report, err)
		}
		return err
	}
	w.runUntil(ctx)
	return nil
}

// faultOf returns a text that identifies an error. It drops names of files and connections, which differ at each
// attempt. For a nil error it returns "".
func faultOf(err error) string {
	at, system := (*fs.PathError)(nil), syscall.Errno(0)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &system):
		return system.Error()
	case errors.As(err, &at):
		return at.Err.Error()
	}
	return err.Error()
}

// watchFindings records what the walks of a watch found, and subscribes to events.
type watchFindings struct {
	watch  func(folder string) error // subscribes to the events of a folder
	mu     sync.Mutex
	whole  map[string]bool // folders that were entered
	files  map[string]bool // targets of links
	silent map[string]bool // folders and files with changes that the system does not report
	stale  bool            // some events may come under another name, or not at all
	fault  string          // why this walk could not subscribe to all events
	unseen string          // fault of the last complete walk
}

// The caller must call begin before a walk. If again is true, the walk must subscribe to all events again.
func (f *watchFindings) begin() (again bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = ""
	again, f.stale = f.stale, false
	return again
}

// listen makes the next walks subscribe to the events of their folders, and sends these events to w. The caller calls
// unlisten to end this. No walk may run during either call.
func (f *watchFindings) listen(w *watch) (unlisten func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.whole, f.files, f.silent = map[string]bool{}, map[string]bool{}, map[string]bool{}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		f.watch, f.stale = func(string) error { return err }, true
		return func() {}
	}
	f.watch = watcher.Add
	done := make(chan struct{})
	go func() { f.pass(watcher, w); close(done) }()
	return func() { _ = watcher.Close(); <-done }
}

// add subscribes to the events of a folder, or of the target of a link. Each walk adds every folder again, because a
// folder that was removed and created again needs a new subscription. A missing folder is not an error.
func (f *watchFindings) add(path string, isDir bool) {
	if path == "" {
		return // a broken link
	}
	f.mu.Lock()
	set, folder := f.whole, path
	if !isDir {
		set, folder = f.files, filepath.Dir(path)
	}
	known, silent, above := set[path], f.silent[path], isDir && f.whole[filepath.Dir(path)]
	set[path] = true
	f.mu.Unlock()
	if !known {
		silent = vfs.Silent(folder) != ""
	}
	why := "other machines may write there"
	if !silent {
		err := f.watch(folder)
		switch {
		case err == nil || errors.Is(err, fs.ErrNotExist):
			return
		case errors.Is(err, fs.ErrPermission) && above:
			return // the folder above reports when the rights of this folder change
		case errors.Is(err, syscall.ENOSPC):
			why = "limit fs.inotify.max_user_watches"
		default:
			why = err.Error()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.silent[path] = silent
	if f.fault == "" {
		f.fault = fmt.Sprintf("%s: %s", folder, why)
	}
}

// The caller must call end after a walk. end returns why the system does not report some events, or "" if it reports
// all. whole says that the walk did not fail. A failed walk keeps the earlier reason, unless it found a new one.
func (f *watchFindings) end(whole bool) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault != "" || whole {
		f.unseen = f.fault
	}
	return f.unseen
}

// pass sends events to a watch until the watcher is closed. If an event already waits, pass drops the new one, because
// one waiting event is enough. So pass never blocks, and a run can add folders meanwhile.
func (f *watchFindings) pass(watcher *fsnotify.Watcher, w *watch) {
	for {
		select {
		case e, ok := <-watcher.Events:
			if !ok {
				return
			}
			if !f.matters(e.Name) {
				continue
			}
			if e.Has(fsnotify.Rename) {
				f.resubscribe(e.Name)
			}
		case _, ok := <-watcher.Errors: // events were lost
			if !ok {
				return
			}
			f.resubscribe("") // some folder may be renamed
		}
		select {
		case w.events <- struct{}{}:
		default:
		}
	}
}

// resubscribe makes the next walk subscribe to all events again, because the folder at path was renamed. It does
// nothing if no walk entered this folder. If path is "", any folder may have been renamed. Without new subscriptions,
// events of a renamed folder would come under its old path, or not at all.
func (f *watchFindings) resubscribe(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stale = f.stale || path == "" || f.whole[path]
}

// matters reports whether an event for name concerns a folder or file that a walk found. A folder that no walk entered
// may contain the target of a link. In such a folder, only events of the target matter.
func (f *watchFindings) matters(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.whole[name] || f.whole[filepath.Dir(name)] || f.files[name]
}

// watch decides when to index. It uses no file system, so tests can simulate the clock.
type watch struct {
	events chan struct{} // something changed, or some events were lost
	run    func() error
	// others reports whether another process added or removed a folder since the last run. A new folder has no
	// subscription, so it sends no events. others may be nil.
	others func() bool
	// polls says that the system does not report all events.
	polls bool
}

// runUntil calls look at once, and again whenever a run is due, until ctx ends. A run is due soon after an event, and
// when another process has added or removed a folder.
func (w *watch) runUntil(ctx context.Context) {
	due := time.NewTimer(w.look())
	defer due.Stop()
	var asks <-chan time.Time
	if w.others != nil {
		ticker := time.NewTicker(poll)
		defer ticker.Stop()
		asks = ticker.C
	}
	var first time.Time // time of the first waiting event
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.events:
			now := time.Now()
			if first.IsZero() {
				first = now
			}
			due.Reset(max(0, min(quietTime, patience-now.Sub(first))))
		case <-asks:
			if w.others() {
				due.Reset(0)
			}
		case <-due.C:
			first = time.Time{}
			due.Reset(w.look())
		}
	}
}

// look calls the function run, and returns how long to wait before the next call without an event. After an error, such
// as a missing folder or a full disk, the wait is short.
func (w *watch) look() time.Duration {
	began := time.Now()
	err := w.run()
	if !w.polls && err == nil {
		return rescan
	}
	return min(rescan, max(poll, (pollShare-1)*time.Since(began)))
}
