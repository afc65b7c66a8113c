package collection

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sheaf"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/wording"
	"sheaf/store"
	"sheaf/text/analysis"
)

// removeStrays asks the person, then removes the stray documents of this folder from the server: see strays. It returns
// the faults that remain. The error says why the documents were not removed, for example because the person refused.
func (x *Index) removeStrays(ctx context.Context, faults []error) ([]error, error) {
	lost, err := x.strays(ctx)
	if err != nil || len(lost.ours) == 0 {
		return faults, err
	}
	what := fmt.Sprintf("a repair removes %s from %s: %s", wording.Plural(len(lost.ours), "document", "documents"),
		x.Target, lost.names(lost.ours))
	if err := x.Confirm(what, x.otherPlace()); err != nil {
		return faults, err
	}
	if err := x.openToWrite(ctx); err != nil {
		return faults, err
	}
	if err := x.Backend.Write(ctx, store.Batch{Replace: lost.ours}); err != nil {
		return faults, err
	}
	return x.Faults(ctx)
}

// lookedChunks is the largest number of chunks to read from a server to find out who wrote these chunks.
const lookedChunks = 1000

// refuseStrangers returns an error if the server has documents of another folder. Two folders in one place would count
// each other's words and show each other's hits. Call refuseStrangers before the first run.
//
// The server may have documents in trees with the names of this folder's trees. They are accepted if at least half of
// them have files here, because another machine may have indexed these files. If fewer have files, the documents belong
// to another folder with the same name. A run could then overwrite documents with equal paths. As an exception,
// refuseStrangers accepts them if a run of this index stopped in the middle. refuseStrangers also warns of documents
// that stay in another store.
func (x *Index) refuseStrangers(ctx context.Context, trees []catalog.Tree) error {
	x.noteLeftBehind()
	if x.Target == nil {
		return nil
	}
	ours := sheaf.In{Column: sheaf.ColumnTree}
	for _, t := range trees {
		ours.Values = append(ours.Values, sheaf.TextValue(t.Name))
	}
	roots := catalog.Settings{Trees: trees}
	found, err := x.Backend.Retrieve(ctx, anyChunk(store.Request{Limit: lookedChunks, Filter: ours}))
	if err != nil {
		return err
	}
	if len(found) > 0 {
		there := map[string]bool{} // whether a file here has the document's path
		missing, first := 0, ""
		for _, h := range found {
			path, is := fileOf(roots.Root(h.ID.Tree()), h.ID.Path())
			doc := h.ID.Tree() + ":" + path
			if _, seen := there[doc]; seen {
				continue
			}
			if there[doc] = is; !is {
				if missing++; first == "" {
					first = doc
				}
			}
		}
		begun := slices.Contains(slices.Collect(maps.Values(x.View.Pending())), ingest.ReasonBegun)
		if 2*missing <= len(there) || begun {
			return nil // a first run from here may have stopped
		}
		return x.strangers(fmt.Sprintf("another folder with the same name (%d of %s have no file here, such as %s), and "+
			"documents with equal paths would be overwritten", missing, wording.Plural(len(there), "document", "documents"),
			first))
	}
	found, err = x.Backend.Retrieve(ctx, anyChunk(store.Request{Limit: 1}))
	if err != nil || len(found) == 0 {
		return err
	}
	return x.strangers(fmt.Sprintf("another folder, such as %s, and each folder would count the words of both",
		found[0].ID))
}

// fileOf returns the path of the file in root from which a chunk came. path may end with "#" and a slug, which are not
// part of the result. If no such file exists, fileOf returns the path before the first "#", and false. If root is "",
// documents have no files: fileOf returns path unchanged, and true.
func fileOf(root, path string) (string, bool) {
	if root == "" {
		return path, true
	}
	for {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(path))); err == nil {
			return path, true
		}
		i := strings.LastIndexByte(path, '#')
		if i < 0 {
			return path, false
		}
		path = path[:i]
	}
}

// strangers returns the error for a store that has documents of another folder. content describes these documents.
func (x *Index) strangers(content string) error {
	return Hint(fmt.Errorf("fill %s: %w: it holds documents of %s: choose another store for this folder",
		x.Target, sheaf.ErrInvalid, content), "%s", x.otherPlace())
}

func anyChunk(req store.Request) store.Request {
	req.Text = &store.TextRequest{
		Query: sheaf.Bool{}, Fields: []store.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}}, K1: store.DefaultK1,
		B: store.DefaultB,
	}
	return req
}

// noteStrays prints a notice if the server has chunks that belong to no document of this folder. Either an earlier
// version stored another folder there, or a rebuild did not empty the server.
func (x *Index) noteStrays(ctx context.Context) error {
	r, ok := x.Backend.(store.Reporter)
	if x.Target == nil || !ok {
		return nil
	}
	stats, err := r.Stats(ctx)
	if err == nil && stats.Chunks > x.View.Chunks() {
		x.Notice("%s holds %s to no document here, and counts their words: sheaf check names them",
			x.Target, wording.Plural(stats.Chunks-x.View.Chunks(), "chunk that belongs", "chunks that belong"))
	}
	return err
}

// losses lists the documents that are lost permanently when their store is emptied.
type losses struct {
	// foreign lists documents in trees that do not belong to this folder. ours lists documents in trees of this folder
	// that have no file and are not in the catalog.
	foreign, ours []sheaf.ID
	// gone lists documents whose folders are missing or whose files cannot be read now.
	gone []sheaf.ID
	// more means that the lists are incomplete. hidden says why the store's documents cannot be listed, or is nil.
	more   bool
	hidden error
}

// mostLosses limits the documents in the lists of losses. This number is enough to show who wrote the documents.
const mostLosses = 1000

// shownLosses is the largest number of documents that a message names.
const shownLosses = 5

func (l *losses) all() []sheaf.ID {
	return append(append(append([]sheaf.ID{}, l.foreign...), l.ours...), l.gone...)
}

func (l *losses) none() bool { return len(l.all()) == 0 && l.hidden == nil }

// String describes the documents for people.
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

// names returns the first names of a list, as a text for people.
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

// askBeforeLoss asks the person before a rebuild removes documents that no file of this folder can restore.
func (x *Index) askBeforeLoss(ctx context.Context) error {
	lost, err := x.rebuildLosses(ctx)
	if err != nil || lost.none() {
		return err
	}
	what := fmt.Sprintf("a rebuild of %s removes %s", x.StoreName(), lost)
	if x.Target == nil || len(lost.gone) > 0 && len(lost.all()) == len(lost.gone) {
		return x.Confirm(what, "bring the folders and files back first")
	}
	return x.Confirm(what, x.otherPlace())
}

// otherPlace returns advice: how to give this folder its own place on the server.
func (x *Index) otherPlace() string {
	if flag := x.Flag; flag != "" {
		return fmt.Sprintf("name another %s for this folder: %s %s gives this folder its own", x.Target.PlaceKind(), flag,
			wording.ShellQuoted(x.Target.Server()))
	}
	return fmt.Sprintf("give this folder its own place: sheaf config set --in %s store %s",
		wording.ShellQuoted(x.Where.Root), wording.ShellQuoted(x.Target.Server()))
}

// rebuildLosses returns the documents that a rebuild would remove permanently.
func (x *Index) rebuildLosses(ctx context.Context) (*losses, error) {
	lost := &losses{}
	trees := []catalog.Tree{{Name: catalog.TreeName(x.Where.Root), Root: x.Where.Root}}
	settings, knows := catalog.Settings{}, func(sheaf.ID) bool { return false }
	if x.Where.Exists {
		c, err := catalog.Open(vfs.Disk{}, location.CatalogDir(x.Where.Dir), catalog.Options{})
		if err == nil { // a damaged catalog lists nothing
			defer c.Close()
			view := c.View()
			defer view.Close()
			settings = view.Settings()
			if len(settings.Trees) > 0 {
				trees = x.currentTrees(settings.Trees)
			}
			knows = func(id sheaf.ID) bool { _, ok := view.Document(id); return ok }
			lost.gone = unreachable(view, trees)
		}
	}
	if x.Target == nil {
		return lost, nil
	}
	a, err := analysis.New(analysis.Options{})
	if err != nil {
		return nil, err
	}
	st, err := x.Target.Open(ctx, a, nil, store.ListOnly) // accept a store with other settings
	if errors.Is(err, sheaf.ErrNotFound) {
		return lost, nil // another process removed the store
	}
	if err != nil {
		return nil, StoreError{err}
	}
	defer st.Close()
	err = lost.addStrays(ctx, st, trees, knows)
	if errors.Is(err, sheaf.ErrNotFound) { // another process removed a part of the store
		if settings.Analyzer == "" { // this index did not fill the store
			lost.hidden = err
		}
		err = nil
	}
	return lost, err
}

// unreachable returns the documents in missing folders, and those with unreadable files, sorted by ID. It skips folders
// that exist but cannot be listed, because a rebuild fails for such folders.
func unreachable(view *catalog.View, trees []catalog.Tree) (docs []sheaf.ID) {
	roots, gone := map[string]string{}, map[string]bool{}
	for _, t := range trees {
		if t.Root != "" {
			err := listable(t.Root)
			if gone[t.Name] = errors.Is(err, fs.ErrNotExist); err == nil {
				roots[t.Name] = t.Root
			}
		}
	}
	for id := range view.Files() {
		root := roots[id.Tree()]
		if gone[id.Tree()] || root != "" &&
			catalog.Unreadable(vfs.Disk{}, filepath.Join(root, filepath.FromSlash(id.Path()))) {
			docs = append(docs, id)
		}
	}
	slices.Sort(docs)
	return docs
}

// errEnough stops a loop over documents when the lists of losses are long enough.
var errEnough = errors.New("enough")

// addStrays adds documents of the store that the catalog lacks and that no file in trees can restore. knows reports
// whether the catalog has a document.
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
		_, is := fileOf(root, doc.Path())
		switch {
		case knows(doc):
		case !own:
			l.foreign = append(l.foreign, doc)
		case root == "" || !is:
			l.ours = append(l.ours, doc)
		}
		if l.more = len(l.foreign)+len(l.ours) > mostLosses; l.more {
			return errEnough
		}
		return nil
	}
	err := eachDocument(ctx, st, add)
	slices.Sort(l.foreign)
	slices.Sort(l.ours)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return err
}

// eachDocument calls yield with each document of a store. It may call yield with a document more than once. If the
// store cannot list its content, eachDocument misses some documents.
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
	found, err := st.Retrieve(ctx, anyChunk(store.Request{Limit: lookedChunks}))
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
