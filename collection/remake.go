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
	"sheaf/store"
)

// Remaking an index has three steps. A power failure may follow each step.
//
//  1. One write replaces the catalog by a new one with a mark and the texts that have no other copy.
//  2. The engine is emptied and the mark changed. Until then no process writes to the engine.
//  3. The files and those texts are indexed, and the mark is removed.
//
// A command that finds a mark continues from there. A server is emptied only on a person's request, because others may
// search there. Without such a request, its documents are replaced one by one.

// remakingKey is the setting that records the next step of a rebuild.
const (
	remakingKey     = ingest.RemakingKey
	remakingEngine  = "engine"                 // the engine must still be emptied
	remakingServer  = "server"                 // the server must still be emptied
	remakingContent = ingest.RemakingDocuments // documents must still be indexed
)

// ErrRemaking means that a rebuild of the index is not finished, so the index is incomplete.
var ErrRemaking = fmt.Errorf("%w: the index is being rebuilt, or a rebuild was interrupted", sheaf.ErrCorrupt)

// openToWrite closes the stores, which are open for reading only, and opens them for writing.
func (x *Index) openToWrite(ctx context.Context) error {
	x.Close()
	x.want.AsIs = false
	return x.OpenStores(ctx)
}

// remaking reports whether a rebuild of the index is not finished.
func (x *Index) remaking() bool { return x.View.Settings().Extra[remakingKey] != "" }

// mend repairs the lists of the catalog (see ingest.Relist) and an interrupted update, without remaking the index. It
// returns the faults that remain. If a remake cannot help, it returns an error.
func (x *Index) mend(ctx context.Context) ([]error, error) {
	err := x.whenFree(ctx, NeedFresh, x.Notice, func() error {
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

// Remake empties a damaged index and fills the index again from the files. If keep is true, the new index has the
// settings of the old one, otherwise the current settings. If several processes find the same damage, one process
// remakes the index, and the others wait. A notice shows the reason.
func (x *Index) Remake(ctx context.Context, reason error, keep bool) error {
	x.Notice("%v: it is made again from the files", reason)
	x.Close()
	release, waited := func() error { return nil }, false
	err := x.whenFree(ctx, NeedFresh, x.Notice, func() error {
		if !x.locked {
			free, err := location.Lock(x.Where.Dir)
			if err != nil {
				waited = true
				return err
			}
			release, x.locked = free, true
		}
		if waited {
			if err := x.OpenStores(ctx); err == nil && !x.remaking() {
				return nil // another process remade it
			}
			x.Close()
		}
		err := x.dropLocked(ctx, keep)
		if waited = errors.Is(err, vfs.ErrLocked); err == nil {
			err = x.OpenStores(ctx)
		}
		return err
	})
	if err == nil {
		err = x.Refresh(ctx)
	}
	x.locked = false
	return errors.Join(err, release())
}

// remakeDamaged checks the open stores. If a store is still damaged, remakeDamaged remakes the index.
func (x *Index) remakeDamaged(ctx context.Context) error {
	faults, _ := x.Faults(ctx) // a silent server is not repaired here
	if i := slices.IndexFunc(faults, func(fault error) bool { return errors.Is(fault, vfs.ErrCorrupt) }); i >= 0 &&
		ctx.Err() == nil {
		return x.Remake(ctx, faults[i], true)
	}
	return ctx.Err()
}

// Drop empties the index. It waits until no other process writes, and holds the lock of the index. Drop keeps the list
// of folders, and texts that no file can restore. With keep, it also keeps the settings, and fails if a folder is
// missing or unreadable. Without keep, it fails if every folder is missing, or a folder is unreadable. If Drop fails,
// nothing has changed.
func (x *Index) Drop(ctx context.Context, keep bool) error {
	x.Close()
	return x.whenFree(ctx, NeedFresh, x.Notice, func() error {
		release, err := location.Lock(x.Where.Dir)
		if err != nil {
			return err
		}
		return errors.Join(x.dropLocked(ctx, keep), release())
	})
}

func (x *Index) dropLocked(ctx context.Context, keep bool) error {
	w, err := x.examine()
	if err != nil {
		return err
	}
	trees := x.currentTrees(w.Settings.Trees)
	if err := foldersExist(trees); err != nil {
		if keep && errors.Is(err, sheaf.ErrNotFound) {
			err = Hint(err, "the index is damaged: bring the folder back first, because a repair would "+
				"lose its documents; or make the index again without the folder: sheaf index --rebuild --in %s",
				wording.ShellQuoted(x.Where.Root))
		}
		if keep || SomeFolder(trees) != nil {
			return errors.Join(err, w.Close())
		}
		x.Notice("%v: its documents are not found until it is back", err)
	}
	mark := remakingEngine
	if x.Target != nil && (x.want.Rebuild || w.Settings.Extra[remakingKey] == remakingServer) {
		mark = remakingServer
	}
	err = x.tryWrite(ctx, w.Settings.Analyzer)
	if err == nil && mark == remakingServer && !keep {
		err = x.dropOther(ctx)
	}
	if err == nil {
		err = x.keepCopy(w)
	}
	if err == nil {
		err = w.Replace(func(settings *catalog.Settings) {
			guessed, found := settings.Extra[guessedKey]
			if !keep {
				*settings, found = catalog.Settings{}, false
			}
			settings.Trees, settings.Extra = trees, map[string]string{remakingKey: mark}
			if found {
				settings.Extra[guessedKey] = guessed
			}
		})
	}
	return errors.Join(err, w.Close(), x.writeRecord())
}

// examine reads the undamaged parts of the catalog. Damage may hide that a given document was deleted. So examine uses
// the text of a given document only if intake.db still has the document.
func (x *Index) examine() (*catalog.Wreck, error) {
	dir := location.CatalogDir(x.Where.Dir)
	w, err := catalog.Examine(vfs.Disk{}, dir, x.isGiven)
	if err != nil || w.Unread == 0 {
		return w, err
	}
	kept, err := wasGiven(x.Where.Dir)
	if err == nil && kept == nil {
		return w, nil
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return catalog.Examine(vfs.Disk{}, dir, func(doc sheaf.ID, settings *catalog.Settings) bool {
		return x.isGiven(doc, settings) && kept(doc)
	})
}

// isGiven reports whether a document has no file in a folder of the index.
func (x *Index) isGiven(doc sheaf.ID, settings *catalog.Settings) bool {
	known := len(settings.Trees) > 0 || doc.Tree() != catalog.TreeName(x.Where.Root)
	return known && settings.Root(doc.Tree()) == ""
}

// keepCopy copies a damaged catalog if documents may be lost permanently, and lists the lost documents in x.Lost. Given
// documents in intake.db are not lost: they are indexed again.
func (x *Index) keepCopy(w *catalog.Wreck) error {
	kept, err := wasGiven(x.Where.Dir)
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
		return fmt.Errorf("save damaged files: %w", err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return fmt.Errorf("save damaged files: %w", err)
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
		x.Notice("%s cannot be read, not even the names; documents among them without source files are lost",
			wording.Plural(w.Unread, "entry", "entries"))
	}
	x.Notice("a copy of the damaged catalog is kept in %s", to)
	return nil
}

// empty does one step of a rebuild if mark is the recorded next step. It calls the function remove, which empties the
// engine or the server, with the catalog locked. If another process has done the step, empty does nothing.
func (x *Index) empty(ctx context.Context, mark string, remove func() error) error {
	switch {
	case x.View.Settings().Extra[remakingKey] != mark:
		return nil
	case x.want.AsIs:
		return ErrRemaking
	}
	return x.whenFree(ctx, NeedFresh, x.Notice, func() error { return x.emptyLocked(ctx, mark, remove) })
}

func (x *Index) emptyLocked(ctx context.Context, mark string, remove func() error) error {
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

// mark records which step of a rebuild comes next. "" means that the rebuild is finished.
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

// finish does the last step of a rebuild, if there is one. It indexes the given documents in intake.db that the catalog
// lost. Then it records that the rebuild is finished.
func (x *Index) finish(ctx context.Context) error {
	if err := x.reload(); err != nil {
		return err
	}
	if !x.remaking() {
		return nil
	}
	if err := x.recoverGiven(ctx); err != nil {
		return fmt.Errorf("index given documents: %w", err)
	}
	if err := x.mark(ctx, ""); err != nil {
		return err
	}
	return x.noteStrays(ctx)
}

// First reports whether the index is empty and no rebuild is unfinished: the next run is the first one.
func (x *Index) First() bool { return x.View.Docs() == 0 && !x.remaking() }

// repairGiven repairs intake.db if its damage is one of the faults, and returns the other faults. Call it before
// remaking the index: the index may still have texts that intake.db lost.
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

// Repair repairs what [Index.Faults] found, and returns the remaining faults.
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
		if x.reached != nil { // delete what no search finds; the next run writes it again
			if err = x.openToWrite(ctx); err != nil {
				return nil, err
			}
			if inspector, ok := x.Backend.(store.Inspector); ok {
				err = inspector.Remove(ctx, append(x.reached.Missing, x.reached.doubtful...))
			}
		}
		if err == nil {
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
