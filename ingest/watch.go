package ingest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// How Watch times its runs: after the last event of a burst it waits settle, but
// never longer than patience; without events it looks every rescan, and every
// poll when the system cannot tell of changes.
const (
	settle   = 150 * time.Millisecond
	patience = 2 * time.Second
	rescan   = time.Minute
	poll     = 2 * time.Second
)

// Watch keeps the index up to date until ctx ends, and then returns nil. It runs
// once at the start, whenever something below the folders changes, and now and
// then in case a change went unseen; onRun is told of every run, from one
// goroutine. Where the system's notification of changes fails (too many folders,
// a network drive) it looks every two seconds instead.
func Watch(ctx context.Context, o Options, onRun func(*Report, error)) error {
	watcher, err := fsnotify.NewWatcher()
	var events chan fsnotify.Event
	var faults chan error
	interval := rescan
	if err == nil {
		defer watcher.Close()
		events, faults = watcher.Events, watcher.Errors
		for _, tree := range o.Trees {
			if tree.Root != "" && watchFolders(watcher, tree.Root) != nil {
				interval = poll
			}
		}
	} else {
		interval = poll
	}
	run := func() {
		report, err := Run(ctx, o)
		if ctx.Err() == nil {
			onRun(report, err)
		}
	}
	run()
	due := time.NewTimer(interval)
	defer due.Stop()
	var first time.Time // of the events that are waiting
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-events:
			if e.Has(fsnotify.Create) && watchFolders(watcher, e.Name) != nil {
				interval = poll
			}
			if e.Op == fsnotify.Chmod {
				continue
			}
			now := time.Now()
			if first.IsZero() {
				first = now
			}
			due.Reset(max(0, min(settle, patience-now.Sub(first))))
		case <-faults:
			// Events were lost: look again soon.
			due.Reset(settle)
		case <-due.C:
			first = time.Time{}
			run()
			due.Reset(interval)
		}
	}
}

// watchFolders watches a folder and those below it. A file, or a folder that is
// gone meanwhile, is no error.
func watchFolders(w *fsnotify.Watcher, root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == root && !errors.Is(err, fs.ErrNotExist):
			return err
		case err != nil:
			return nil
		case !d.IsDir():
			return nil
		case path != root && skippedFolders[d.Name()]:
			return filepath.SkipDir
		}
		if err := w.Add(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	})
}
