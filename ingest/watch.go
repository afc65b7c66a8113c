package ingest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"sheaf"
	"sheaf/vfs"
)

// How Watch times its runs. After the last event of a burst it waits settle, so
// that an editor has written, renamed and removed what belongs to one save; in
// a burst without end it waits patience. Together with a run of some tens of
// milliseconds that finds a saved note well within a second. Without events it
// looks every rescan, in case one went unseen.
const (
	settle   = 50 * time.Millisecond
	patience = 400 * time.Millisecond
	rescan   = time.Minute
)

// Where the system does not tell of changes, Watch looks every poll, and less
// often where a look takes long: it looks one part in pollShare of the time.
const (
	poll      = 500 * time.Millisecond
	pollShare = 20
)

// Watch keeps the index up to date until ctx ends, and then returns nil. It runs
// once at the start, whenever something below the folders changes, and now and
// then in case a change went unseen; onRun is told of every run, from one
// goroutine, but of an error that stays the same only once. Where the system does not tell of changes (too many folders, a
// network drive) it looks again and again instead, twice a second in folders
// that are looked through quickly.
func Watch(ctx context.Context, o Options, onRun func(*Report, error)) error {
	fault := ""
	w := watch{run: func() error {
		report, err := Run(ctx, o)
		same := err != nil && err.Error() == fault
		if fault = ""; err != nil {
			fault = err.Error()
		}
		if ctx.Err() == nil && !same {
			onRun(report, err)
		}
		return err
	}}
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		defer watcher.Close()
		w.events, w.faults = watcher.Events, watcher.Errors
		w.follow = func(folder string) bool {
			return watchFolders(watcher, folder, o.Walk.FollowLinks, map[string]bool{}) == nil
		}
	} else {
		w.follow = func(string) bool { return false }
	}
	for _, tree := range o.Trees {
		if tree.Root != "" && (vfs.Network(tree.Root) != "" || !w.follow(tree.Root)) {
			w.polls = true
		}
	}
	w.until(ctx)
	return nil
}

// watch decides when to run. It is apart from the file system, so that its times
// are tested on a clock of their own.
type watch struct {
	events chan fsnotify.Event
	faults chan error
	// follow has the events of a new folder come too; false when it cannot.
	follow func(folder string) bool
	run    func() error
	// polls says that events do not come from everywhere.
	polls bool
}

// until runs at once, and then when it is due, until ctx ends.
func (w *watch) until(ctx context.Context) {
	due := time.NewTimer(w.look())
	defer due.Stop()
	var first time.Time // of the events that are waiting
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-w.events:
			if e.Has(fsnotify.Create) && !w.follow(e.Name) {
				w.polls = true
			}
			if e.Op == fsnotify.Chmod {
				continue
			}
			now := time.Now()
			if first.IsZero() {
				first = now
			}
			due.Reset(max(0, min(settle, patience-now.Sub(first))))
		case <-w.faults:
			// Events were lost: look again soon.
			due.Reset(settle)
		case <-due.C:
			first = time.Time{}
			due.Reset(w.look())
		}
	}
}

// look runs and says when to run again when nothing happens: soon when another
// process wrote the index meanwhile.
func (w *watch) look() time.Duration {
	began := time.Now()
	err := w.run()
	if !w.polls && !errors.Is(err, sheaf.ErrUnavailable) {
		return rescan
	}
	return min(rescan, max(poll, (pollShare-1)*time.Since(began)))
}

// watchFolders watches a folder and those below it. A file, or a folder that is
// gone meanwhile, is no error. With links, it also watches where links lead: the
// folder, or the one that a file lies in. seen is where links led before.
func watchFolders(w *fsnotify.Watcher, root string, links bool, seen map[string]bool) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == root && !errors.Is(err, fs.ErrNotExist):
			return err
		case err != nil:
			return nil
		case links && d.Type()&fs.ModeSymlink != 0 && !skippedFolders[d.Name()]:
			return watchTarget(w, path, seen)
		case !d.IsDir():
			return nil
		case path != root && skippedFolders[d.Name()]:
			return filepath.SkipDir
		}
		return watchFolder(w, path)
	})
}

// watchTarget watches where a link leads; one that leads nowhere is no error.
func watchTarget(w *fsnotify.Watcher, link string, seen map[string]bool) error {
	target, err := filepath.EvalSymlinks(link)
	if err != nil || seen[target] {
		return nil
	}
	seen[target] = true
	info, err := os.Stat(target)
	switch {
	case err != nil:
		return nil
	case vfs.Network(target) != "":
		return errors.New("a network drive does not tell of changes")
	case info.IsDir():
		return watchFolders(w, target, true, seen)
	}
	return watchFolder(w, filepath.Dir(target))
}

func watchFolder(w *fsnotify.Watcher, path string) error {
	if err := w.Add(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
