package ingest

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"sheaf"
	"sheaf/index/catalog"
)

// item is one document of a work list: a file, or a given document.
type item struct {
	doc  sheaf.ID
	path string // relative, slashes
	root string // the folder of the file's tree; "" for a given document
	size int64
	// modTime is the time of the file, in nanoseconds since 1970.
	modTime int64
	known   bool // the catalog has it
	old     catalog.FileState
	given   *Given // the text instead of a file
	// stored marks a given document that is indexed again from its stored form. The run reads the stored form into
	// given just before it indexes the document.
	stored bool
	// unsure says that the file may have changed although its size and time are the same. The system reports a change: a
	// program may have set the time back, or changed only rights.
	unsure bool
	state  int64 // the time of its last change, as in File
	// vectors has the memory for the document's vectors. The worker uses it again for its next document. It is nil if the
	// writer keeps the vectors.
	vectors *[]float32
}

func (it *item) skip(reason string) catalog.Skip {
	return catalog.Skip{Tree: it.doc.Tree(), Path: it.path, Reason: reason}
}

// worklist is what one run has to do: the documents to index, and those to remove.
type worklist struct {
	generation uint64     // of the compared catalog
	items      []item     // in order of documents, or as given
	removed    []sheaf.ID // documents of the catalog
	// renamed counts the removed documents by the hash of their content. A new file with this content is a renamed file.
	renamed map[catalog.Hash]int
	// report holds the facts known before the run. Its Skipped are the files that the walk skipped,
	// and unchanged files that an earlier run read and skipped.
	report Report
	// listed says that the list of skipped files in the catalog is up to date.
	listed bool
	// settings are the settings to record, nil when they do not change.
	settings *catalog.Settings
	// until has for each tree the time up to which all changes of files are known. unsure says that the list has files
	// that may have changed although their size and time are the same.
	until  map[string]int64
	unsure bool
	waitingDocuments
	disks
}

// waitingDocuments has the documents that wait to be indexed again, with the reasons.
type waitingDocuments struct {
	pending map[sheaf.ID]string // why documents are not complete
	// earlier is a copy of pending without the documents that planReread added. It is nil if planReread added none.
	earlier map[sheaf.ID]string
	// begun lists documents that the catalog lacks but the store may have in part. A stopped run or a lost record is the
	// cause. The run first removes these parts.
	begun []sheaf.ID
	// rereads means that all documents must be read again, and that the catalog must record the new [ParserVersion]. newer
	// means that a newer program read documents. outdated counts the documents to read again.
	rereads, newer bool
	outdated       int
	// remaking means that a rebuild has emptied the store and now fills it.
	remaking bool
	// hides means that comments are hidden. hidesNow means that the index still has words of comments to hide.
	hides, hidesNow bool
}

// isEmpty reports whether the run has nothing to do.
func (l *worklist) isEmpty() bool {
	return len(l.items) == 0 && len(l.removed) == 0 && len(l.begun) == 0 && l.settings == nil && l.listed
}

// ReasonBegun marks a document that is being written or removed. Until the catalog has recorded the
// result, the store may have any part of the document.
const ReasonBegun = "begun"

// ReasonVectors marks a document without vectors: the model failed or none is configured. Word search finds it anyway.
const ReasonVectors = "vectors"

// findBegun fills l.begun: pending documents with ReasonBegun that the catalog does not have.
func (l *worklist) findBegun(view *catalog.View) error {
	for id, reason := range l.pending {
		if reason != ReasonBegun {
			continue
		}
		_, known, err := view.File(id)
		if err != nil {
			return err
		}
		if !known {
			l.begun = append(l.begun, id)
		}
	}
	slices.Sort(l.begun)
	l.begun = slices.Compact(l.begun)
	return nil
}

// indexAgain reports whether to index an unchanged document again. reason is why the document waits, or "".
func (w *waitingDocuments) indexAgain(reason string, o *Options) bool {
	if reason == ReasonReread {
		return !w.newer
	}
	return reason == ReasonBegun || reason != "" && o.Embedder != nil
}

// documents makes the work list for given documents, and for documents to remove.
func (o *Options) documents(docs []Given, removed []sheaf.ID) (*worklist, error) {
	view := o.Catalog.View()
	defer view.Close()
	l := &worklist{waitingDocuments: waitingDocuments{pending: view.Pending(), hides: o.hidesComments()}}
	if o.Trees == nil {
		o.Trees = view.Settings().Trees
	}
	for i := range docs {
		if !slices.ContainsFunc(o.Trees, func(t catalog.Tree) bool { return t.Name == docs[i].Tree }) {
			o.Trees = append(slices.Clip(o.Trees), catalog.Tree{Name: docs[i].Tree})
		}
	}
	if err := o.treesNow(view); err != nil {
		return l, err
	}
	for i := range docs {
		g, err := docs[i].ready()
		if err != nil {
			return l, fmt.Errorf("index %s: %w", docs[i].Path, err)
		}
		it := item{doc: sheaf.DocumentID(g.Tree, g.Path), path: g.Path, size: int64(len(g.Text)), given: g}
		if it.old, it.known, err = view.File(it.doc); err != nil {
			return l, err
		}
		l.items = append(l.items, it)
	}
	for _, id := range removed {
		_, known, err := view.File(id)
		switch {
		case err != nil:
			return l, err
		case known:
			l.removed = append(l.removed, id)
		default:
			l.begun = append(l.begun, id)
		}
	}
	var err error
	if l.report.Skipped, err = view.Skipped(); err != nil {
		return l, err
	}
	l.rereads, l.newer = ReadBefore(view) && view.Docs() == 0 && len(l.report.Skipped) == 0, Newer(view)
	l.outdated = waitsFor(l.pending, ReasonReread)
	if err := l.findBegun(view); err != nil {
		return l, err
	}
	return l, l.planSettings(view, o)
}

// folders compares the folders with the catalog and makes their work list.
func (o *Options) folders(ctx context.Context) (*worklist, error) {
	view := o.Catalog.View()
	defer view.Close()
	o.Progress(Progress{Phase: PhaseScan})
	if err := checkTrees(o.Trees); err != nil {
		return nil, err
	}
	if err := o.treesNow(view); err != nil {
		return nil, err
	}
	l := &worklist{generation: view.Generation(), renamed: map[catalog.Hash]int{},
		until:            map[string]int64{},
		waitingDocuments: waitingDocuments{pending: view.Pending(), hides: o.hidesComments()},
		disks:            disks{below: map[string][]string{}, mounted: map[string]bool{}}}
	l.planReread(view)
	if err := l.findUnmounted(view, o); err != nil {
		return nil, err
	}
	files := make(map[string][]File, len(o.Trees))
	unread := map[string]unreadPaths{}
	for _, tree := range o.Trees {
		if tree.Root == "" || l.isUnmounted(tree.Name) {
			continue // given documents, or documents that stay
		}
		w, err := o.Walked, error(nil)
		if w != nil && w.root == tree.Root {
			o.Walked = nil // a walk is used once
		} else {
			w, err = NewWalk(ctx, tree.Root, o.Walk)
		}
		if err == nil && l.mounted[tree.Name] && !isMount(tree.Root) {
			err = fmt.Errorf("index folder: %s: its disk was unmounted during the run: %w", tree.Root, fs.ErrNotExist)
		}
		if err != nil {
			return nil, err
		}
		files[tree.Name] = w.files
		if !o.Rebuild {
			unread[tree.Name] = unreadPaths{}
			for _, path := range w.unread {
				unread[tree.Name][path] = true
			}
		}
		l.findDisks(view, o, tree, w, unread[tree.Name])
		if at := w.seenUntil(); at > 0 {
			l.until[tree.Name] = at
		}
		l.report.Ignored += w.ignored
		l.report.AllByRule += w.allByRule
		l.report.ByRule = appendSkips(l.report.ByRule, tree, w.byRule)
		l.report.Skipped = appendSkips(l.report.Skipped, tree, w.skipped)
	}
	if err := l.compare(view, o, files, unread); err != nil {
		return nil, err
	}
	if err := l.findBegun(view); err != nil {
		return nil, err
	}
	if err := view.Err(); err != nil {
		return nil, err
	}
	sortSkips(l.report.Skipped)
	l.report.Pending = waitsFor(l.pending, ReasonVectors)
	return l, l.planSettings(view, o)
}

// appendSkips appends the files that the walk of a tree skipped, with the name of the tree.
func appendSkips(to []catalog.Skip, tree catalog.Tree, skipped []catalog.Skip) []catalog.Skip {
	to = slices.Grow(to, len(skipped))
	for _, s := range skipped {
		s.Tree = tree.Name
		to = append(to, s)
	}
	return to
}

// compare finds new, changed and removed documents. An indexed document stays if its file may still exist.
func (l *worklist) compare(view *catalog.View, o *Options, files map[string][]File,
	unread map[string]unreadPaths) error {
	present, given := map[sheaf.ID]*item{}, map[string]bool{}
	for _, tree := range o.Trees {
		given[tree.Name] = tree.Root == ""
		seenBefore, _ := strconv.ParseInt(view.Settings().Extra[seenKey(tree.Name)], 10, 64) // 0 for an error
		for _, f := range files[tree.Name] {
			id := sheaf.DocumentID(tree.Name, f.Path)
			present[id] = &item{doc: id, root: tree.Root, path: f.Path, size: f.Bytes, modTime: f.ModTime.UnixNano(),
				state: f.state, unsure: seenBefore > 0 && f.state > seenBefore}
		}
	}
	for id, state := range view.Files() {
		tree, it := id.Tree(), present[id]
		unmounted, mayExist := l.isUnmounted(tree), unread[tree].mayContain(id.Path())
		switch {
		case given[tree]:
			takes, err := l.takesStored(id, &state, o)
			if err != nil {
				return err
			}
			if takes {
				l.items = append(l.items, item{doc: id, path: id.Path(), size: state.Size, known: true, old: state, stored: true})
			} else {
				l.report.Unchanged++
			}
		case l.hidesNow && (unmounted || mayExist): // the words of comments cannot be removed without the document
			l.removed = append(l.removed, id)
		case unmounted, it == nil && mayExist:
			l.report.Unchanged++
		case it == nil:
			l.removed = append(l.removed, id)
			l.renamed[state.Hash]++
		default:
			delete(present, id)
			it.known, it.old = true, state
			if o.Rebuild || l.indexAgain(l.pending[id], o) || it.size != state.Size || it.modTime != state.ModTime {
				it.unsure = false
			} else if !it.unsure {
				l.report.Unchanged++
				continue
			}
			l.unsure = l.unsure || it.unsure
			l.items = append(l.items, *it)
		}
	}
	refused, err := map[sheaf.ID]catalog.Skip{}, error(nil)
	if len(present) > 0 && !o.Rebuild && !l.rereads {
		if refused, err = readRefused(view); err != nil {
			return err
		}
	}
	for id, it := range present {
		s, ok := refused[id]
		unchanged := ok && s.Size == it.size && s.ModTime == it.modTime
		if unchanged && !it.unsure {
			l.report.Skipped = append(l.report.Skipped, s)
			continue
		}
		l.unsure = l.unsure || unchanged
		it.unsure = false
		l.items = append(l.items, *it)
	}
	slices.SortFunc(l.items, func(a, b item) int { return cmp.Compare(a.doc, b.doc) })
	return nil
}

// readRefused returns the files that an earlier run read and skipped, by the ID that their document would have.
func readRefused(view *catalog.View) (map[sheaf.ID]catalog.Skip, error) {
	skipped, err := view.Skipped()
	if errors.Is(err, sheaf.ErrUnavailable) {
		return nil, nil // another process replaced the list; the run reads these files again
	}
	refused := map[sheaf.ID]catalog.Skip{}
	for _, s := range skipped {
		if s.ModTime != 0 {
			refused[sheaf.DocumentID(s.Tree, s.Path)] = s
		}
	}
	return refused, err
}

// skippedKey is the key in the settings for a hash of the list of skipped files. The hash shows whether the list
// changed.
const skippedKey = "skipped-all"

func hashSkips(skipped []catalog.Skip) string {
	b := make([]byte, 0, 100*len(skipped))
	for _, s := range skipped {
		for _, text := range [...]string{s.Tree, s.Path, s.Reason, s.Detail} {
			b = append(append(b, text...), 0)
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(s.Size))
		b = binary.LittleEndian.AppendUint64(b, uint64(s.ModTime))
	}
	h := catalog.HashOf(b)
	return hex.EncodeToString(h[:])
}

// seenKey is the key in the settings for the time of the last known change in a tree. This is a time of the file
// system's clock. A run reads each file that changed later, even if its size and modification time are the same.
func seenKey(tree string) string { return "seen:" + tree }

// seenUntil returns the time up to which all changes of files are known. It returns 0 if the system reports no changes.
// It ignores times after the beginning of the walk: a file may change later, or the clock was ahead.
func (w *Walk) seenUntil() int64 {
	began, last := w.began.UnixNano(), int64(0)
	for i := range w.files {
		if state := w.files[i].state; state <= began {
			last = max(last, state)
		} else {
			last = max(last, 1) // 1 means: the system reports changes
		}
	}
	return last
}
