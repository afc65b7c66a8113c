package serve

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"sheaf"
	"sheaf/inference"
	"sheaf/ingest"
)

// vectorsStep is how often it is looked whether the model is back that did not answer when
// documents were given.
const vectorsStep = time.Minute

// embedPending gives vectors to documents that were given while the model did not answer, if
// it does now. Documents of folders have theirs with the next look at these.
func (c *Collection) embedPending(ctx context.Context) error {
	tried := map[sheaf.ID]bool{}
	if c.o.Ingest.Embedder == nil || len(c.unembedded(tried)) == 0 {
		return nil
	}
	if _, err := c.o.Ingest.Embedder.Embed(ctx, inference.Passage, []string{"vectors"}); err != nil {
		return nil // another time
	}
	for ctx.Err() == nil {
		if more, err := c.embedSome(ctx, tried); err != nil || !more {
			return err
		}
	}
	return nil
}

// keepVectors is embedPending at once and now and then, until ctx ends.
func (c *Collection) keepVectors(ctx context.Context) {
	step := time.NewTicker(vectorsStep)
	defer step.Stop()
	for ctx.Err() == nil {
		if err := c.embedPending(ctx); err != nil && ctx.Err() == nil {
			c.notice(fmt.Errorf("give documents the vectors that they lack: %w: it is tried again in %v", err, vectorsStep))
		}
		select {
		case <-step.C:
		case <-ctx.Done():
		}
	}
}

// unembedded are given documents that wait for vectors and were not tried, with the names of
// the files in which they are kept.
func (c *Collection) unembedded(tried map[sheaf.ID]bool) map[sheaf.ID]string {
	names := map[sheaf.ID]string{}
	view := c.o.Catalog.View()
	defer view.Close()
	settings := view.Settings()
	for id, reason := range view.Pending() {
		if reason != ingest.ReasonVectors || settings.Root(id.Tree()) != "" || tried[id] {
			continue
		}
		if rec, err := view.Record(id); err == nil {
			names[id] = fileName(id, rec.File.Hash)
		}
	}
	return names
}

// embedSome indexes some of them, and reports whether there were any. Others may write
// before and after.
func (c *Collection) embedSome(ctx context.Context, tried map[sheaf.ID]bool) (more bool, err error) {
	give, err := c.take(ctx)
	if err != nil {
		return false, err
	}
	defer give()
	var puts []ingest.Given
	size := 0
	for id, name := range c.unembedded(tried) {
		if size >= ingest.DefaultCommitBytes {
			break
		}
		tried[id] = true
		content, stored, err := c.stored(name)
		if err != nil {
			c.notice(err)
			c.given.unread(filepath.Join(c.o.Documents, name), err)
			continue
		}
		puts = append(puts, stored.Document.given(id, content))
		size += len(content)
	}
	if len(puts) == 0 {
		return false, nil
	}
	return true, c.index(ctx, puts, nil)
}
