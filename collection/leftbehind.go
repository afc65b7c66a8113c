package collection

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"sheaf"
	"sheaf/collection/intake"
	"sheaf/collection/location"
	"sheaf/internal/wording"
)

// LeftBehind returns the IDs of given documents that the first of two stores has and the second lacks. The parameters
// from and to are the folders of the two stores in the index: see [location.Location.Places].
func LeftBehind(from, to string) (ids []sheaf.ID, err error) {
	there := map[sheaf.ID]bool{}
	if err := eachGiven(to, func(id sheaf.ID) { there[id] = true }); err != nil {
		return nil, err
	}
	err = eachGiven(from, func(id sheaf.ID) {
		if !there[id] {
			ids = append(ids, id)
		}
	})
	slices.Sort(ids)
	return ids, err
}

func eachGiven(dir string, yield func(sheaf.ID)) error {
	err := intake.Open(dir).View(func(tx *intake.Tx) error {
		for id := range tx.Hashes() {
			yield(id)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read given documents: %w", err)
	}
	return nil
}

// LeftBehindText returns a message for the user. The message lists the documents that [LeftBehind] found, and shows the
// command that copies them. folder is the covered folder. The parameters from and to are the addresses of the stores.
func LeftBehindText(ids []sheaf.ID, folder, from, to string) string {
	return fmt.Sprintf("%s in %s: %s; to copy what stays: sheaf copy --given --from %s --to %s --in %s",
		wording.Plural(len(ids), "document that came over HTTP stays", "documents that came over HTTP stay"), from,
		(&losses{}).names(ids), wording.ShellQuoted(from), wording.ShellQuoted(to), wording.ShellQuoted(folder))
}

// KnownStore returns nil if dir is the folder of a store that the index at base has used. Otherwise the error is
// sheaf.ErrNotFound. The text of the error has address, the address of the store, and lists the stores that the index
// used.
func KnownStore(base location.Location, dir, address string) error {
	var known []string
	for _, place := range base.Places() {
		if name, ok := storeIn(base, place); ok {
			if place == dir {
				return nil
			}
			known = append(known, name)
		}
	}
	if known == nil {
		return fmt.Errorf("%w: the index of %s has no documents in any store", sheaf.ErrNotFound, base.Root)
	}
	return fmt.Errorf("%w: the index of %s never used the store %s; it used %s", sheaf.ErrNotFound, base.Root, address,
		strings.Join(known, ", "))
}

// storeIn returns the address of the store in the folder dir, and whether the index used it. dir is one of
// [location.Location.Places].
func storeIn(base location.Location, dir string) (address string, used bool) {
	record, err := location.ReadRecord(dir)
	switch {
	case dir == base.Dir:
		return EngineStore, err == nil
	case record.Store == "":
		return "ADDRESS", err == nil // an earlier version did not record it
	}
	return record.Store, true
}

// noteLeftBehind warns if other stores of this folder have given documents. Call it before the first run into a store.
// If a flag chose the store, it prints nothing: sheaf copy has this flag, and reports these documents itself.
func (x *Index) noteLeftBehind() {
	if x.Flag != "" {
		return
	}
	for _, dir := range x.Base.Places() {
		if dir == x.Where.Dir {
			continue
		}
		if ids, err := LeftBehind(dir, x.Where.Dir); err == nil && len(ids) > 0 {
			from, _ := storeIn(x.Base, dir)
			x.Warn("%s", LeftBehindText(ids, x.Base.Root, from, cmp.Or(x.Address, x.StoreName())))
		}
	}
}

// TakeGiven copies given documents from another store into this store, indexes them and returns their IDs. It takes the
// documents that [LeftBehind] finds. from is the folder of the other store. If another process accepts documents for
// this store, the error is [ErrTaken].
func (x *Index) TakeGiven(ctx context.Context, from string) ([]sheaf.ID, error) {
	ids, err := LeftBehind(from, x.Where.Dir)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	c, err := x.Collection()
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }() // a failed close loses no data
	if err := c.acquireOwner(); err != nil {
		return nil, err
	}
	defer c.disown()
	source := intake.Open(from)
	err = source.View(func(theirs *intake.Tx) error {
		return inTransactions(c.given.file, ids, func(tx *intake.Tx, id sheaf.ID) error {
			return tx.Set(id, theirs.Document(id))
		})
	})
	if err != nil {
		return nil, err
	}
	if err := x.whenFree(ctx, NeedFresh, x.Notice, func() error { return c.Recover(ctx) }); err != nil {
		return nil, err
	}
	return ids, x.reload()
}
