package collection

import (
	"context"
	"errors"
	"maps"
	"slices"

	"sheaf"
	"sheaf/collection/intake"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/store"
)

// prepare takes over the files of earlier versions if that is not done yet. The caller must own the file.
func (c *Collection) prepare(ctx context.Context) error {
	if c.given.owner.older.Load() {
		return nil
	}
	give, err := c.take(ctx)
	if err == nil {
		give()
	}
	return err
}

// recover indexes given documents that the index lacks after a crash or a rebuild. Then it queues
// the waiting tasks.
func (c *Collection) recover(ctx context.Context) error {
	c.given.unreadable.Clear()
	if err := c.recoverDocuments(ctx); err != nil {
		return err
	}
	return c.given.file.View(func(tx *intake.Tx) error {
		begun := tx.Begun() // only their end is not recorded
		for id := range tx.Tasks() {
			k, err := readTask(tx, id)
			var work []Change
			if err == nil && k.State == TaskWaiting && !slices.Contains(begun, taskEntry+id) {
				if _, err = tx.ReadTask(id, intake.Work, &work); err == nil {
					c.given.queue.add(id, work)
				}
			}
			if err != nil {
				c.unread("task "+id, err)
			}
		}
		return nil
	})
}

// Recover indexes given documents that the index lacks, as Work does at its start. Use it in a program that does not
// call Work. It does nothing while another process accepts documents, because that process did it.
func (c *Collection) Recover(ctx context.Context) error {
	if c.given.file == nil || c.own() != nil {
		return nil
	}
	defer c.disown()
	if err := c.recoverDocuments(ctx); err != nil {
		return err
	}
	return c.embedPending(ctx, &vectorLooks{})
}

// recoverDocuments indexes the documents that the index lacks, reverts those that the store
// refuses, and ends the changes of earlier processes.
func (c *Collection) recoverDocuments(ctx context.Context) error {
	tried := map[sheaf.ID]catalog.Hash{}
	rejected := map[sheaf.ID]error{}
	for ctx.Err() == nil {
		if more, err := c.recoverSome(ctx, tried, rejected); err != nil || !more {
			return err
		}
	}
	return nil
}

// recoverSome indexes some of the documents that the index lacks. more means that others may
// remain. Others may write before and after it.
func (c *Collection) recoverSome(ctx context.Context, tried map[sheaf.ID]catalog.Hash,
	rejected map[sheaf.ID]error) (more bool, err error) {
	give, err := c.take(ctx)
	if err != nil {
		return false, err
	}
	defer give()
	puts, deletes, taken, err := c.missing(tried)
	if err != nil {
		return false, err
	}
	if len(puts)+len(deletes) > 0 {
		err = c.index(ctx, puts, deletes)
	}
	var partial *store.PartialError
	if err != nil && !errors.As(err, &partial) {
		return false, err
	}
	for i := range puts {
		id := sheaf.DocumentID(puts[i].Tree, puts[i].Path)
		if partial == nil || partial.Rejected[id] == nil {
			taken = append(taken, id)
			continue
		}
		before, changing, _ := c.before(id) // otherwise the next start tries again
		if !changing {
			c.given.refused.Store(string(id), partial.Rejected[id].Error())
			continue
		}
		rejected[id] = partial.Rejected[id] // the change was never acknowledged
		if err := c.given.file.Update(func(tx *intake.Tx) error { return tx.Restore(id) }); err != nil {
			return false, err
		}
		more = more || before != nil
	}
	taken = append(taken, deletes...)
	if len(taken) > 0 {
		err := c.given.file.Update(func(tx *intake.Tx) (err error) {
			for _, id := range taken {
				err = errors.Join(err, tx.Taken(id))
			}
			return err
		})
		if err != nil {
			return false, err
		}
	}
	if len(puts)+len(deletes) > 0 || more {
		return true, nil
	}
	return false, c.finish(rejected)
}

// missing returns some of the given documents that the index lacks in whole or in part, except
// versions in tried. deletes are indexed documents that were deleted. taken are documents whose
// change is indexed. The caller must have the right to write.
func (c *Collection) missing(tried map[sheaf.ID]catalog.Hash) (puts []ingest.Given, deletes, taken []sheaf.ID,
	err error) {
	hashes, changing := map[sheaf.ID]catalog.Hash{}, map[sheaf.ID]bool{}
	err = c.given.file.View(func(tx *intake.Tx) error {
		hashes = maps.Collect(tx.Hashes())
		for _, id := range tx.Changing() {
			changing[id] = true
		}
		return nil
	})
	if err != nil || len(hashes)+len(changing) == 0 {
		return nil, nil, nil, err
	}
	view := c.o.Catalog.View()
	defer view.Close()
	settings, pending := view.Settings(), view.Pending()
	for id, state := range view.Files() {
		hash, given := hashes[id]
		switch {
		case given && hash == state.Hash && settings.Root(id.Tree()) == "" && pending[id] != ingest.ReasonBegun:
			delete(hashes, id)
		case !given && changing[id] && settings.Root(id.Tree()) == "":
			deletes = append(deletes, id)
		}
	}
	for id := range changing {
		if _, missing := hashes[id]; !missing && !slices.Contains(deletes, id) {
			taken = append(taken, id)
		}
	}
	maps.DeleteFunc(hashes, func(id sheaf.ID, hash catalog.Hash) bool { return tried[id] == hash })
	left := maps.Clone(hashes)
	puts = c.someGiven(left)
	for id, hash := range hashes {
		if _, later := left[id]; !later {
			tried[id] = hash
		}
	}
	return puts, deletes, taken, view.Err()
}
