package collection

import (
	"context"
	"fmt"
	"time"

	"sheaf"
	"sheaf/ingest"
)

// vectorsStep is how often it is looked whether the model is back that did not answer when
// documents were given.
const vectorsStep = time.Minute

// vectorLooks are the looks for documents that lack vectors, of which the model may refuse
// one for good, as a text that is too long for it.
type vectorLooks struct {
	looks int
	tries map[string]*vectorTries // by version of a document
}

// vectorTries are how often a model that answered was asked for the vectors of a document,
// and in which look it is next.
type vectorTries struct{ times, next int }

// longestRest is in how many looks at most a document is tried again.
const longestRest = 64

// due are those of the documents that wait whose turn it is. It forgets all others that
// wait no more.
func (v *vectorLooks) due(waiting map[sheaf.ID]string) map[sheaf.ID]string {
	known := make(map[string]*vectorTries, len(v.tries))
	for id, name := range waiting {
		if t := v.tries[name]; t != nil {
			known[name] = t
			if t.next > v.looks {
				delete(waiting, id)
			}
		}
	}
	v.tries = known
	return waiting
}

// tried notes that a document is tried.
func (v *vectorLooks) tried(name string) {
	t := v.tries[name]
	if t == nil {
		t = &vectorTries{}
		v.tries[name] = t
	}
	t.next = v.looks + min(1<<min(t.times, 10), longestRest)
	t.times++
}

// embedPending gives vectors to documents that were given while the model did not answer, if
// it does now. Documents of folders have theirs with the next look at these.
func (c *Collection) embedPending(ctx context.Context, v *vectorLooks) error {
	v.looks++
	if c.o.Ingest.Embedder == nil || len(v.due(c.unembedded())) == 0 {
		return nil
	}
	if !ingest.Answers(ctx, c.o.Ingest.Embedder) {
		return nil // another time
	}
	for ctx.Err() == nil {
		if more, err := c.embedSome(ctx, v); err != nil || !more {
			return err
		}
	}
	return nil
}

// keepVectors is embedPending at once and now and then, until ctx ends.
func (c *Collection) keepVectors(ctx context.Context) {
	var looks vectorLooks
	step := time.NewTicker(vectorsStep)
	defer step.Stop()
	for ctx.Err() == nil {
		if err := c.embedPending(ctx, &looks); err != nil && ctx.Err() == nil {
			c.notice(fmt.Errorf("give documents the vectors that they lack: %w: it is tried again in %v", err, vectorsStep))
		}
		select {
		case <-step.C:
		case <-ctx.Done():
		}
	}
}

// unembedded are given documents that wait for vectors, each with a name of its version.
func (c *Collection) unembedded() map[sheaf.ID]string {
	versions := map[sheaf.ID]string{}
	view := c.o.Catalog.View()
	defer view.Close()
	settings := view.Settings()
	for id, reason := range view.Pending() {
		if reason != ingest.ReasonVectors || settings.Root(id.Tree()) != "" {
			continue
		}
		if rec, err := view.Record(id); err == nil {
			versions[id] = fmt.Sprintf("%s %x", id, rec.File.Hash)
		}
	}
	return versions
}

// embedSome indexes some of those whose turn it is, and reports whether there were any. Others
// may write before and after.
func (c *Collection) embedSome(ctx context.Context, v *vectorLooks) (more bool, err error) {
	give, err := c.take(ctx)
	if err != nil {
		return false, err
	}
	defer give()
	var puts []ingest.Given
	size := 0
	for id, version := range v.due(c.unembedded()) {
		v.tried(version)
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
		return false, nil
	}
	return true, c.index(ctx, puts, nil)
}
