package collection

import (
	"context"
	"fmt"
	"maps"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/ingest"
)

// vectorsStep is the time between two checks for documents without vectors.
const vectorsStep = time.Minute

// longestPause is the maximum number of checks between two tries of the same documents.
const longestPause = 64

// vectorLooks decides in which checks to embed documents that lack vectors. While the same documents lack vectors, it
// tries less and less often: the model may refuse a text permanently, for example a long one.
type vectorLooks struct {
	refused     map[sheaf.ID]catalog.Hash // after the last try
	pause, left int                       // checks between two tries, and until the next try
}

// due reports whether this check should try the waiting documents.
func (v *vectorLooks) due(waiting map[sheaf.ID]catalog.Hash) bool {
	if v.left == 0 || !maps.Equal(waiting, v.refused) {
		return len(waiting) > 0
	}
	v.left--
	return false
}

// tried records which documents still lack vectors after a try.
func (v *vectorLooks) tried(refused map[sheaf.ID]catalog.Hash) {
	if !maps.Equal(refused, v.refused) {
		v.pause = 0
	}
	v.pause = min(2*v.pause+1, longestPause)
	v.refused, v.left = refused, v.pause
}

// embedPending embeds documents that were given while the model did not answer, if it answers now.
// Documents in folders get vectors in the next run over the folders.
func (c *Collection) embedPending(ctx context.Context, v *vectorLooks) error {
	waiting := c.unembedded()
	if c.o.Ingest.Embedder == nil || !v.due(waiting) || !ingest.Answers(ctx, c.o.Ingest.Embedder) {
		return nil
	}
	for ctx.Err() == nil && len(waiting) > 0 {
		if err := c.embedSome(ctx, waiting); err != nil {
			return err
		}
	}
	v.tried(c.unembedded())
	return nil
}

// keepVectors calls embedPending at once and at every step, until ctx ends.
func (c *Collection) keepVectors(ctx context.Context) {
	var looks vectorLooks
	step := time.NewTicker(vectorsStep)
	defer step.Stop()
	for ctx.Err() == nil {
		if err := c.embedPending(ctx, &looks); err != nil && ctx.Err() == nil {
			c.notice(fmt.Errorf("give documents the vectors that they lack: %w: next try in %v", err, vectorsStep))
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
	var puts []ingest.Given
	size := 0
	for id := range waiting {
		delete(waiting, id)
		if _, still := now[id]; !still {
			continue
		}
		content, stored, err := c.stored(id)
		if err != nil {
			c.notice(err)
			c.given.unread(string(id), err)
			continue
		}
		puts = append(puts, stored.Document.given(id, content))
		if size += len(content); size >= ingest.DefaultCommitBytes {
			break
		}
	}
	if len(puts) == 0 {
		return nil
	}
	return c.index(ctx, puts, nil)
}
