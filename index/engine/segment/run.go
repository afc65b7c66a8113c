package segment

import "sheaf/index/vfs"

// runKind is the kind of a file that is a run. If the chunks of a load do not fit into memory, the load writes some of
// them as a run. [Merge] later makes one segment of all runs. A run is written like a segment, but has another kind,
// and a [postings.RunEncoder] makes its posting lists. These lists are fast to write and read, but cannot be searched.
// No manifest names a run, so a run is not synced, and after a crash it is removed.
const runKind = "run"

// FlushRun does what [Flush] does, but writes a run instead of a segment.
func FlushRun(fs vfs.FS, path string, spare int64, builders ...*Builder) error {
	return flush(fs, path, runKind, spare, builders)
}

// OpenRun opens a run. The caller can find the chunks of the run and merge them, but cannot search them.
func OpenRun(fs vfs.FS, path string) (*Reader, error) {
	return openKind(fs, path, runKind)
}

// Run reports whether r is a run.
func (r *Reader) Run() bool { return r.run }
