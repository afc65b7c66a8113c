package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"sheaf"
	"sheaf/cmd/sheaf/internal/storeurl"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/internal/wording"
	"sheaf/store"
	"sheaf/text/analysis"
)

// losses are the documents that are gone for good when what holds them is emptied.
type losses struct {
	// others are of trees that this folder does not have, ours are of its own trees: no file is
	// there, and the catalog does not know them.
	others, ours []sheaf.ID
	// gone are documents of added folders that are not there.
	gone []sheaf.ID
	// more says that there are more than are listed, and hidden why none can be listed.
	more   bool
	hidden error
}

// mostLosses is how many documents are listed at most: enough to see whose they are.
const mostLosses = 1000

// shownLosses is how many of them a message names.
const shownLosses = 5

func (l *losses) all() []sheaf.ID {
	return append(append(append([]sheaf.ID{}, l.others...), l.ours...), l.gone...)
}

func (l *losses) none() bool { return len(l.all()) == 0 && l.hidden == nil }

// String names the documents for people.
func (l *losses) String() string {
	if l.hidden != nil {
		return fmt.Sprintf("documents that cannot be listed (%v)", l.hidden)
	}
	text := wording.Plural(len(l.all()), "document", "documents")
	if l.more {
		text = "more than " + text
	}
	return text + " that the files of this folder cannot bring back: " + l.names(l.all())
}

// names are the first of some documents, for people.
func (l *losses) names(list []sheaf.ID) string {
	names := make([]string, 0, shownLosses)
	for _, id := range list[:min(len(list), shownLosses)] {
		names = append(names, wording.Clean(string(id)))
	}
	text := strings.Join(names, ", ")
	if rest := len(list) - len(names); rest > 0 {
		text += fmt.Sprintf(" and %s more", wording.Count(rest))
	}
	return text
}

// askBeforeLoss asks before an index is made again, when that removes documents that the files of
// this folder cannot bring back.
func (s *session) askBeforeLoss(ctx context.Context) error {
	lost, err := s.rebuildLosses(ctx)
	if err != nil || lost.none() {
		return err
	}
	what := fmt.Sprintf("a rebuild of %s removes %s", s.storeName(), lost)
	if s.target == nil || len(lost.gone) > 0 && len(lost.all()) == len(lost.gone) {
		return s.confirm(what, "bring the folders back first")
	}
	return s.confirm(what, s.otherPlace())
}

// confirm asks whether to go on although something is lost. Off a terminal that needs --yes. keep is
// what loses nothing.
func (s *session) confirm(what, keep string) error {
	if s.app.yes {
		s.notice("%s", what)
		return nil
	}
	if !s.app.out.Terminal || s.json {
		return withHint(sheaf.Invalidf("%s: nothing is changed without --yes", what), "to keep them: %s", keep)
	}
	fmt.Fprintf(s.stdout, "%s\nremove them? [y/N] ", what)
	if err := s.flush(); err != nil {
		return err
	}
	answer, _ := bufio.NewReader(s.stdin).ReadString('\n') // nothing is no
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer == "y" || answer == "yes" {
		return nil
	}
	return withHint(sheaf.Invalidf("%s: nothing is changed", what), "to keep them: %s", keep)
}

// otherPlace says how this folder gets a place of its own on the server of the session.
func (s *session) otherPlace() string {
	if flag := s.app.elsewhere; flag != "" {
		return fmt.Sprintf("name another %s for this folder: %s %s gives it one of its own", s.target.PlaceKind(), flag,
			wording.ShellQuoted(s.target.Server()))
	}
	return fmt.Sprintf("give this folder a place of its own: sheaf config set --in %s store %s",
		wording.ShellQuoted(s.where.Root), wording.ShellQuoted(s.target.Server()))
}

// rebuildLosses lists what a rebuild removes for good.
func (s *session) rebuildLosses(ctx context.Context) (*losses, error) {
	lost := &losses{}
	trees := []catalog.Tree{{Name: catalog.TreeName(s.where.Root), Root: s.where.Root}}
	settings, knows := catalog.Settings{}, func(sheaf.ID) bool { return false }
	if s.where.Exists {
		c, err := catalog.Open(vfs.Disk{}, location.CatalogDir(s.where.Dir), catalog.Options{})
		if err == nil { // of a damaged one nothing is known
			defer c.Close()
			view := c.View()
			defer view.Close()
			settings = view.Settings()
			if len(settings.Trees) > 0 {
				trees = s.placed(settings.Trees)
			}
			knows = func(id sheaf.ID) bool { _, ok := view.Document(id); return ok }
			lost.addGone(view, trees)
		}
	}
	if s.target == nil {
		return lost, nil
	}
	store, err := s.openToList(ctx)
	if errors.Is(err, sheaf.ErrNotFound) {
		return lost, nil // somebody removed it
	}
	if err != nil {
		return nil, collection.StoreError{Err: err}
	}
	defer store.Close()
	err = lost.addStrays(ctx, store, trees, knows)
	if errors.Is(err, sheaf.ErrNotFound) { // somebody removed a part of it
		if settings.Analyzer == "" { // and it was not filled from here
			lost.hidden = err
		}
		err = nil
	}
	return lost, err
}

// addGone adds the documents of trees whose folders are not there.
func (l *losses) addGone(view *catalog.View, trees []catalog.Tree) {
	gone := map[string]bool{}
	for _, t := range trees {
		if t.Root != "" {
			_, err := os.Stat(t.Root)
			gone[t.Name] = errors.Is(err, fs.ErrNotExist)
		}
	}
	for id := range view.Files() {
		if gone[id.Tree()] {
			l.gone = append(l.gone, id)
		}
	}
	slices.Sort(l.gone)
}

// errEnough ends a list that is long enough.
var errEnough = errors.New("enough")

// addStrays adds the documents of a store that the catalog does not know and no file of the trees
// brings back.
func (l *losses) addStrays(ctx context.Context, st store.Backend, trees []catalog.Tree,
	knows func(sheaf.ID) bool) error {
	roots := map[string]string{}
	for _, t := range trees {
		roots[t.Name] = t.Root
	}
	seen := map[sheaf.ID]bool{}
	add := func(doc sheaf.ID) error {
		if seen[doc] {
			return nil
		}
		seen[doc] = true
		root, own := roots[doc.Tree()]
		switch {
		case knows(doc):
		case !own:
			l.others = append(l.others, doc)
		case root != "" && isFile(root, doc.Path()):
		default:
			l.ours = append(l.ours, doc)
		}
		if l.more = len(l.others)+len(l.ours) > mostLosses; l.more {
			return errEnough
		}
		return nil
	}
	err := eachDocument(ctx, st, add)
	slices.Sort(l.others)
	slices.Sort(l.ours)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return err
}

func isFile(root, path string) bool {
	_, is := fileOf(root, path)
	return is
}

// eachDocument calls yield with the documents of a store, some of them more than once. A store that
// cannot give back what it holds tells some of them only.
func eachDocument(ctx context.Context, st store.Backend, yield func(doc sheaf.ID) error) error {
	if streamer, ok := st.(store.Streamer); ok {
		err := streamer.Stream(ctx, "", func(chunks []store.Chunk, _ string) error {
			for i := range chunks {
				if err := yield(chunks[i].Doc); err != nil {
					return err
				}
			}
			return nil
		})
		// A search can still find documents in a store that has lost a part.
		if !errors.Is(err, sheaf.ErrUnsupported) && !errors.Is(err, sheaf.ErrNotFound) {
			return err
		}
	}
	found, err := st.Retrieve(ctx, anyChunk(store.Request{Limit: looked}))
	if err != nil {
		return err
	}
	for _, h := range found {
		path, _, _ := strings.Cut(h.ID.Path(), "#")
		if err := yield(sheaf.DocumentID(h.ID.Tree(), path)); err != nil {
			return err
		}
	}
	return nil
}

// openToList opens the server of the session to list its documents, whatever it was filled with.
func (s *session) openToList(ctx context.Context) (store.Backend, error) {
	a, err := analysis.New(analysis.Options{})
	if err != nil {
		return nil, err
	}
	return s.target.Open(ctx, a, nil, storeurl.ListOnly)
}
