package ingest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sheaf"
	"sheaf/index/catalog"
)

// disks says which folders and disks are mounted. Documents of unmounted disks stay indexed, unlike those of removed
// files.
type disks struct {
	unmounted []catalog.Tree // trees without their folder
	// mounted says for each existing folder whether a disk is mounted there.
	mounted map[string]bool
	// below maps each tree to its folders that are on other disks, now or when the disks were last mounted.
	below map[string][]string
}

// mountedKey is the key in the settings that says that a disk was mounted at a tree's folder.
func mountedKey(tree string) string { return "mounted:" + tree }

// disksKey is the key in the settings for the folders of a tree that are on disks of their own. diskBreak separates the
// folders, which are spelled as in IDs.
func disksKey(tree string) string { return "disks:" + tree }

const diskBreak = "\x00"

// findDisks finds the folders of a tree that are on disks of their own, and sets l.below. If such a folder is now empty
// or a broken link, its disk is not mounted. The indexed documents of that disk stay.
func (l *worklist) findDisks(view *catalog.View, o *Options, tree catalog.Tree, w *Walk, unread unreadPaths) {
	disks := w.disks
	if before := view.Settings().Extra[disksKey(tree.Name)]; before != "" && !o.Rebuild {
		for text := range strings.SplitSeq(before, diskBreak) {
			disk := sheaf.ID(":" + text).Path()
			unmounted := slices.Contains(w.empty, disk) && !slices.Contains(w.disks, disk)
			if unmounted {
				unread[disk] = true
				l.report.Skipped = append(l.report.Skipped, catalog.Skip{Tree: tree.Name, Path: disk,
					Reason: ReasonUnreadable, Detail: "its disk is not mounted"})
			}
			if unmounted || unread.mayContain(disk) {
				disks = append(disks, disk)
			}
		}
	}
	for _, disk := range w.disks {
		if !o.Rebuild && !isDisk(tree.Root, disk) { // unmounted since the walk
			unread[disk] = true
		}
	}
	l.below[tree.Name] = slices.Compact(slices.Sorted(slices.Values(disks)))
}

// isMount reports whether a disk is mounted at a folder: the folder and its parent are on different devices.
func isMount(dir string) bool { return isApart(dir, dir+"/..") }

// isApart reports whether two folders are on different devices. It returns false if the system has no device numbers.
func isApart(dir, above string) bool {
	a, b := deviceOf(dir), deviceOf(above)
	return a != 0 && b != 0 && a != b
}

// isDisk reports whether dir, a folder below root, is on another device than its parent.
func isDisk(root, dir string) bool {
	above := path.Dir(path.Clean(dir))
	return isApart(filepath.Join(root, filepath.FromSlash(dir)), filepath.Join(root, filepath.FromSlash(above)))
}

// findUnmounted finds unmounted trees: their folder is missing, or is empty although a disk was mounted there. Their
// indexed documents and skipped files stay. If the folders of all trees are missing, the walk reports the error.
func (l *worklist) findUnmounted(view *catalog.View, o *Options) error {
	var unmounted []catalog.Tree
	there := false
	for _, tree := range o.Trees {
		if tree.Root == "" {
			continue
		}
		_, err := os.Stat(tree.Root)
		missing := errors.Is(err, fs.ErrNotExist)
		there = there || !missing
		mounted := isMount(tree.Root)
		wasMounted := view.Settings().Extra[mountedKey(tree.Name)] != ""
		if missing || !mounted && !o.Rebuild && wasMounted && isEmpty(tree.Root) {
			unmounted = append(unmounted, tree)
		} else {
			l.mounted[tree.Name] = mounted
		}
	}
	if !there || len(unmounted) == 0 {
		return nil
	}
	l.unmounted = unmounted
	for _, tree := range unmounted {
		l.report.Gone = append(l.report.Gone, tree.Root)
	}
	skipped, err := view.Skipped()
	if errors.Is(err, sheaf.ErrUnavailable) {
		return nil // another process replaced the list; the next run makes it again
	}
	for _, s := range skipped {
		if l.isUnmounted(s.Tree) {
			l.report.Skipped = append(l.report.Skipped, s)
		}
	}
	return err
}

// isEmpty reports whether a folder has no entries, not even hidden ones. It is also true for a folder whose entries
// this process may not list, as is common for mount points.
func isEmpty(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return errors.Is(err, fs.ErrPermission)
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

func (d *disks) isUnmounted(tree string) bool {
	return slices.ContainsFunc(d.unmounted, func(t catalog.Tree) bool { return t.Name == tree })
}

// unreadPaths is the set of paths in one tree that the walk could not read. The path of a folder ends with a slash. ""
// is the whole tree.
type unreadPaths map[string]bool

// mayContain reports whether a file may exist at path that the walk could not see. The file or a folder above it was
// unreadable.
func (u unreadPaths) mayContain(path string) bool {
	if len(u) == 0 {
		return false
	}
	for i := range len(path) {
		if path[i] == '/' && u[path[:i+1]] {
			return true
		}
	}
	return u[""] || u[path]
}
