package vespa

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

const (
	// maxDocument is the largest document that a content cluster accepts by default (max-document-size).
	maxDocument = 128 << 20
	// removePage is the largest number of old chunks that one look-up returns.
	removePage = 10_000
)

// Write implements [store.Backend]. It writes new chunks and then removes old chunks, so readers may briefly see both.
// After an error other than PartialError, a part of the batch may be in the store. To repair that, write the batch
// again.
func (s *Store) Write(ctx context.Context, batch store.Batch) error {
	if err := s.check(&batch); err != nil {
		return err
	}
	return s.calls.Write(ctx, func(ctx context.Context) error { return s.write(ctx, &batch) })
}

func (s *Store) write(ctx context.Context, batch *store.Batch) error {
	chunks := storekit.LastOfEqual(batch)
	if len(chunks)+len(batch.Replace) == 0 {
		return nil
	}
	token := rand.Text()
	rejected, err := s.send(ctx, chunks, token)
	if err != nil {
		return err
	}
	if err := s.remove(ctx, storekit.Hashes(rejected.Accepted(batch.Replace)), token); err != nil {
		return err
	}
	if err := s.remove(ctx, storekit.Hashes(slices.Sorted(maps.Keys(rejected))), ""); err != nil {
		return err
	}
	return rejected.Err()
}

// send sends chunks, several at a time. token identifies the write. If the server refuses a chunk as invalid or too
// large, send returns the document of the chunk in Rejected. After any other error send stops and returns this error.
func (s *Store) send(ctx context.Context, chunks map[sheaf.ID]*store.Chunk, token string) (storekit.Rejected, error) {
	var mu sync.Mutex
	rejected := storekit.Rejected{}
	err := s.each(ctx, slices.Sorted(maps.Keys(chunks)), func(ctx context.Context, id sheaf.ID) error {
		c := chunks[id]
		body, err := json.Marshal(s.document(c, token))
		switch {
		case err != nil:
			err = sheaf.Invalidf("%w", err)
		case len(body) > maxDocument:
			err = sheaf.Invalidf("chunk %s becomes a document of %d bytes: at most %d", id, len(body), maxDocument)
		default:
			err = s.feeder.Call(ctx, "POST", s.path(id), storekit.Bytes{Type: "application/json", Data: body}, nil)
		}
		var refused *refusal
		if err == nil || errors.As(err, &refused) && refused.status != http.StatusBadRequest &&
			refused.status != http.StatusRequestEntityTooLarge ||
			refused == nil && !errors.Is(err, sheaf.ErrInvalid) {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if rejected[c.Doc] == nil {
			rejected[c.Doc] = err
		}
		return nil
	})
	return rejected, err
}

// each calls f for every ID, several at a time. It stops at the first error.
func (s *Store) each(ctx context.Context, ids []sheaf.ID, f func(ctx context.Context, id sheaf.ID) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.o.Feeds)
	for _, id := range ids {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error { return f(ctx, id) })
	}
	return g.Wait()
}

// remove deletes the chunks of documents, given by hashes of their IDs, except chunks of the write with this token.
func (s *Store) remove(ctx context.Context, docs []string, token string) error {
	for some := range slices.Chunk(docs, 1000) {
		for {
			q := newQuery(s.o.Schema)
			q.where = "doc in (" + q.list(some) + ")"
			if token != "" {
				q.where += " and !(write contains " + q.param(token) + ")"
			}
			q.body["hits"], q.body["presentation.summary"], q.body["ranking.profile"] = removePage, "key", "unranked"
			found, err := s.search(ctx, q)
			if err != nil {
				return err
			}
			keys := make([]sheaf.ID, len(found.Root.Children))
			for i, h := range found.Root.Children {
				var fields struct{ Chunk string }
				if err := json.Unmarshal(h.Fields, &fields); err != nil || fields.Chunk == "" {
					return s.nonsense("a hit without its key")
				}
				keys[i] = sheaf.ID(fields.Chunk)
			}
			err = s.each(ctx, keys, func(ctx context.Context, key sheaf.ID) error {
				return s.feeder.Call(ctx, "DELETE", s.pathOf(string(key)), nil, nil)
			})
			if err != nil {
				return err
			}
			if len(keys) < removePage {
				break
			}
		}
	}
	return nil
}

// WriteColumns implements [store.ColumnWriter]. It uses partial updates, so it does not send words and vectors again.
func (s *Store) WriteColumns(ctx context.Context, changes []store.ColumnChange) error {
	byID := map[sheaf.ID][]store.Column{}
	ids := make([]sheaf.ID, 0, len(changes))
	for _, c := range changes {
		if c.Chunk == "" {
			return sheaf.Invalidf("write columns: a change has no chunk ID")
		}
		if _, ok := byID[c.Chunk]; !ok {
			ids = append(ids, c.Chunk)
		}
		byID[c.Chunk] = c.Columns
	}
	return s.calls.Write(ctx, func(ctx context.Context) error {
		return s.each(ctx, ids, func(ctx context.Context, id sheaf.ID) error {
			// The condition prevents the creation of a missing chunk.
			path := s.path(id) + "?create=false&condition=" +
				url.QueryEscape(s.o.Schema+".chunk=='"+storekit.Hash(string(id))+"'")
			err := s.feeder.Call(ctx, "PUT", path, update(&store.Chunk{ID: id, Columns: byID[id]}), nil)
			var refused *refusal
			if errors.As(err, &refused) && (refused.status == http.StatusNotFound ||
				refused.status == http.StatusPreconditionFailed) {
				return fmt.Errorf("vespa %s: write columns of %s: %w: there is no such chunk", s.o.Schema, id, sheaf.ErrNotFound)
			}
			return err
		})
	})
}
