package collection

import (
	"context"
	"fmt"
	"slices"

	"sheaf"
	"sheaf/collection/intake"
	"sheaf/internal/wording"
)

// LeftBehind returns the documents that programs gave to one store of a folder and that another store lacks, sorted by
// ID. The parameters from and to are the folders of the two stores in the index: see [location.Location.Places].
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
// command that copies them. The parameters from and to are the addresses of the stores.
func LeftBehindText(ids []sheaf.ID, from, to string) string {
	return fmt.Sprintf("%s in %s: %s; to copy what stays: sheaf copy --given --from %s --to %s",
		wording.Plural(len(ids), "document that came over HTTP stays", "documents that came over HTTP stay"), from,
		(&losses{}).names(ids), wording.ShellQuoted(from), wording.ShellQuoted(to))
}

// noteLeftBehind warns before the first run into a store if other stores of this folder have documents that came over
// HTTP. The command sheaf copy, which sets Flag, reports them itself.
func (x *Index) noteLeftBehind() {
	if x.Flag != "" {
		return
	}
	for i, dir := range x.Base.Places() {
		if dir == x.Where.Dir {
			continue
		}
		from := "ADDRESS" // the index does not record it
		if i == 0 {
			from = EngineStore
		}
		if ids, err := LeftBehind(dir, x.Where.Dir); err == nil && len(ids) > 0 {
			x.Warn("%s", LeftBehindText(ids, from, x.StoreName()))
		}
	}
}

// TakeGiven copies the documents of [LeftBehind] into this store and indexes them. The parameter from is the folder of
// the other store. TakeGiven returns the copied documents. If another process takes documents for this store, the error
// is [ErrTaken].
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
	if err := c.own(); err != nil {
		return nil, err
	}
	defer c.disown()
	source := intake.Open(from)
	for part := range slices.Chunk(ids, copiedAtOnce) {
		contents := map[sheaf.ID][]byte{}
		err := source.View(func(tx *intake.Tx) error {
			for _, id := range part {
				contents[id] = tx.Document(id)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		err = c.given.file.Update(func(tx *intake.Tx) error {
			for _, id := range part {
				if err := tx.Set(id, contents[id]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if err := x.whenFree(ctx, func() error { return c.Recover(ctx) }); err != nil {
		return nil, err
	}
	return ids, x.reload()
}

// copiedAtOnce is the number of given documents that TakeGiven copies in one transaction.
const copiedAtOnce = 100
