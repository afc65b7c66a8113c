package ingest

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"

	"sheaf"
	"sheaf/catalog"
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
}

// plan is what there is to do.
type plan struct {
	generation uint64 // of the catalog that it was made for
	work       []job  // in order of tree and path
	added      int    // of work: not known
	removed    []sheaf.ID
	removedBy  map[catalog.Hash]int // how many of what is removed have a content
	unchanged  int
	ignored    int
	skipped    []catalog.Skip
	pending    map[sheaf.ID]string
	// settings are those to record, when they differ from what is recorded.
	settings *catalog.Settings
}

// nothing reports whether everything is up to date.
func (p *plan) nothing() bool { return len(p.work) == 0 && len(p.removed) == 0 && p.settings == nil }

// skipsKey is where the settings keep a hash of the list of skipped files, so
// that the list need not be read to see whether it changed.
const skipsKey = "skipped"

// makePlan compares the folders with the catalog.
func makePlan(ctx context.Context, o *Options) (*plan, error) {
	view := o.Catalog.View()
	defer view.Close()
	o.Progress(Progress{Phase: PhaseScan})
	o.Trees = withGiven(o.Trees, view)
	p := &plan{generation: view.Generation(), removedBy: map[catalog.Hash]int{}, pending: view.Pending()}
	files := make(map[string][]found, len(o.Trees))
	for _, tree := range o.Trees {
		if tree.Root == "" {
			continue // its texts were given
		}
		w, err := walk(ctx, tree.Root, o.Walk)
		if err != nil {
			return nil, err
		}
		files[tree.Name] = w.files
		p.ignored += w.ignored
		p.skipped = append(p.skipped, w.skipped...)
	}
	p.compare(view, o, files)
	if err := view.Err(); err != nil {
		return nil, err
	}
	p.planSettings(view, o)
	return p, nil
}

// compare finds what is new, changed and gone. Both sides are sorted: the
// catalog by ID, the files by tree and path.
func (p *plan) compare(view *catalog.View, o *Options, files map[string][]found) {
	type candidate struct {
		id   sheaf.ID
		tree catalog.Tree
		file found
	}
	var present []candidate
	for _, tree := range o.Trees {
		for _, f := range files[tree.Name] {
			present = append(present, candidate{sheaf.DocumentID(tree.Name, f.path), tree, f})
		}
	}
	slices.SortFunc(present, func(a, b candidate) int { return cmp.Compare(a.id, b.id) })
	take := func(c candidate, known bool, old catalog.FileState) {
		p.work = append(p.work, job{doc: c.id, tree: c.tree.Name, path: c.file.path, full: filepath.Join(c.tree.Root, filepath.FromSlash(c.file.path)), size: c.file.size, known: known, old: old})
		if !known {
			p.added++
		}
	}
	given := map[string]bool{} // trees without a folder
	for _, tree := range o.Trees {
		given[tree.Name] = tree.Root == ""
	}
	i := 0
	for id, state := range view.Files() {
		if given[id.Tree()] {
			p.unchanged++
			continue
		}
		for i < len(present) && present[i].id < id {
			take(present[i], false, catalog.FileState{})
			i++
		}
		if i == len(present) || present[i].id != id {
			p.removed = append(p.removed, id)
			p.removedBy[state.Hash]++
			continue
		}
		f := present[i].file
		_, pending := p.pending[id]
		if o.Rebuild || pending && o.Embedder != nil || f.size != state.Size || f.modTime != state.ModTime {
			take(present[i], true, state)
		} else {
			p.unchanged++
		}
		i++
	}
	for ; i < len(present); i++ {
		take(present[i], false, catalog.FileState{})
	}
}

// planSettings finds out whether what is recorded of the collection changes.
func (p *plan) planSettings(view *catalog.View, o *Options) {
	old := view.Settings()
	next := old
	next.Trees = slices.Clone(o.Trees)
	next.Extra = map[string]string{}
	for k, v := range old.Extra {
		next.Extra[k] = v
	}
	if o.Settings != nil {
		o.Settings(&next)
	}
	next.Extra[skipsKey] = hashSkips(p.skipped)
	a, errA := json.Marshal(old)
	b, errB := json.Marshal(next)
	if errA != nil || errB != nil || string(a) != string(b) {
		p.settings = &next
	}
}

func hashSkips(skipped []catalog.Skip) string {
	var b []byte
	for _, s := range skipped {
		b = append(append(append(append(append(append(b, s.Path...), 0), s.Reason...), 0), s.Detail...), 0)
	}
	h := catalog.HashOf(b)
	return hex.EncodeToString(h[:])
}
