package ingest

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sheaf"
	"sheaf/index/catalog"
)

// job is a file that is to be read.
type job struct {
	doc   sheaf.ID
	tree  string
	path  string // relative, slashes
	full  string
	size  int64
	known bool // the catalog has it
	old   catalog.FileState
	given *Given // instead of a file
	// stored says that it is a document without a folder, to be indexed again from what is
	// kept of it: given comes with its turn.
	stored bool
	// unsure says that size and time are as they were, and that the system says
	// that something changed: the time was set back, or only rights are others.
	unsure bool
	state  int64 // as found has it
}

// plan is what there is to do.
type plan struct {
	generation uint64 // of the catalog that it was made for
	work       []job  // in order of tree and path
	removed    []sheaf.ID
	known      int                  // how many of removed there are
	removedBy  map[catalog.Hash]int // how many of what is removed have a content
	unchanged  int
	ignored    int
	byRule     []catalog.Skip // as walked has it
	allByRule  int
	// skipped are the files that walking left out, and those that an earlier
	// run left out once it had read them and that did not change since.
	skipped []catalog.Skip
	// listed says that the catalog lists exactly those.
	listed bool
	// pending are the documents that wait, before those that did when not everything was to be
	// read again.
	pending, before map[sheaf.ID]string
	// begun are documents that the catalog does not have and the store may have a part
	// of, because a run was stopped: that part goes before anything is written.
	begun []sheaf.ID
	// seen is, for each tree, until when what the system says of changes is known;
	// unsure says that some of the work is.
	seen   map[string]int64
	unsure bool
	// settings are those to record, when they differ from what is recorded.
	settings *catalog.Settings
	gone     []catalog.Tree // whose folders are not there
	// reads says that everything is to be read as [Reading] says from this run on, which is to
	// be recorded; outdated is how many documents wait for that, newer that it was read with a
	// higher version. remaking says that the store was emptied, and is filled again.
	reads, newer, remaking bool
	outdated               int
	// hides says that comments are no text; hidesNow that the index still has their words.
	hides, hidesNow bool
	// mounted says of each folder that is there whether a disk is mounted in its place.
	mounted map[string]bool
	// disks are, for each of them, the folders below it that lie on disks of their own, or did
	// when those were there last.
	disks map[string][]string
}

// nothing reports whether everything is up to date.
func (p *plan) nothing() bool {
	return len(p.work) == 0 && len(p.removed) == 0 && len(p.begun) == 0 && p.settings == nil && p.listed
}

// ReasonBegun is why a document waits that the store is about to get, or to lose: until the
// catalog has it, too, the store may have any part of it.
const ReasonBegun = "begun"

// ReasonVectors is why a document waits whose vectors are missing: the model failed, or none
// is configured. It is found by words meanwhile.
const ReasonVectors = "vectors"

// findBegun finds the documents that were begun and never came to the catalog.
func (p *plan) findBegun(view *catalog.View) error {
	for id, reason := range p.pending {
		if reason != ReasonBegun {
			continue
		}
		_, known, err := view.File(id)
		if err != nil {
			return err
		}
		if !known {
			p.begun = append(p.begun, id)
		}
	}
	slices.Sort(p.begun)
	return nil
}

// again reports whether a document that waits for a reason, "" for none, is to be
// indexed again though its file is as the catalog has it.
func (p *plan) again(reason string, o *Options) bool {
	if reason == ReasonReading {
		return !p.newer
	}
	return reason == ReasonBegun || reason != "" && o.Embedder != nil
}

// wantVectors is how many of the documents that wait do so for vectors.
func wantVectors(pending map[sheaf.ID]string) int { return waitsFor(pending, ReasonVectors) }

// skippedKey is where the settings keep a hash of the list of skipped files, so
// that the list need not be read to see whether it changed.
const skippedKey = "skipped-all"

// seenKey is where the settings keep when the files of a tree changed last, by the
// clock of their file system: those that changed later and have the size and time
// that they had are read.
func seenKey(tree string) string { return "seen:" + tree }

// seenUntil is until when all changes of files are known; 0 where the system does not
// say. What changes during the walk may have been looked at before, and what changed
// while the clock was ahead says nothing of the others: neither counts.
func (w *walked) seenUntil() int64 {
	began, last := w.began.UnixNano(), int64(0)
	for i := range w.files {
		switch state := w.files[i].state; {
		case state > began:
			last = max(last, 1) // the system does say
		default:
			last = max(last, state)
		}
	}
	return last
}

// makePlan compares the folders with the catalog.
func makePlan(ctx context.Context, o *Options) (*plan, error) {
	view := o.Catalog.View()
	defer view.Close()
	o.Progress(Progress{Phase: PhaseScan})
	if err := checkTrees(o.Trees); err != nil {
		return nil, err
	}
	if err := o.treesNow(view); err != nil {
		return nil, err
	}
	p := &plan{generation: view.Generation(), removedBy: map[catalog.Hash]int{}, seen: map[string]int64{}, pending: view.Pending(), hides: o.hidesComments()}
	p.planReading(view)
	files := make(map[string][]found, len(o.Trees))
	unread := map[string]unreadPaths{}
	if err := p.findGone(view, o); err != nil {
		return nil, err
	}
	p.disks = map[string][]string{}
	for _, tree := range o.Trees {
		if tree.Root == "" || p.isGone(tree) {
			continue // its texts were given, or stay as they are
		}
		w, err := o.walk(ctx, tree.Root)
		if err == nil && p.mounted[tree.Name] && !isMount(tree.Root) {
			err = fmt.Errorf("index folder: %s: its disk was unmounted meanwhile: %w", tree.Root, fs.ErrNotExist)
		}
		if err != nil {
			return nil, err
		}
		files[tree.Name] = w.files
		if !o.Rebuild {
			unread[tree.Name] = unreadOf(w.unread)
		}
		p.findDisks(view, o, tree, w, unread[tree.Name])
		if at := w.seenUntil(); at > 0 {
			p.seen[tree.Name] = at
		}
		p.ignored += w.ignored
		p.allByRule += w.allByRule
		for _, s := range w.byRule {
			s.Tree = tree.Name
			p.byRule = append(p.byRule, s)
		}
		p.skipped = slices.Grow(p.skipped, len(w.skipped))
		for _, s := range w.skipped {
			s.Tree = tree.Name
			p.skipped = append(p.skipped, s)
		}
	}
	if err := p.compare(view, o, files, unread); err != nil {
		return nil, err
	}
	if err := p.findBegun(view); err != nil {
		return nil, err
	}
	if err := view.Err(); err != nil {
		return nil, err
	}
	sortSkips(p.skipped)
	return p, p.planSettings(view, o)
}

// walk walks the folder of a tree, unless that was done just before.
func (o *Options) walk(ctx context.Context, root string) (*walked, error) {
	if w := o.Walked; w != nil && w.root == root {
		o.Walked = nil // what it found grows old
		return w.found, nil
	}
	return walk(ctx, root, o.Walk)
}

// candidate is a file of the folders, and the document that it is or would be.
type candidate struct {
	id   sheaf.ID
	tree catalog.Tree
	file found
}

// candidates are the files of all trees, in the order of their documents.
func candidates(trees []catalog.Tree, files map[string][]found) []candidate {
	n := 0
	for _, list := range files {
		n += len(list)
	}
	out := make([]candidate, 0, n)
	for _, tree := range trees {
		for _, f := range files[tree.Name] {
			out = append(out, candidate{sheaf.DocumentID(tree.Name, f.path), tree, f})
		}
	}
	slices.SortFunc(out, func(a, b candidate) int { return cmp.Compare(a.id, b.id) })
	return out
}

// seenBefore is until when earlier runs knew all changes, by tree.
func seenBefore(view *catalog.View) map[string]int64 {
	seen := map[string]int64{}
	for key, at := range view.Settings().Extra {
		if tree, ok := strings.CutPrefix(key, seenKey("")); ok {
			seen[tree], _ = strconv.ParseInt(at, 10, 64) // what is no number says nothing
		}
	}
	return seen
}

// compare finds what is new, changed and gone. Both sides are sorted: the
// catalog by ID, the files by tree and path. What is indexed of files that may be there
// stays.
func (p *plan) compare(view *catalog.View, o *Options, files map[string][]found, unread map[string]unreadPaths) error {
	present := candidates(o.Trees, files)
	take := func(c candidate, known bool, old catalog.FileState) *job {
		p.work = append(p.work, job{doc: c.id, tree: c.tree.Name, path: c.file.path, full: filepath.Join(c.tree.Root, filepath.FromSlash(c.file.path)), size: c.file.size, known: known, old: old, state: c.file.state})
		return &p.work[len(p.work)-1]
	}
	seen := seenBefore(view)
	// changed reports whether the system says that something changed since then.
	changed := func(c candidate) bool {
		before := seen[c.tree.Name]
		return before > 0 && c.file.state > before
	}
	refused := sync.OnceValues(func() (map[sheaf.ID]catalog.Skip, error) { return readRefused(view) })
	takeNew := func(c candidate) error {
		if !o.Rebuild && !p.reads {
			before, err := refused()
			if err != nil {
				return err
			}
			if s, ok := before[c.id]; ok && s.Size == c.file.size && s.ModTime == c.file.modTime {
				if !changed(c) {
					p.skipped = append(p.skipped, s)
					return nil
				}
				p.unsure = true
			}
		}
		take(c, false, catalog.FileState{})
		return nil
	}
	given, stays := map[string]bool{}, map[string]bool{} // trees without a folder
	for _, tree := range o.Trees {
		given[tree.Name] = tree.Root == ""
		stays[tree.Name] = tree.Root == "" || p.isGone(tree)
	}
	i := 0
	for id, state := range view.Files() {
		unknown := !given[id.Tree()] && (stays[id.Tree()] || unread[id.Tree()].holds(id.Path()))
		if unknown && p.hidesNow { // the index has words of its comments, and nothing can take only them out
			p.removed = append(p.removed, id)
			continue
		}
		if stays[id.Tree()] {
			takes, err := false, error(nil)
			if given[id.Tree()] {
				takes, err = p.takesStored(id, &state, o)
			}
			if err != nil {
				return err
			}
			if takes {
				p.work = append(p.work, job{doc: id, tree: id.Tree(), path: id.Path(), size: state.Size, known: true, old: state, stored: true})
			} else {
				p.unchanged++
			}
			continue
		}
		for i < len(present) && present[i].id < id {
			if err := takeNew(present[i]); err != nil {
				return err
			}
			i++
		}
		if i == len(present) || present[i].id != id {
			if unread[id.Tree()].holds(id.Path()) {
				p.unchanged++
				continue
			}
			p.removed = append(p.removed, id)
			p.removedBy[state.Hash]++
			continue
		}
		f := present[i].file
		switch {
		case o.Rebuild || p.again(p.pending[id], o) || f.size != state.Size || f.modTime != state.ModTime:
			take(present[i], true, state)
		case changed(present[i]):
			take(present[i], true, state).unsure = true
			p.unsure = true
		default:
			p.unchanged++
		}
		i++
	}
	for ; i < len(present); i++ {
		if err := takeNew(present[i]); err != nil {
			return err
		}
	}
	return nil
}

// readRefused are the files that an earlier run left out once it had read them,
// by the ID that a document there would have.
func readRefused(view *catalog.View) (map[sheaf.ID]catalog.Skip, error) {
	skipped, err := view.Skipped()
	if errors.Is(err, sheaf.ErrUnavailable) {
		return nil, nil // another process replaced the list: they are read again
	}
	refused := map[sheaf.ID]catalog.Skip{}
	for _, s := range skipped {
		if s.ModTime != 0 {
			refused[sheaf.DocumentID(s.Tree, s.Path)] = s
		}
	}
	return refused, err
}

func hashSkips(skipped []catalog.Skip) string {
	b := make([]byte, 0, 100*len(skipped))
	for _, s := range skipped {
		for _, text := range [...]string{s.Tree, s.Path, s.Reason, s.Detail} {
			b = append(append(b, text...), 0)
		}
		b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, uint64(s.Size)), uint64(s.ModTime))
	}
	h := catalog.HashOf(b)
	return hex.EncodeToString(h[:])
}
