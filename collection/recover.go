package collection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"sheaf"
	"sheaf/collection/intake"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/store"
)

// prepare moves the files of an earlier version into intake.db, once. This process must have the right to accept
// documents.
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

// recover indexes given documents that the index lacks after a crash or a rebuild. Then it queues the waiting tasks.
func (c *Collection) recover(ctx context.Context) error {
	c.given.unreadable.Clear()
	if err := c.recoverDocuments(ctx, false); err != nil {
		return err
	}
	return c.given.file.View(func(tx *intake.Tx) error {
		for id := range tx.Tasks() {
			k, err := readTask(tx, id)
			var work []Change
			if err == nil && k.State == TaskWaiting {
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

// Recover indexes documents that programs sent and that the index lacks. [Collection.Work] calls Recover at its start;
// a program that does not call Work must call Recover. If another process accepts documents, Recover does nothing,
// because that process recovers them.
func (c *Collection) Recover(ctx context.Context) error {
	if c.given.file == nil || c.acquireOwner() != nil {
		return nil
	}
	defer c.disown()
	if err := c.recoverDocuments(ctx, false); err != nil {
		return err
	}
	return c.embedPending(ctx, &vectorLooks{})
}

// recoverDocuments indexes the documents that the index lacks. If vectors is true, it also indexes documents without
// vectors again. It restores the earlier version of a document if the store refuses the new one. Then it records the
// end of changes that earlier processes began.
func (c *Collection) recoverDocuments(ctx context.Context, vectors bool) error {
	tried := map[sheaf.ID]catalog.Hash{}
	rejected := map[sheaf.ID]error{}
	for ctx.Err() == nil {
		if more, err := c.recoverSome(ctx, vectors, tried, rejected); err != nil || !more {
			return err
		}
	}
	return nil
}

// recoverSome indexes some of the documents that the index lacks. It adds their versions to tried, and the documents
// that the store refuses to rejected. If more is true, call recoverSome again with the same maps. Other writers can
// write between two calls.
func (c *Collection) recoverSome(ctx context.Context, vectors bool, tried map[sheaf.ID]catalog.Hash,
	rejected map[sheaf.ID]error) (more bool, err error) {
	give, err := c.take(ctx)
	if err != nil {
		return false, err
	}
	defer give()
	puts, deletes, taken, err := c.missing(vectors, tried)
	if err != nil {
		return false, err
	}
	if len(puts)+len(deletes) > 0 {
		err = c.index(ctx, puts, deletes)
	}
	partial, rejects := errors.AsType[*store.PartialError](err)
	if err != nil && !rejects {
		return false, err
	}
	if len(puts)+len(deletes)+len(taken) > 0 {
		err := c.given.file.Update(func(tx *intake.Tx) error {
			for i := range puts {
				id, why := sheaf.DocumentID(puts[i].Tree, puts[i].Path), error(nil)
				if partial != nil {
					why = partial.Rejected[id]
				}
				before, changing := tx.Before(id)
				switch {
				case why == nil:
					taken = append(taken, id)
				case !changing:
					c.given.refused.Store(string(id), why.Error())
				default: // the change was never acknowledged
					rejected[id], more = why, more || before != nil
					if err := tx.Restore(id); err != nil {
						return err
					}
				}
			}
			for _, id := range append(taken, deletes...) {
				if err := tx.Taken(id); err != nil {
					return err
				}
			}
			return nil
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

// missing compares the given documents with the index. It returns three groups of documents:
//   - puts: the index lacks the document or a part of it; at most enough documents for one commit
//   - deletes: the document was deleted, but is still in the index
//   - taken: the index has the newest change of the document
//
// If vectors is true, a document without vectors is incomplete. missing skips versions in tried, and adds the versions
// of puts to tried. It only records errors of reading. The caller must have the right to write.
func (c *Collection) missing(vectors bool, tried map[sheaf.ID]catalog.Hash) (puts []ingest.Given,
	deletes, taken []sheaf.ID, err error) {
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
		partial := pending[id] == ingest.ReasonBegun || vectors && pending[id] == ingest.ReasonVectors
		switch {
		case given && hash == state.Hash && settings.Root(id.Tree()) == "" && !partial:
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
	size := 0
	for _, id := range slices.Sorted(maps.Keys(hashes)) {
		if size >= ingest.DefaultCommitBytes {
			break
		}
		tried[id] = hashes[id]
		doc, content, err := c.readStored(id)
		if err != nil {
			c.unread(string(id), err)
			continue
		}
		puts = append(puts, doc.toGiven(id, content))
		size += len(content)
	}
	return puts, deletes, taken, view.Err()
}

// vectorsStep is the time between two checks for documents without vectors. vectorsPause is the time before the model
// is asked again for the vectors of the same documents. This pause is long, because a model may always refuse some
// texts.
const (
	vectorsStep  = time.Minute
	vectorsPause = 10 * time.Minute
)

// vectorLooks records the last attempt to embed documents that lack vectors.
type vectorLooks struct {
	refused  map[sheaf.ID]catalog.Hash // documents that still lacked vectors after the last try
	lastTime time.Time
}

// embedPending embeds documents that were given while the model did not answer. If the model still does not answer,
// these documents wait. Documents in folders get vectors in the next run over the folders.
func (c *Collection) embedPending(ctx context.Context, v *vectorLooks) error {
	waiting := c.withoutVectors()
	if len(waiting) == 0 || c.o.Ingest.Embedder == nil ||
		maps.Equal(waiting, v.refused) && c.o.Now().Sub(v.lastTime) < vectorsPause ||
		!ingest.Answers(ctx, c.o.Ingest.Embedder) {
		return nil
	}
	if err := c.recoverDocuments(ctx, true); err != nil {
		return err
	}
	v.refused, v.lastTime = c.withoutVectors(), c.o.Now()
	return nil
}

// keepVectors calls embedPending now and after every vectorsStep, until ctx ends.
func (c *Collection) keepVectors(ctx context.Context) {
	var looks vectorLooks
	step := time.NewTicker(vectorsStep)
	defer step.Stop()
	for ctx.Err() == nil {
		if err := c.embedPending(ctx, &looks); err != nil && ctx.Err() == nil {
			c.notice(fmt.Errorf("compute missing vectors: %w: next try in %v", err, vectorsStep))
		}
		select {
		case <-step.C:
		case <-ctx.Done():
		}
	}
}

// withoutVectors returns the given documents without vectors, each with the hash of its version.
func (c *Collection) withoutVectors() map[sheaf.ID]catalog.Hash {
	versions := map[sheaf.ID]catalog.Hash{}
	view := c.o.Catalog.View()
	defer view.Close()
	settings := view.Settings()
	for id, reason := range view.Pending() {
		if reason != ingest.ReasonVectors || settings.Root(id.Tree()) != "" {
			continue
		}
		if rec, err := view.Record(id); err == nil {
			versions[id] = rec.File.Hash
		}
	}
	return versions
}
