package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/text/chunk"
)

// ErrRebuilt means that another process has rebuilt the index with other settings, or is doing so. Open the index
// again. ErrRebuilt wraps sheaf.ErrUnavailable.
var ErrRebuilt = fmt.Errorf("%w: another process rebuilt the index", sheaf.ErrUnavailable)

// RemakingKey is a key of Settings.Extra that records a rebuild of the index. Its value is "" if no rebuild is
// unfinished, and RemakingDocuments if the rebuild has emptied the store. With any other value, the store must still be
// emptied. A run waits for that, because emptying would remove what the run writes.
const (
	RemakingKey       = "remaking"
	RemakingDocuments = "documents"
)

// errEmptying means that a rebuild must still empty the store.
var errEmptying = fmt.Errorf("%w: the store still holds its earlier content", ErrRebuilt)

// emptyingWait is the longest time that awaitEmptied waits for another process to empty the store. emptyingStep is the
// time between two checks. A second is enough, because a process that rebuilds an index empties the store at once. If
// the store is not empty after that time, the other process has probably ended too early.
const (
	emptyingWait = time.Second
	emptyingStep = 20 * time.Millisecond
)

// awaitEmptied loads the newest catalog. If a rebuild must still empty the store, awaitEmptied waits. If the store is
// not empty after emptyingWait, awaitEmptied returns errEmptying.
func (o *Options) awaitEmptied(ctx context.Context) error {
	for began := time.Now(); ; {
		if err := o.Catalog.Follow(); err != nil {
			return err
		}
		view := o.Catalog.View()
		mark := view.Settings().Extra[RemakingKey]
		view.Close()
		if mark == "" || mark == RemakingDocuments {
			return nil
		}
		if time.Since(began) > emptyingWait {
			return errEmptying
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(emptyingStep):
		}
	}
}

// checkTrees returns sheaf.ErrInvalid unless all trees have absolute folders and unique names that can begin an ID.
func checkTrees(trees []catalog.Tree) error {
	for i, t := range trees {
		switch {
		case t.Name == "" || strings.Contains(t.Name, ":"):
			return sheaf.Invalidf("trees: name %q of %s: must not be empty or hold a colon", t.Name, t.Root)
		case t.Root != "" && !filepath.IsAbs(t.Root):
			return sheaf.Invalidf("trees: root %q of %s: must be an absolute path", t.Root, t.Name)
		case slices.ContainsFunc(trees[:i], func(other catalog.Tree) bool { return other.Name == t.Name }):
			return sheaf.Invalidf("trees: name %q of %s: another tree has it", t.Name, t.Root)
		}
	}
	return nil
}

// treesNow sets o.Trees to the trees to index. These are the trees that the caller chose, and the trees of given
// documents. If another process changed trees after the caller read o.Known, treesNow keeps these changes. Recorded
// trees keep their order, so that two processes do not reorder them forever.
func (o *Options) treesNow(view *catalog.View) error {
	find := func(trees []catalog.Tree, name string) int {
		return slices.IndexFunc(trees, func(t catalog.Tree) bool { return t.Name == name })
	}
	now := view.Settings().Trees
	var out []catalog.Tree
	for _, t := range now {
		chosen, known := find(o.Trees, t.Name), find(o.Known, t.Name)
		switch {
		case chosen >= 0 && known < 0 && o.Known != nil && t.Root != o.Trees[chosen].Root:
			return fmt.Errorf("%w: another process has just given the name %q to folder %s, which this process meant for "+
				"%s: repeat the command", sheaf.ErrUnavailable, t.Name, t.Root, o.Trees[chosen].Root)
		case chosen >= 0 && known >= 0 && t != o.Known[known]:
			out = append(out, t)
		case chosen >= 0:
			out = append(out, o.Trees[chosen])
		case t.Root == "" || o.Known != nil && known < 0:
			out = append(out, t)
		}
	}
	for _, t := range o.Trees {
		if find(now, t.Name) < 0 && (len(now) == 0 || find(o.Known, t.Name) < 0) {
			out = append(out, t)
		}
	}
	o.Trees = out
	if o.Known != nil {
		o.Known = append([]catalog.Tree{}, now...)
	}
	return nil
}

// planSettings decides which settings the run records, if they differ from the recorded ones.
func (l *worklist) planSettings(view *catalog.View, o *Options) error {
	old, next := view.Settings(), o.settingsToRecord(view)
	next.Trees = slices.Clone(o.Trees)
	rebuild := o.Rebuild || view.Docs() == 0
	if cut, err := chunk.New(o.Chunk); err == nil { // Run and Change refuse other options
		if err := o.recordMaking("chunker", &next.Chunker, cut.Name(), rebuild); err != nil {
			return err
		}
	}
	if e := o.Embedder; e != nil {
		if err := o.recordMaking("model", &next.Embedder, e.Model(), rebuild); err != nil {
			return err
		}
		if next.Embedder == e.Model() {
			next.Dims = e.Dims()
		}
	}
	for tree, mounted := range l.mounted {
		if delete(next.Extra, mountedKey(tree)); mounted {
			next.Extra[mountedKey(tree)] = "yes"
		}
	}
	for tree, disks := range l.below {
		if delete(next.Extra, disksKey(tree)); len(disks) > 0 {
			next.Extra[disksKey(tree)] = sheaf.PathText(strings.Join(disks, diskBreak))
		}
	}
	if l.rereads {
		next.Extra[parserKey] = parserText
		delete(next.Extra, commentsKey)
		maps.Copy(next.Extra, CommentsExtra(l.hides))
	}
	l.listed = old.Extra[skippedKey] == hashSkips(l.report.Skipped)
	a, errA := json.Marshal(old)
	b, errB := json.Marshal(next)
	if errA != nil || errB != nil || string(a) != string(b) {
		l.settings = &next
	}
	if mark := old.Extra[RemakingKey]; mark != "" && mark != RemakingDocuments {
		return errEmptying
	}
	return o.Agrees(view)
}

// recordMaking records the chunker or model of the run: it sets *recorded, a name in the settings, to current. If
// *recorded has another name than current, recordMaking returns an error, with two exceptions. If o.Settings is not
// nil, the name in *recorded stays. If rebuild is true, current replaces it. The parameter what is "chunker" or
// "model", for the error.
func (o *Options) recordMaking(what string, recorded *string, current string, rebuild bool) error {
	switch {
	case *recorded != "" && (o.Settings != nil || *recorded == current):
		return nil
	case *recorded != "" && !rebuild:
		return sheaf.Invalidf("index: it was made with the %s %q, not with %q: use that one again, or run sheaf index "+
			"--rebuild",
			what, *recorded, current)
	}
	*recorded = current
	return nil
}

// settingsToRecord returns the settings that the run will record.
func (o *Options) settingsToRecord(view *catalog.View) catalog.Settings {
	next := view.Settings()
	extra := next.Extra
	next.Extra = map[string]string{}
	maps.Copy(next.Extra, extra)
	if o.Settings != nil {
		o.Settings(&next)
	}
	return next
}

// Agrees returns nil if the index was built with the analyzer, chunker and model that this run would record. Otherwise
// it returns ErrRebuilt. An index that is not built yet agrees with all settings. These indexes agree with any model:
//   - an index without documents
//   - an index that is being rebuilt and has recorded no model yet
func (o *Options) Agrees(view *catalog.View) error {
	made, here := view.Settings(), o.settingsToRecord(view)
	differ := func(what, made, here string) error {
		return fmt.Errorf("%w: its %s is %q, but this process uses %q", ErrRebuilt, what, made, here)
	}
	switch {
	case made.Analyzer == "":
		return nil
	case made.Analyzer != here.Analyzer:
		return differ("analyzer", made.Analyzer, here.Analyzer)
	case made.Chunker != here.Chunker:
		return differ("chunker", made.Chunker, here.Chunker)
	case made.Embedder != here.Embedder && view.Docs() > 0 && (made.Embedder != "" || made.Extra[RemakingKey] == ""):
		return differ("model", made.Embedder, here.Embedder)
	}
	return nil
}
