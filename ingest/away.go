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

// What is indexed of a folder, or of a disk below it, that is not there for now stays: how
// that is told from one whose files were removed.

// mountedKey is where the settings keep that a disk was mounted in the place of a tree's
// folder.
func mountedKey(tree string) string { return "mounted:" + tree }

// disksKey is where the settings keep which folders of a tree lie on disks of their own, spelt as
// IDs spell them, with diskBreak between them.
func disksKey(tree string) string { return "disks:" + tree }

const diskBreak = "\x00"

// findDisks finds the folders of a tree that lie on disks of their own, and those that are empty,
// or that a link leads to and that are not there, since theirs is not mounted: what is indexed
// of them stays.
func (p *plan) findDisks(view *catalog.View, o *Options, tree catalog.Tree, w *walked, unread unreadPaths) {
	disks := w.disks
	if before := view.Settings().Extra[disksKey(tree.Name)]; before != "" && !o.Rebuild {
		for text := range strings.SplitSeq(before, diskBreak) {
			disk := sheaf.ID(":" + text).Path()
			away := slices.Contains(w.empty, disk) && !slices.Contains(w.disks, disk)
			if away {
				unread[disk] = true
				p.skipped = append(p.skipped, catalog.Skip{Tree: tree.Name, Path: disk, Reason: ReasonUnreadable, Detail: "its disk is not mounted"})
			}
			if away || unread.holds(disk) {
				disks = append(disks, disk)
			}
		}
	}
	for _, disk := range w.disks {
		if !o.Rebuild && !isDisk(tree.Root, disk) { // since it was walked
			unread[disk] = true
		}
	}
	p.disks[tree.Name] = slices.Compact(slices.Sorted(slices.Values(disks)))
}

// isDisk reports whether a folder below root lies on another device than the one above it.
func isDisk(root, dir string) bool {
	above := path.Dir(path.Clean(dir))
	return isApart(filepath.Join(root, filepath.FromSlash(dir)), filepath.Join(root, filepath.FromSlash(above)))
}

// findGone finds the folders that are not there while others are, as when a disk is not
// mounted, and those that are empty in place of the disk that was mounted there: what is
// indexed of them stays, and so does what was left out. Where no folder is there the walk
// says so.
func (p *plan) findGone(view *catalog.View, o *Options) error {
	var gone []catalog.Tree
	there := false
	p.mounted = map[string]bool{}
	for _, tree := range o.Trees {
		if tree.Root == "" {
			continue
		}
		if _, err := os.Stat(tree.Root); errors.Is(err, fs.ErrNotExist) {
			gone = append(gone, tree)
			continue
		}
		there = true
		mounted := isMount(tree.Root)
		if !mounted && !o.Rebuild && view.Settings().Extra[mountedKey(tree.Name)] != "" && isEmpty(tree.Root) {
			gone = append(gone, tree)
			continue
		}
		p.mounted[tree.Name] = mounted
	}
	if !there || len(gone) == 0 {
		return nil
	}
	p.gone = gone
	skipped, err := view.Skipped()
	if errors.Is(err, sheaf.ErrUnavailable) {
		return nil // another process replaced the list: it is made again
	}
	for _, s := range skipped {
		if p.isGone(catalog.Tree{Name: s.Tree}) {
			p.skipped = append(p.skipped, s)
		}
	}
	return err
}

// isEmpty reports whether a folder holds nothing at all, not even what is hidden, or may not
// be looked into, as the places of disks often are.
func isEmpty(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return errors.Is(err, fs.ErrPermission)
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

func (p *plan) isGone(tree catalog.Tree) bool {
	return slices.ContainsFunc(p.gone, func(t catalog.Tree) bool { return t.Name == tree.Name })
}
