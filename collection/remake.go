package collection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sheaf"
	"sheaf/collection/intake"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/wording"
)

// An index is made again in three steps. The power may fail after each.
//
//  1. One write replaces the catalog by one with the texts that exist nowhere else, and a mark.
//  2. The engine is emptied and the mark changed. Before, no process writes to the engine.
//  3. The files and those texts are indexed, and the mark is removed.
//
// Any command that finds a mark goes on from there. A server is emptied only when a person asked for it, because
// others may search there; else its documents are replaced in place.

// remakingKey is where the settings keep the mark.
const (
	remakingKey     = ingest.RemakingKey
	remakingEngine  = "engine"                 // the engine is still to be emptied
	remakingServer  = "server"                 // the server is still to be emptied
	remakingContent = ingest.RemakingDocuments // documents are still to be indexed
)

// ErrRemaking says that an index is not whole because making it again is not over.
var ErrRemaking = fmt.Errorf("%w: the index is being made again, or that was interrupted", sheaf.ErrCorrupt)

// openToWrite opens the stores again, of an index that was only looked at.
func (x *Index) openToWrite(ctx context.Context) error {
	x.Close()
	x.want.AsIs = false
	return x.OpenStores(ctx)
}

// remaking reports whether making the index again is not over.
func (x *Index) remaking() bool { return x.View.Settings().Extra[remakingKey] != "" }

// mend repairs what can be without making everything again: lists that are
// damaged, and an index that was not brought up to date to its end. It returns
// the faults that are left.
func (x *Index) mend(ctx context.Context) ([]error, error) {
	err := x.whenFree(ctx, func() error {
		_, err := ingest.Relist(ctx, x.Catalog)
		return err
	})
	if err == nil {
		err = x.reload()
	}
	if err == nil {
		err = x.Refresh(ctx)
	}
	switch {
	case err == nil:
		return x.Faults(ctx)
	case Remakable(err):
		return []error{err}, nil
	}
	return nil, err
}

// Remake drops a damaged index and makes it again from the files, with keep as it
// was made before, without it as the settings say now. Several processes may find
// the same damage: one makes the index again, the others wait for it.
func (x *Index) Remake(ctx context.Context, because error, keep bool) error {
	x.Notice("%v: it is made again from the files", because)
	x.Close()
	var release func() error
	waited := false
	err := x.whenFree(ctx, func() (err error) {
		if release, err = location.Lock(x.Where.Dir); err != nil {
			waited = true
		}
		return err
	})
	if err != nil {
		return err
	}
	x.locked = true
	defer func() { x.locked = false }()
	return errors.Join(x.remakeLocked(ctx, keep, waited), release())
}

// Mending makes the index again when work on it meets damage.
func (x *Index) Mending() *Life {
	return &Life{Remake: func(ctx context.Context, because error) error { return x.Remake(ctx, because, true) }}
}

// remakeDamaged looks for damage in all that is open, and makes the index again when there is
// some: another process may have done so since it was met.
func (x *Index) remakeDamaged(ctx context.Context) error {
	faults, _ := x.Faults(ctx) // of a server that does not answer, nothing is mended here
	if i := slices.IndexFunc(faults, func(fault error) bool { return errors.Is(fault, vfs.ErrCorrupt) }); i >= 0 &&
		ctx.Err() == nil {
		return x.Remake(ctx, faults[i], true)
	}
	return ctx.Err()
}

func (x *Index) remakeLocked(ctx context.Context, keep, waited bool) error {
	err := x.whenFree(ctx, func() error {
		if waited {
			if err := x.OpenStores(ctx); err == nil && !x.remaking() {
				return nil // another process made it again
			}
			x.Close()
		}
		err := x.dropLocked(keep)
		if waited = errors.Is(err, vfs.ErrLocked); err == nil {
			err = x.OpenStores(ctx)
		}
		return err
	})
	if err != nil {
		return err
	}
	return x.Refresh(ctx)
}

// Drop empties the index, under its lock and while no process writes to it. It keeps texts without a source file, and
// with keep also the settings; without keep only the folders stay. Drop changes nothing when a folder is missing whose
// files are needed; without keep that is so when all folders are missing.
func (x *Index) Drop(ctx context.Context, keep bool) error {
	x.Close()
	return x.whenFree(ctx, func() error {
		release, err := location.Lock(x.Where.Dir)
		if err != nil {
			return err
		}
		return errors.Join(x.dropLocked(keep), release())
	})
}

func (x *Index) dropLocked(keep bool) error {
	w, err := x.examine()
	if err != nil {
		return err
	}
	trees := x.placed(w.Settings.Trees)
	if err := foldersExist(trees); err != nil {
		if keep && errors.Is(err, sheaf.ErrNotFound) {
			err = Hint(err, "the index is damaged: bring the folder back first, since what is indexed of it would be "+
				"lost; or make the rest again without it: sheaf index --rebuild --in %s", wording.ShellQuoted(x.Where.Root))
		}
		if keep || SomeFolder(trees) != nil {
			return errors.Join(err, w.Close())
		}
		x.Notice("%v: what was indexed of it is gone until it is back", err)
	}
	if !keep {
		trees = ownNames(trees)
	}
	mark := remakingEngine
	if x.Target != nil && (x.want.Rebuild || w.Settings.Extra[remakingKey] == remakingServer) {
		mark = remakingServer
	}
	err = x.keepCopy(w)
	if err == nil {
		err = w.Replace(func(settings *catalog.Settings) {
			guessed, found := settings.Extra[GuessedKey]
			if !keep {
				*settings, found = catalog.Settings{}, false
			}
			settings.Trees, settings.Extra = trees, map[string]string{remakingKey: mark}
			if found {
				settings.Extra[GuessedKey] = guessed
			}
		})
	}
	return errors.Join(err, w.Close(), x.writeRecord())
}

// examine reads what is left of the catalog. Where a part of it cannot be read, which may say what was
// deleted, texts that came over HTTP count only as far as they are kept.
func (x *Index) examine() (*catalog.Wreck, error) {
	dir := location.CatalogDir(x.Where.Dir)
	w, err := catalog.Examine(vfs.Disk{}, dir, x.given)
	if err != nil || w.Unread == 0 {
		return w, err
	}
	kept, err := KeptIn(x.Where.Dir)
	if err == nil && kept == nil {
		return w, nil
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return catalog.Examine(vfs.Disk{}, dir, func(doc sheaf.ID, settings *catalog.Settings) bool {
		return x.given(doc, settings) && kept(doc)
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
func (x *Index) given(doc sheaf.ID, settings *catalog.Settings) bool {
	known := len(settings.Trees) > 0 || doc.Tree() != catalog.TreeName(x.Where.Root)
	return known && settings.Root(doc.Tree()) == ""
}

// keepCopy keeps a copy of a catalog that lost documents for good, or may have. What came over HTTP is also kept as it
// was given, and indexed again from there.
func (x *Index) keepCopy(w *catalog.Wreck) error {
	kept, err := KeptIn(x.Where.Dir)
	if err != nil {
		return err
	}
	none := kept == nil
	lost := slices.Clone(w.Lost)
	if !none {
		lost = slices.DeleteFunc(lost, kept)
	}
	rootless := slices.ContainsFunc(w.Settings.Trees, func(t catalog.Tree) bool { return t.Root == "" })
	if len(lost) == 0 && (w.Unread == 0 || !none || w.SettingsFound && !rootless) {
		return nil
	}
	from := location.CatalogDir(x.Where.Dir)
	to := filepath.Join(x.Where.Dir, location.DamagedName, time.Now().UTC().Format("20060102T150405.000"))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("keep what is damaged: %w", err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return fmt.Errorf("keep what is damaged: %w", err)
	}
	for _, id := range lost {
		x.Lost = append(x.Lost, string(id))
	}
	x.Copied = to
	if len(lost) > 0 {
		x.Notice("%s without source files cannot be read:", wording.Plural(len(lost), "document", "documents"))
		for _, id := range x.Lost {
			x.Notice("  %s", id)
		}
	}
	if w.Unread > 0 {
		x.Notice("of %s not even the name can be read; those without source files are lost",
			wording.Plural(w.Unread, "entry", "entries"))
	}
	x.Notice("a copy of the damaged catalog is kept in %s", to)
	return nil
}

// empty is the second step of making an index again, unless another process did it: remove empties what the mark
// names. Only the process that holds the catalog writes there.
func (x *Index) empty(ctx context.Context, mark string, remove func() error) error {
	if err := x.reload(); err != nil || x.View.Settings().Extra[remakingKey] != mark {
		return err
	}
	if !x.locked {
		release, err := location.Lock(x.Where.Dir)
		if err != nil {
			return err
		}
		defer release()
	}
	release, err := x.Catalog.Hold()
	if err != nil {
		return err
	}
	if err = x.reload(); err == nil && x.View.Settings().Extra[remakingKey] == mark {
		if err = remove(); err == nil {
			err = x.mark(ctx, remakingContent)
		}
	}
	return errors.Join(err, release())
}

// mark changes how far making the index again is; "" says that it is over.
func (x *Index) mark(ctx context.Context, mark string) error {
	settings := x.View.Settings()
	settings.Extra = maps.Clone(settings.Extra)
	delete(settings.Extra, remakingKey)
	if mark != "" {
		settings.Extra[remakingKey] = mark
	}
	if err := x.Catalog.Update(ctx, catalog.Update{Settings: &settings}); err != nil {
		return err
	}
	return x.reload()
}

// finish is the end of making an index again: files and texts without files are indexed. Of what
// was given the catalog may have lost some, which is kept as it was given.
func (x *Index) finish(ctx context.Context) error {
	if err := x.reload(); err != nil {
		return err
	}
	if !x.remaking() {
		return nil
	}
	if err := x.recoverGiven(ctx); err != nil {
		return fmt.Errorf("index documents that were given: %w", err)
	}
	if err := x.mark(ctx, ""); err != nil {
		return err
	}
	return x.noteStrays(ctx)
}

// First reports whether documents are to be written for the first time.
func (x *Index) First() bool { return x.View.Docs() == 0 && !x.remaking() }

// repairGiven repairs the file of given documents if it is among faults, and returns the others.
// The index has the texts of documents that are lost there, until it is made again.
func (x *Index) repairGiven(faults []error) (others []error, err error) {
	others = slices.DeleteFunc(slices.Clone(faults), func(err error) bool { return errors.Is(err, intake.ErrDamaged) })
	if len(others) == len(faults) {
		return faults, nil
	}
	lock, err := vfs.Disk{}.Lock(filepath.Join(x.Where.Dir, ownerLock))
	if err != nil {
		return nil, fmt.Errorf("repair given documents: %w; stop the server of this index first", err)
	}
	defer lock.Close()
	copied := filepath.Join(x.Where.Dir, location.DamagedName, time.Now().UTC().Format("20060102T150405.000")+"-intake.db")
	lost, err := intake.Open(x.Where.Dir).Repair(copied)
	if err != nil {
		return nil, fmt.Errorf("repair given documents: %w", err)
	}
	x.Notice("given documents were repaired; a copy of the damaged file is kept in %s", copied)
	for _, id := range lost {
		x.Lost = append(x.Lost, string(id))
		x.Notice("  %s cannot be read: put it again", id)
	}
	return others, nil
}

// Repair repairs what [Index.Faults] found and returns the faults that are left.
func (x *Index) Repair(ctx context.Context, faults []error) ([]error, error) {
	left, err := x.repair(ctx, faults)
	return left, x.Advise(err)
}

func (x *Index) repair(ctx context.Context, faults []error) (_ []error, err error) {
	x.want.AsIs = false
	if faults, err = x.repairGiven(faults); err != nil {
		return nil, err
	}
	if len(faults) > 0 || x.Stopped != "" || x.OutdatedRead != "" {
		if faults, err = x.mend(ctx); err != nil {
			return nil, err
		}
	}
	if len(faults) > 0 && !OnlyStrays(faults) {
		if err = x.removeLost(ctx); err == nil {
			err = x.Remake(ctx, faults[0], true)
		}
		if err == nil {
			faults, err = x.Faults(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	if OnlyStrays(faults) {
		return x.removeStrays(ctx, faults)
	}
	return faults, nil
}
