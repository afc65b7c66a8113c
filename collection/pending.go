package collection

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/ingest"
)

// vectorsStep is the time between two checks for documents without vectors. vectorsPause is the time between two tries
// of the same documents: the model may refuse a text permanently, for example a long one.
const (
	vectorsStep  = time.Minute
	vectorsPause = 10 * time.Minute
)

// vectorLooks records the last try to embed documents that lack vectors.
type vectorLooks struct {
	refused map[sheaf.ID]catalog.Hash // documents that lacked vectors after it
	at      time.Time
}

// embedPending embeds documents that were given while the model did not answer, if it answers now.
// Documents in folders get vectors in the next run over the folders.
func (c *Collection) embedPending(ctx context.Context, v *vectorLooks) error {
	waiting := c.unembedded()
	if len(waiting) == 0 || c.o.Ingest.Embedder == nil ||
		maps.Equal(waiting, v.refused) && c.o.Now().Sub(v.at) < vectorsPause ||
		!ingest.Answers(ctx, c.o.Ingest.Embedder) {
		return nil
	}
	for ctx.Err() == nil && len(waiting) > 0 {
		if err := c.embedSome(ctx, waiting); err != nil {
			return err
		}
	}
	v.refused, v.at = c.unembedded(), c.o.Now()
	return nil
}

// keepVectors calls embedPending at once and at every step, until ctx ends.
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

// unembedded returns given documents without vectors, with the hashes of their versions.
func (c *Collection) unembedded() map[sheaf.ID]catalog.Hash {
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

// embedSome indexes some of the waiting documents and removes them from waiting. Others may write before and after.
func (c *Collection) embedSome(ctx context.Context, waiting map[sheaf.ID]catalog.Hash) error {
	give, err := c.take(ctx)
	if err != nil {
		return err
	}
	defer give()
	now := c.unembedded()
	maps.DeleteFunc(waiting, func(id sheaf.ID, _ catalog.Hash) bool { _, still := now[id]; return !still })
	if puts := c.someGiven(waiting); len(puts) > 0 {
		return c.index(ctx, puts, nil)
	}
	return nil
}

// someGiven returns given documents for indexing, at most one commit, and removes them from ids. It records those that
// cannot be read.
func (c *Collection) someGiven(ids map[sheaf.ID]catalog.Hash) (puts []ingest.Given) {
	size := 0
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		if size >= ingest.DefaultCommitBytes {
			break
		}
		delete(ids, id)
		content, stored, err := c.stored(id)
		if err != nil {
			c.unread(string(id), err)
			continue
		}
		puts = append(puts, stored.Document.given(id, content))
		size += len(content)
	}
	return puts
}
