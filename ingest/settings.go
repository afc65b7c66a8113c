package ingest

import (
	"context"
	"encoding/json"
	"errors"
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

// ErrMadeAnew means that another process rebuilt the index in another way since it was
// opened here, or is doing so: the caller must open it again. It wraps sheaf.ErrUnavailable.
var ErrMadeAnew = fmt.Errorf("%w: another process made the index anew", sheaf.ErrUnavailable)

// RemakingKey is where the settings' Extra says that an index is being made anew. With
// another value than RemakingDocuments the store is still to be emptied: what was written
// to it before would be removed, and the catalog would know documents that are not there.
const (
	RemakingKey       = "remaking"
	RemakingDocuments = "documents"
)

// errEmptying says that the store is still to be emptied.
var errEmptying = fmt.Errorf("%w: what it held is still to be removed", ErrMadeAnew)

// The process that makes an index anew empties the store in the next instant, unless it
// ended before.
const (
	emptyingWait = time.Second
	emptyingStep = 20 * time.Millisecond
)

// whenEmptied tries until the store is emptied, or nobody seems to do that.
func whenEmptied(ctx context.Context, try func() (*Report, error)) (*Report, error) {
	for began := time.Now(); ; {
		report, err := try()
		if !errors.Is(err, errEmptying) || time.Since(began) > emptyingWait {
			return report, err
		}
		select {
		case <-ctx.Done():
			return report, ctx.Err()
		case <-time.After(emptyingStep):
		}
	}
}

// checkTrees returns an error that wraps sheaf.ErrInvalid unless each tree has a unique name
// that an ID can begin with, and an absolute folder.
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

// treesNow decides which trees to index: the chosen ones, as another process added, moved or
// removed them since then, and those without a folder, whose given documents stay. They keep
// the recorded order; otherwise two processes would each restore their own.
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
			return fmt.Errorf("%w: another process has just added the folder %s as %q, and so is %s to be called: repeat the "+
				"command", sheaf.ErrUnavailable, t.Root, t.Name, o.Trees[chosen].Root)
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

// planSettings decides whether the recorded settings change.
func (l *worklist) planSettings(view *catalog.View, o *Options) error {
	old, next := view.Settings(), o.recorded(view)
	next.Trees = slices.Clone(o.Trees)
	anew := o.Rebuild || view.Docs() == 0
	if cut, err := chunk.New(o.Chunk); err == nil { // Run and Change refuse others
		if err := o.made("chunker", &next.Chunker, cut.Name(), anew); err != nil {
			return err
		}
	}
	if e := o.Embedder; e != nil {
		if err := o.made("model", &next.Embedder, e.Model(), anew); err != nil {
			return err
		}
		if next.Embedder == e.Model() {
			next.Dims = e.Dims()
		}
	}
	for tree, mounted := range l.mounted {
		if mounted {
			next.Extra[mountedKey(tree)] = "yes"
		} else {
			delete(next.Extra, mountedKey(tree))
		}
	}
	for tree, disks := range l.below {
		if len(disks) > 0 {
			next.Extra[disksKey(tree)] = sheaf.PathText(strings.Join(disks, diskBreak))
		} else {
			delete(next.Extra, disksKey(tree))
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

// made records what the collection is made with where Settings does not, and refuses to add
// to a collection that was made with another.
func (o *Options) made(what string, recorded *string, here string, anew bool) error {
	switch {
	case *recorded != "" && (o.Settings != nil || *recorded == here):
		return nil
	case *recorded != "" && !anew:
		return sheaf.Invalidf("index: it was made with the %s %q, and %q is given now: give that one, or index everything "+
			"again", what, *recorded, here)
	}
	*recorded = here
	return nil
}

// recorded returns the settings that the next run records.
func (o *Options) recorded(view *catalog.View) catalog.Settings {
	next := view.Settings()
	extra := next.Extra
	next.Extra = map[string]string{}
	maps.Copy(next.Extra, extra)
	if o.Settings != nil {
		o.Settings(&next)
	}
	return next
}

// Agrees returns nil when the index was made as Settings records, or was not made yet;
// otherwise an error that wraps ErrMadeAnew. Any model agrees with an index without
// documents, and with one without vectors that is being remade, which keeps its given
// documents meanwhile.
func (o *Options) Agrees(view *catalog.View) error {
	made, here := view.Settings(), o.recorded(view)
	differ := func(what, made, here string) error {
		return fmt.Errorf("%w: its %s is %q, and %q is used here", ErrMadeAnew, what, made, here)
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
