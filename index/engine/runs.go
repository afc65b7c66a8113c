package engine

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"

	"sheaf/index/engine/segment"
)

func (l *Load) hasRuns() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.flushed {
		if f.reader.Run() {
			return true
		}
	}
	return false
}

// join makes segments of all runs, as few as memory and mergeChunks allow. The caller holds the locks of all workers,
// and the workers are empty.
func (l *Load) join(ctx context.Context) error {
	for _, w := range l.all {
		w.forget()
		w.used.Store(0)
	}
	for {
		runs := l.nextRuns()
		if len(runs) == 0 {
			return nil
		}
		joined, err := l.joinOnce(ctx, runs)
		if err != nil {
			return err
		}
		if err := l.replaceRuns(runs, joined); err != nil {
			return err
		}
	}
}

// nextRuns returns the runs to join next, oldest first. It returns none if no run is left.
func (l *Load) nextRuns() (runs []*flushedSegment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	chunks, memory := 0, int64(0)
	for _, f := range l.flushed {
		if !f.reader.Run() {
			continue
		}
		chunks += f.reader.Chunks()
		memory += f.reader.MergeBytes()
		if len(runs) > 0 && (chunks > mergeChunks || memory > l.index.options.Memory/mergeShare) {
			break
		}
		runs = append(runs, f)
	}
	return runs
}

// joinOnce makes a segment of runs. It returns nil if the runs have no chunks left.
func (l *Load) joinOnce(ctx context.Context, runs []*flushedSegment) (*flushedSegment, error) {
	var sources []segment.Source
	taken := int64(0)
	for _, f := range runs {
		if f.deleted.Count() < f.reader.Chunks() {
			sources = append(sources, segment.Source{Reader: f.reader, Deleted: f.deleted})
			taken += f.reader.MergeBytes()
		}
	}
	if len(sources) == 0 {
		return nil, nil
	}
	name := l.index.newName()
	path := filepath.Join(l.index.options.Dir, name)
	if err := segment.Merge(ctx, l.index.fs, path,
		goroutines(runtime.GOMAXPROCS(0), l.memoryLeft(counted(l.index.options.Memory)), taken), sources, nil); err != nil {
		return nil, err
	}
	reader, err := segment.Open(l.index.fs, path)
	if err != nil {
		return nil, err
	}
	return newFlushed(name, reader), nil
}

// replaceRuns replaces runs by the segment that was made of them, and removes their files. If it cannot remove a file
// now, a sweep removes it when the index is next opened for writing.
func (l *Load) replaceRuns(runs []*flushedSegment, joined *flushedSegment) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flushed = slices.DeleteFunc(l.flushed, func(f *flushedSegment) bool { return slices.Contains(runs, f) })
	if joined != nil {
		l.flushed = append(l.flushed, joined)
	}
	var errs []error
	for _, f := range runs {
		errs = append(errs, f.release())
		_ = l.index.drop(f.name)
	}
	return errors.Join(errs...)
}
