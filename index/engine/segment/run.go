package segment

import "sheaf/index/vfs"

// A run is what a load that has more chunks than there is memory for writes of them, again
// and again, before [Merge] makes one segment of all runs. It is a file like that of a segment,
// but for its kind and its posting lists, which are those of a [postings.RunEncoder]: written
// and read faster than encoded, and not made to be searched. It is not synced, since nothing
// names it: after a crash it is a file to be removed.
const runKind = "run"

// FlushRun is [Flush] of a run.
func FlushRun(fs vfs.FS, path string, builders ...*Builder) error {
	return flush(fs, path, runKind, 0, builders)
}

// OpenRun opens a run, to find chunks in it and to merge it.
func OpenRun(fs vfs.FS, path string) (*Reader, error) {
	return openKind(fs, path, runKind, Version)
}

// Run reports whether r is a run.
func (r *Reader) Run() bool { return r.run }
