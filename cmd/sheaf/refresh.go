package main

import (
	"runtime/debug"

	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/ingest"
	"sheaf/internal/offheap"
)

func (a *app) walkOptions() ingest.WalkOptions {
	c := a.config
	return ingest.WalkOptions{Include: c.Include, Exclude: c.Exclude, MaxFileBytes: c.MaxFileSize,
		FollowLinks: c.FollowSymlinks}
}

const (
	// indexMemory is how much memory indexing takes, beyond the size of what
	// is indexed, on the collector's heap and beside it, before garbage is collected
	// more eagerly.
	indexMemory = 90 << 20
	// fewBytes of files take so little memory that collecting garbage early
	// only takes time, for which a person waits.
	fewBytes = 4 << 20
)

// saveMemory makes the process do with less while files of so many bytes are
// indexed, because an index is made beside whatever else a person has open: half the
// garbage at a little more time. adjust, to be called now and then, leaves the collector
// what the engine does not take beside its heap, half at least; restore ends it all.
func saveMemory(files int64) (adjust, restore func()) {
	percent, limit := debug.SetGCPercent(50), debug.SetMemoryLimit(-1)
	allowed := files + indexMemory
	adjust = func() { debug.SetMemoryLimit(min(limit, max(allowed-offheap.Beside(), allowed/2))) }
	adjust()
	return adjust, func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// showIndexing shows how far a run is, and saves memory during one that takes much.
func (a *app) showIndexing() (update func(ingest.Progress), done func()) {
	progress := terminal.NewProgress(a.err, "indexing")
	var adjust, restore func()
	update = func(p ingest.Progress) {
		if restore == nil && p.AllBytes > fewBytes {
			adjust, restore = saveMemory(p.AllBytes)
		} else if restore != nil {
			adjust()
		}
		progress.Update(p.Files, p.AllFiles, p.Bytes, "files")
	}
	return update, func() {
		if restore != nil {
			restore()
		}
		progress.Done()
	}
}
