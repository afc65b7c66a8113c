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

// Remaking an index has three steps. A power failure may follow each step.
//
//  1. One write replaces the catalog by a new one with a mark and the texts that have no other copy.
//  2. The engine is emptied and the mark changed. Until then no process writes to the engine.
//  3. The files and those texts are indexed, and the mark is removed.
//
// A command that finds a mark continues from there. A server is emptied only on a person's request,
// because others may search there. Otherwise its documents are replaced one by one.

// remakingKey is the setting with the mark.
const (
	remakingKey     = ingest.RemakingKey
	remakingEngine  = "engine"                 // the engine must still be emptied
	remakingServer  = "server"                 // the server must still be emptied
	remakingContent = ingest.RemakingDocuments // documents must still be indexed
)

// ErrRemaking means that an index is incomplete because its rebuild is not finished.
var ErrRemaking = fmt.Errorf("%w: the index is being rebuilt, or a rebuild was interrupted", sheaf.ErrCorrupt)

// openToWrite reopens the stores of a read-only index for writing.
func (x *Index) openToWrite(ctx context.Context) error {
	x.Close()
	x.want.AsIs = false
	return x.OpenStores(ctx)
}

// remaking reports whether the rebuild of the index is unfinished.
func (x *Index) remaking() bool { return x.View.Settings().Extra[remakingKey] != "" }

// mend repairs faults that need no new index: damaged lists, and an update that stopped early. It
// returns the remaining faults.
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

// Remake drops a damaged index and makes it again from the files. With keep it uses the settings of
// the old index, else the current ones. If several processes find the same damage, one remakes the
// index and the others wait.
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

// Mending returns a Life that remakes the index if work finds damage.
func (x *Index) Mending() *Life {
	return &Life{Remake: func(ctx context.Context, because error) error { return x.Remake(ctx, because, true) }}
}

// remakeDamaged checks the open stores again and remakes the index if one is damaged: another
// process may already have done so.
func (x *Index) remakeDamaged(ctx context.Context) error {
	faults, _ := x.Faults(ctx) // a silent server is not repaired here
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
				return nil // another process remade it
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

// Drop empties the index under its lock, while no process writes to it. It keeps texts without a
// source file and the list of folders, and with keep also the settings. Drop changes nothing if a
// folder with needed files is missing or, without keep, if all folders are missing.
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
			err = Hint(err, "the index is damaged: bring the folder back first, because a repair would "+
				"lose its documents; or make the index again without the folder: sheaf index --rebuild --in %s",
				wording.ShellQuoted(x.Where.Root))
		}
		if keep || SomeFolder(trees) != nil {
			return errors.Join(err, w.Close())
		}
		x.Notice("%v: its documents are not found until it is back", err)
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

// examine reads the undamaged parts of the catalog. Damage may hide deletions, so a given text
// counts only if the file of given documents still has it.
func (x *Index) examine() (*catalog.Wreck, error) {
	dir := location.CatalogDir(x.Where.Dir)
	w, err := catalog.Examine(vfs.Disk{}, dir, x.given)
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
		return x.given(doc, settings) && kept(doc)
	})
}

// ownNames returns the trees. It renames a folder that an earlier version named like the tree of
// documents without a folder.
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

// keepCopy keeps a copy of a catalog that lost, or may have lost, documents permanently. Given
// documents are indexed again from their own file.
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

// empty is the second step of remaking, if the index has this mark: remove empties the engine or the server. Another
// process may do the step first. Only the process that locks the catalog writes to the engine or the server.
func (x *Index) empty(ctx context.Context, mark string, remove func() error) error {
	switch {
	case x.View.Settings().Extra[remakingKey] != mark:
		return nil
	case x.want.AsIs:
		return ErrRemaking
	}
	return x.whenFree(ctx, func() error { return x.emptyLocked(ctx, mark, remove) })
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

// mark records the next step of remaking; "" means that remaking is finished.
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

// finish is the last step of remaking: it indexes files and texts without files. Given documents
// that the catalog lost come from their own file.
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

// First reports whether nothing has been indexed yet.
func (x *Index) First() bool { return x.View.Docs() == 0 && !x.remaking() }

// repairGiven repairs the file of given documents if it is among faults, and returns the other
// faults. The index still has texts that this file lost, so repairGiven comes before remaking.
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

// Repair repairs the findings of [Index.Faults] and returns the remaining faults.
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
