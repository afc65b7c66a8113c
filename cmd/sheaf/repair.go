package main

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
	"time"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/wording"
	"sheaf/store"
)

// An index is made again in three steps, each of which may be the last before
// the power fails. First the catalog is replaced, at once, by one that holds
// only the texts that are nowhere else, and a mark that says so. Then the engine
// is emptied, and the mark changed; before, nobody writes to it. Then the files are indexed as though they
// were new, the texts are indexed again, and the mark is taken away. Any command
// that finds a mark goes on from there. A server is emptied only when a person asked for
// it, because others may search there: else its documents are written in place.

// remakingKey is where the settings keep the mark.
const (
	remakingKey     = ingest.RemakingKey
	remakingEngine  = "engine"                 // the engine is still to be emptied
	remakingServer  = "server"                 // the server is still to be emptied
	remakingContent = ingest.RemakingDocuments // documents are still to be indexed
)

// errRemaking says that an index is not whole because making it again is not over.
var errRemaking = fmt.Errorf("%w: the index is being made again, or that was interrupted", sheaf.ErrCorrupt)

// repairJSON is what a repair did.
type repairJSON struct {
	Repaired bool `json:"repaired"`
	// Lost are the documents that had no source file, cannot be read and are kept nowhere, Copy
	// is where what is left of them is kept.
	Lost []string `json:"lost,omitempty"`
	Copy string   `json:"copy,omitempty"`
}

// repair checks the index, repairs it, and checks it again.
func (a *app) repair(cmd *cobra.Command) error {
	ctx := cmd.Context()
	var faults []error
	s, err := a.open(cmd, openOptions{asIs: true})
	if err == nil {
		faults, err = s.faults(ctx)
	} else if collection.Remakable(err) {
		// It does not open: opening it in earnest makes it again.
		faults = []error{err}
		s, err = a.open(cmd, openOptions{})
	}
	if err != nil {
		return err
	}
	defer s.close()
	before := faults
	s.asIs = false
	if len(faults) > 0 || s.stopped != "" || s.outdatedRead != "" {
		if faults, err = s.mend(ctx); err != nil {
			return s.advise(err)
		}
	}
	if len(faults) > 0 && !onlyStrays(faults) {
		if err = s.removeLost(ctx); err == nil {
			err = s.remake(ctx, faults[0], true)
		}
		if err == nil {
			faults, err = s.faults(ctx)
		}
		if err != nil {
			return s.advise(err)
		}
	}
	if onlyStrays(faults) {
		if faults, err = s.removeStrays(ctx, faults); err != nil {
			return s.advise(err)
		}
	}
	done := &repairJSON{Repaired: len(before) > 0 && len(faults) == 0, Lost: s.lost, Copy: s.copied}
	if len(faults) > 0 {
		before = faults
	}
	if err := a.printFaults(s.checked(before), done); err != nil {
		return err
	}
	if onlyStrays(faults) {
		return s.strayed()
	}
	if len(faults) > 0 {
		return fmt.Errorf("%w: %s: it cannot be repaired: %w", sheaf.ErrCorrupt, s.where.Dir, faults[0])
	}
	return nil
}

// removeLost deletes chunks that the server keeps and does not find, so that they are found when they
// are written again.
func (s *session) removeLost(ctx context.Context) error {
	if _, ok := s.backend.(store.Inspector); !ok || s.reached == nil {
		return nil
	}
	if err := s.openToWrite(ctx); err != nil {
		return err
	}
	inspector, ok := s.backend.(store.Inspector)
	if !ok {
		return nil
	}
	lost := s.reached.missing
	for some := range slices.Chunk(s.reached.doubt, countBatch) {
		list, err := unreachedOf(ctx, inspector, some)
		if err != nil {
			return err
		}
		lost = append(lost, list...)
	}
	return inspector.Remove(ctx, lost)
}

// unreachedOf are the chunks of ids with passages that no search by meaning finds, and few others.
func unreachedOf(ctx context.Context, inspector store.Inspector, ids []sheaf.ID) ([]sheaf.ID, error) {
	n, err := inspector.Unreached(ctx, ids)
	if n == 0 || err != nil || len(ids) < 8 {
		return ids[:min(n*len(ids), len(ids))], err
	}
	first, err := unreachedOf(ctx, inspector, ids[:len(ids)/2])
	if err != nil {
		return nil, err
	}
	rest, err := unreachedOf(ctx, inspector, ids[len(ids)/2:])
	return slices.Concat(first, rest), err
}

// removeStrays removes, when that is wanted, the documents that no file here brings back. It returns
// the faults that are left.
func (s *session) removeStrays(ctx context.Context, faults []error) ([]error, error) {
	lost, err := s.strays(ctx)
	if err != nil || len(lost.ours) == 0 {
		return faults, err
	}
	what := fmt.Sprintf("a repair removes %s from %s: %s", wording.Plural(len(lost.ours), "document", "documents"),
		s.target, lost.names(lost.ours))
	if err := s.confirm(what, s.otherPlace()); err != nil {
		return faults, err
	}
	if err := s.openToWrite(ctx); err != nil {
		return faults, err
	}
	if err := s.backend.Delete(ctx, lost.ours); err != nil {
		return faults, err
	}
	return s.faults(ctx)
}

// openToWrite opens the stores again, of an index that was only looked at.
func (s *session) openToWrite(ctx context.Context) error {
	s.close()
	s.asIs = false
	return s.openStores(ctx)
}

// remaking reports whether making the index again is not over.
func (s *session) remaking() bool { return s.view.Settings().Extra[remakingKey] != "" }

// mend repairs what can be without making everything again: lists that are
// damaged, and an index that was not brought up to date to its end. It returns
// the faults that are left.
func (s *session) mend(ctx context.Context) ([]error, error) {
	err := s.whenFree(ctx, func() error {
		_, err := ingest.Relist(ctx, s.catalog)
		return err
	})
	if err == nil {
		err = s.reload()
	}
	if err == nil {
		err = s.refresh(ctx)
	}
	switch {
	case err == nil:
		return s.faults(ctx)
	case collection.Remakable(err):
		return []error{err}, nil
	}
	return nil, err
}

// remake drops a damaged index and makes it again from the files, with keep as it
// was made before, without it as the settings say now. Several processes may find
// the same damage: one makes the index again, the others wait for it.
func (s *session) remake(ctx context.Context, because error, keep bool) error {
	s.notice("%v: it is made again from the files", because)
	s.close()
	var release func() error
	waited := false
	err := s.whenFree(ctx, func() (err error) {
		if release, err = location.Lock(s.where.Dir); err != nil {
			waited = true
		}
		return err
	})
	if err != nil {
		return err
	}
	s.locked = true
	defer func() { s.locked = false }()
	return errors.Join(s.remakeLocked(ctx, keep, waited), release())
}

// mending makes the index again when work on it meets damage.
func (s *session) mending() *collection.Life {
	return &collection.Life{Remake: func(ctx context.Context, because error) error { return s.remake(ctx, because, true) }}
}

// remakeDamaged looks for damage in all that is open, and makes the index again when there is
// some: another process may have done so since it was met.
func (s *session) remakeDamaged(ctx context.Context) error {
	faults, _ := s.faults(ctx) // of a server that does not answer, nothing is mended here
	if i := slices.IndexFunc(faults, func(fault error) bool { return errors.Is(fault, vfs.ErrCorrupt) }); i >= 0 &&
		ctx.Err() == nil {
		return s.remake(ctx, faults[i], true)
	}
	return ctx.Err()
}

func (s *session) remakeLocked(ctx context.Context, keep, waited bool) error {
	err := s.whenFree(ctx, func() error {
		if waited {
			if err := s.openStores(ctx); err == nil && !s.remaking() {
				return nil // another process made it again
			}
			s.close()
		}
		err := s.dropLocked(keep)
		if waited = errors.Is(err, vfs.ErrLocked); err == nil {
			err = s.openStores(ctx)
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.refresh(ctx)
}

// drop empties the index, under its lock and when nobody writes to it, but for the texts that have no source
// file. With keep the settings stay as they are, without it only the folders do.
// Nothing is changed when a folder is gone that the files would have to come
// from again; without keep that is so only when all are.
func (s *session) drop(ctx context.Context, keep bool) error {
	s.close()
	return s.whenFree(ctx, func() error {
		release, err := location.Lock(s.where.Dir)
		if err != nil {
			return err
		}
		return errors.Join(s.dropLocked(keep), release())
	})
}

func (s *session) dropLocked(keep bool) error {
	w, err := s.examine()
	if err != nil {
		return err
	}
	trees := s.placed(w.Settings.Trees)
	if err := foldersExist(trees); err != nil {
		if keep && errors.Is(err, sheaf.ErrNotFound) {
			err = withHint(err, "the index is damaged: bring the folder back first, since what is indexed of it would be "+
				"lost; or make the rest again without it: sheaf index --rebuild --in %s", wording.ShellQuoted(s.where.Root))
		}
		if keep || someFolder(trees) != nil {
			return errors.Join(err, w.Close())
		}
		s.notice("%v: what was indexed of it is gone until it is back", err)
	}
	if !keep {
		trees = ownNames(trees)
	}
	mark := remakingEngine
	if s.target != nil && (s.rebuilds || w.Settings.Extra[remakingKey] == remakingServer) {
		mark = remakingServer
	}
	err = s.keepCopy(w)
	if err == nil {
		err = w.Replace(func(settings *catalog.Settings) {
			guessed, found := settings.Extra[collection.GuessedKey]
			if !keep {
				*settings, found = catalog.Settings{}, false
			}
			settings.Trees, settings.Extra = trees, map[string]string{remakingKey: mark}
			if found {
				settings.Extra[collection.GuessedKey] = guessed
			}
		})
	}
	return errors.Join(err, w.Close(), s.writeRecord())
}

// examine reads what is left of the catalog. Where a part of it cannot be read, which may say what was
// deleted, texts that came over HTTP count only as far as they are kept.
func (s *session) examine() (*catalog.Wreck, error) {
	dir := location.CatalogDir(s.where.Dir)
	w, err := catalog.Examine(vfs.Disk{}, dir, s.given)
	if err != nil || w.Unread == 0 {
		return w, err
	}
	documents := filepath.Join(s.where.Dir, location.DocumentsName)
	if _, err := os.Stat(documents); errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	kept, err := collection.KeptIn(documents)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return catalog.Examine(vfs.Disk{}, dir, func(doc sheaf.ID, settings *catalog.Settings) bool {
		return s.given(doc, settings) && kept(doc)
	})
}

// ownNames are the trees, with another name for a folder's that is called as that of
// documents without one, as an earlier version called it.
func ownNames(trees []catalog.Tree) []catalog.Tree {
	trees = slices.Clone(trees)
	var names []string
	for _, t := range trees {
		names = append(names, t.Name)
	}
	for i := range trees {
		if t := &trees[i]; t.Name == catalog.FreeTree && t.Root != "" {
			t.Name = catalog.TreeName(t.Name, names...)
		}
	}
	return trees
}

// given reports whether a document has no source file.
func (s *session) given(doc sheaf.ID, settings *catalog.Settings) bool {
	known := len(settings.Trees) > 0 || doc.Tree() != catalog.TreeName(s.where.Root)
	return known && settings.Root(doc.Tree()) == ""
}

// keepCopy keeps the files of a catalog of which documents are lost for good, or
// may be: what came over HTTP is kept as it was given, and indexed again from there.
func (s *session) keepCopy(w *catalog.Wreck) error {
	documents := filepath.Join(s.where.Dir, location.DocumentsName)
	kept, err := collection.KeptIn(documents)
	if err != nil {
		return err
	}
	lost := slices.DeleteFunc(slices.Clone(w.Lost), kept)
	_, none := os.Stat(documents)
	rootless := slices.ContainsFunc(w.Settings.Trees, func(t catalog.Tree) bool { return t.Root == "" })
	if len(lost) == 0 && (w.Unread == 0 || none == nil || w.SettingsFound && !rootless) {
		return nil
	}
	from := location.CatalogDir(s.where.Dir)
	to := filepath.Join(s.where.Dir, location.DamagedName, time.Now().UTC().Format("20060102T150405.000"))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("keep what is damaged: %w", err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return fmt.Errorf("keep what is damaged: %w", err)
	}
	for _, id := range lost {
		s.lost = append(s.lost, string(id))
	}
	s.copied = to
	if len(lost) > 0 {
		s.notice("%s without source files cannot be read:", wording.Plural(len(lost), "document", "documents"))
		for _, id := range s.lost {
			s.notice("  %s", id)
		}
	}
	if w.Unread > 0 {
		s.notice("of %s not even the name can be read; those without source files are lost",
			wording.Plural(w.Unread, "entry", "entries"))
	}
	s.notice("a copy of the damaged catalog is kept in %s", to)
	return nil
}

// empty is the second step of making an index again, unless another process was first:
// remove empties what the mark says. Nobody writes there who does not hold the catalog.
func (s *session) empty(ctx context.Context, mark string, remove func() error) error {
	if err := s.reload(); err != nil || s.view.Settings().Extra[remakingKey] != mark {
		return err
	}
	if !s.locked {
		release, err := location.Lock(s.where.Dir)
		if err != nil {
			return err
		}
		defer release()
	}
	release, err := s.catalog.Hold()
	if err != nil {
		return err
	}
	if err = s.reload(); err == nil && s.view.Settings().Extra[remakingKey] == mark {
		if err = remove(); err == nil {
			err = s.mark(ctx, remakingContent)
		}
	}
	return errors.Join(err, release())
}

// mark changes how far making the index again is; "" says that it is over.
func (s *session) mark(ctx context.Context, mark string) error {
	settings := s.view.Settings()
	settings.Extra = maps.Clone(settings.Extra)
	delete(settings.Extra, remakingKey)
	if mark != "" {
		settings.Extra[remakingKey] = mark
	}
	if err := s.catalog.Update(ctx, catalog.Update{Settings: &settings}); err != nil {
		return err
	}
	return s.reload()
}

// finish is the end of making an index again: files and texts without files are indexed. Of what
// was given the catalog may have lost some, which is kept as it was given.
func (s *session) finish(ctx context.Context) error {
	if err := s.reload(); err != nil {
		return err
	}
	if !s.remaking() {
		return nil
	}
	if err := s.recoverGiven(ctx); err != nil {
		return fmt.Errorf("index documents that were given: %w", err)
	}
	if err := s.mark(ctx, ""); err != nil {
		return err
	}
	return s.noteStrays(ctx)
}

// first reports whether documents are to be written for the first time.
func (s *session) first() bool { return s.view.Docs() == 0 && !s.remaking() }

// looked is how many chunks of a folder a server is asked for, to see whose they are.
const looked = 1000

// refuseStrangers is an error when a server that is to be filled for the first time holds
// documents of other folders: words would be counted in both, and hits of the other ones
// would take the places of ours. Where it has documents of these folders, they were
// written from another machine, or before what was known of them here was lost: what else
// is there was given to them. A folder is known by its name and its files: of another one
// with the same name, documents of equal paths would be overwritten.
func (s *session) refuseStrangers(ctx context.Context, trees []catalog.Tree) error {
	if s.target == nil {
		return nil
	}
	ours := sheaf.In{Column: sheaf.ColumnTree}
	roots := map[string]string{}
	for _, t := range trees {
		ours.Values = append(ours.Values, sheaf.TextValue(t.Name))
		roots[t.Name] = t.Root
	}
	found, err := s.backend.Retrieve(ctx, anyChunk(store.Request{Limit: looked, Filter: ours}))
	if err != nil {
		return err
	}
	if len(found) > 0 {
		there := map[string]bool{} // whether a document is a file here
		missing, first := 0, ""
		for _, h := range found {
			path, is := fileOf(roots[h.ID.Tree()], h.ID.Path())
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
		begun := slices.Contains(slices.Collect(maps.Values(s.view.Pending())), ingest.ReasonBegun)
		if 2*missing <= len(there) || begun {
			return nil // or a first run from here was stopped
		}
		return s.strangers(fmt.Sprintf("another folder of the same name (of %s looked at, %d are no files here: %s), and "+
			"those of equal paths would be overwritten", wording.Plural(len(there), "document", "documents"), missing, first))
	}
	found, err = s.backend.Retrieve(ctx, anyChunk(store.Request{Limit: 1}))
	if err != nil || len(found) == 0 {
		return err
	}
	return s.strangers(fmt.Sprintf("another folder, %s among them, and words would be counted in both", found[0].ID))
}

// fileOf is the file in root that a chunk of path, with a slug behind it or not, can be of;
// false, and the path up to the first #, when there is none. Texts that came without a file,
// whose root is "", are left alone.
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

// strangers is the error of a place that holds documents of another folder.
func (s *session) strangers(what string) error {
	return withHint(fmt.Errorf("fill %s: %w: it holds documents of %s: name another place for this folder in store",
		s.target, sheaf.ErrInvalid, what), "%s", s.otherPlace())
}

// anyChunk asks for chunks whatever they say.
func anyChunk(req store.Request) store.Request {
	req.Text = &store.TextRequest{
		Query: sheaf.Bool{}, Fields: []store.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}}, K1: store.DefaultK1,
		B: store.DefaultB,
	}
	return req
}

// noteStrays says when a server holds what no document here has: another folder was kept
// there by a former version, or it was not emptied when the index was made again.
func (s *session) noteStrays(ctx context.Context) error {
	r, ok := s.backend.(store.Reporter)
	if s.target == nil || !ok {
		return nil
	}
	stats, err := r.Stats(ctx)
	if err == nil && stats.Chunks > s.view.Chunks() {
		s.notice("%s holds %s more than the documents here have, and counts words in them too: sheaf check names them",
			s.target,
			wording.Plural(stats.Chunks-s.view.Chunks(), "chunk", "chunks"))
	}
	return err
}
