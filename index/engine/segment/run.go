package segment

import "sheaf/index/vfs"

// A run holds a part of the chunks of a load that exceed its memory; [Merge] later makes one
// segment of all runs. Its file is like a segment of another kind, with posting lists of a
// [postings.RunEncoder]: they are fast to write and read, but cannot be searched. It is not synced,
// since no manifest names it: after a crash it is removed.
const runKind = "run"

// FlushRun is [Flush] of a run.
func FlushRun(fs vfs.FS, path string, builders ...*Builder) error {
	return flush(fs, path, runKind, 0, builders)
}

// OpenRun opens a run for finding its chunks and merging it.
func OpenRun(fs vfs.FS, path string) (*Reader, error) {
	return openKind(fs, path, runKind, Version)
}

// Run reports whether r is a run.
func (r *Reader) Run() bool { return r.run }
