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

// How Watch times its runs. After the last event of a burst it waits settle, so
// that an editor has written, renamed and removed what belongs to one save; in
// a burst without end it waits patience. Together with a run of some tens of
// milliseconds that finds a saved note well within a second. Without events it
// looks every rescan, in case one went unseen.
//
// When only rights or times changed, as other programs change those of many files
// that stay the same, it looks a second later.
const (
	settle   = 50 * time.Millisecond
	patience = 400 * time.Millisecond
	rights   = time.Second
	rescan   = time.Minute
)

// Where the system does not tell of changes, Watch looks every poll, and less
// often where a look takes long: it looks one part in pollShare of the time.
const (
	poll      = 500 * time.Millisecond
	pollShare = 20
)

// lockPatience is how long another process may write before somebody is told of it: several
// that watch a folder all want to index what is saved there, and one does; and what is given
// waits for that.
const lockPatience = 5 * time.Second

// Watch keeps the index up to date until ctx ends, and then returns nil. It runs
// once at the start, whenever something below the folders changes or another process
// adds or removes one, and now and then in case a change went unseen; onRun, which may be nil, is told of every run, from one
// goroutine, but of an error that stays the same only once, and not of one that found
// another process writing, which is tried again soon, unless that takes long. Where the system does not tell of changes (too many folders, a
// network drive) it looks again and again instead, twice a second in folders
// that are looked through quickly.
func Watch(ctx context.Context, o Options, onRun func(*Report, error)) error {
	if err := o.ready(); err != nil {
		return err
	}
	if onRun == nil {
		onRun = func(*Report, error) {}
	}
	f := watched{stale: true}
	o.Walk.watch, o.Walked = f.add, nil // each run walks, and watches what it walks
	recorded := func() []catalog.Tree {
		_ = o.Catalog.Follow() // a run says what is wrong with it
		view := o.Catalog.View()
		defer view.Close()
		return view.Settings().Trees
	}
	var trees []catalog.Tree // as they were recorded when the last run began
	fault, locked := "", time.Time{}
	w := watch{events: make(chan struct{}, 1), rights: make(chan struct{}, 1), faults: make(chan struct{}, 1)}
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
		// Nothing tells that a folder is back.
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
	w.until(ctx)
	return nil
}

// faultOf tells faults from each other: an error in words, or what the system says of a file or
// a connection, which may be another each time that the same is tried; "" for none.
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

// watched is what the walks of a watch came upon.
type watched struct {
	watch  func(folder string) error // has the events of a folder come
	mu     sync.Mutex
	whole  map[string]bool // folders that were entered
	files  map[string]bool // that links lead to
	silent map[string]bool // those of them that do not tell of all changes
	stale  bool            // some events may come under another name, or not at all
	fault  string          // why in this walk events do not come from everywhere
	unseen string          // and why in the last one that went to its end
}

// begin is to be called before a walk. It reports whether that is to watch anew.
func (f *watched) begin() (anew bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = ""
	anew, f.stale = f.stale, false
	return anew
}

// listen gives to a watch what happens to what the next walk comes upon, until unlisten is
// called. Nobody may walk meanwhile.
func (f *watched) listen(w *watch) (unlisten func()) {
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

// add has the events of a folder come, or those of a file that a link leads to. What was
// removed and made again is watched again: all is added in each walk. What is gone
// meanwhile is no error.
func (f *watched) add(path string, isDir bool) {
	if path == "" {
		return // a link that leads nowhere
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
			return // the folder above tells when its rights change
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

// end is to be called after a walk, and says why events do not come from everywhere, "" when
// they do. One that was not whole, or was none, tells only of faults.
func (f *watched) end(whole bool) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault != "" || whole {
		f.unseen = f.fault
	}
	return f.unseen
}

// pass gives what happens to a watch until the watcher is closed. It never waits for a
// run, which adds folders meanwhile: one that waits stands for all.
func (f *watched) pass(watcher *fsnotify.Watcher, w *watch) {
	for {
		to := w.events
		select {
		case e, ok := <-watcher.Events:
			if !ok {
				return
			}
			if !f.matters(e.Name) {
				continue
			}
			if e.Has(fsnotify.Rename) {
				f.renamed(e.Name)
			}
			if e.Op == fsnotify.Chmod {
				to = w.rights
			}
		case _, ok := <-watcher.Errors:
			if !ok {
				return
			}
			to = w.faults
			f.renamed("") // perhaps
		}
		select {
		case to <- struct{}{}:
		default:
		}
	}
}

// renamed has the next walk watch anew when a folder was renamed, which is not known for "":
// events from those below it come under their old names, and once others have these they no
// longer come at all.
func (f *watched) renamed(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stale = f.stale || name == "" || f.whole[name]
}

// matters reports whether an event is of what the walks came upon, and not of another
// file in the folder of one that a link leads to.
func (f *watched) matters(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.whole[name] || f.whole[filepath.Dir(name)] || f.files[name]
}

// watch decides when to run. It is apart from the file system, so that its times
// are tested on a clock of their own.
type watch struct {
	events chan struct{} // something changed
	rights chan struct{} // or only rights or times did
	faults chan struct{} // some events were lost
	run    func() error
	// others reports whether another process changed which folders there are since the
	// last run: nothing tells of changes in one that no run has walked. It may be nil.
	others func() bool
	// polls says that events do not come from everywhere.
	polls bool
}

// until runs at once, and then when it is due, until ctx ends.
func (w *watch) until(ctx context.Context) {
	rest := w.look()
	next := time.Now().Add(rest)
	due := time.NewTimer(rest)
	defer due.Stop()
	wait := func(d time.Duration) {
		next = time.Now().Add(d)
		due.Reset(d)
	}
	var asks <-chan time.Time
	if w.others != nil {
		ticker := time.NewTicker(poll)
		defer ticker.Stop()
		asks = ticker.C
	}
	var first time.Time // of the events that are waiting
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.events:
			now := time.Now()
			if first.IsZero() {
				first = now
			}
			wait(max(0, min(settle, patience-now.Sub(first))))
		case <-w.rights:
			if time.Until(next) > rights {
				wait(rights)
			}
		case <-w.faults:
			// Events were lost: look again soon.
			wait(settle)
		case <-asks:
			if w.others() {
				wait(0)
			}
		case <-due.C:
			first = time.Time{}
			wait(w.look())
		}
	}
}

// look runs and says when to run again when nothing happens: soon when it failed, as when
// another process wrote the index meanwhile, when a folder is gone, or when there is no space:
// nothing tells that it is back, or that there is some.
func (w *watch) look() time.Duration {
	began := time.Now()
	err := w.run()
	if !w.polls && err == nil {
		return rescan
	}
	return min(rescan, max(poll, (pollShare-1)*time.Since(began)))
}
