package opensearch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// These are limits of the requests of a write.
const (
	maxBulk = 1 << 19 // bytes; a larger document goes alone
	// bulks is the largest number of bulk requests that are sent at once. The server uses one thread for each.
	bulks    = 2
	maxID    = 32_000 // bytes of an ID: a word of the index has at most 32,766
	pageSize = 5000   // keys read at a time
	// bulkAttempts is the smallest number of attempts of an action while the server is too busy. There are more attempts
	// as long as the timeout of the write allows.
	bulkAttempts = 5
	// bulkAnswer makes the server send only the needed parts of the answer to a bulk request.
	bulkAnswer = "?filter_path=errors,items.*.status,items.*.error"
)

// Write implements [store.Backend]. The server has no transactions: after an error, except a PartialError, a later
// write may reveal parts of the batch. To repair that, write the batch again.
func (s *Store) Write(ctx context.Context, batch store.Batch) error {
	if err := s.vectors.Check(&batch, s.o.Vectors, s.o.Dialect.maxDims()); err != nil {
		return err
	}
	return s.calls.Write(ctx, func(ctx context.Context) error {
		s.follow(ctx)
		if err := s.checkDictionary(ctx); err != nil {
			return err
		}
		rejected := storekit.Rejected{}
		if err := s.write(ctx, &batch, rejected); err != nil {
			return err
		}
		return rejected.Err()
	})
}

// write writes a batch, and records the rejected documents. No other write may run.
func (s *Store) write(ctx context.Context, batch *store.Batch, rejected storekit.Rejected) error {
	if len(batch.Replace)+len(batch.Chunks) == 0 {
		return nil
	}
	chunks := map[string]*store.Chunk{} // the last of equal IDs
	for i := range batch.Chunks {
		c := &batch.Chunks[i]
		if n := max(len(escape(string(c.ID))), len(escape(string(c.Doc)))); n > maxID {
			rejected[c.Doc] = sheaf.Invalidf("an ID of %d bytes: at most %d are allowed", n, maxID)
			continue
		}
		chunks[key(string(c.ID))] = c
	}
	maps.DeleteFunc(chunks, func(_ string, c *store.Chunk) bool { return rejected[c.Doc] != nil })
	for _, key := range slices.Sorted(maps.Keys(chunks)) {
		for _, v := range s.vectors.Missing(chunks[key], s.o.Vectors) {
			if err := s.addVectors(ctx, v); err != nil {
				return err
			}
		}
	}
	gone := rejected.Accepted(batch.Replace)
	if len(gone) > 0 {
		// The leftovers of an interrupted write, by any process, must be visible before they can be
		// found and removed. If everything is visible, this request does nothing.
		if err := s.client.Call(ctx, "POST", "/"+s.index()+"/_refresh", nil, nil); err != nil {
			return err
		}
	}
	out, ctxOut := s.bulk(ctx, rejected)
	words, err := out.writeAll(ctxOut, chunks)
	if err != nil {
		return out.end(err)
	}
	// The dictionary is a separate index, so the server fills both at once.
	out.sending.Go(func() error { return s.learn(ctxOut, words) })
	if err := out.end(out.remove(ctxOut, gone, chunks)); err != nil {
		return err
	}
	if len(rejected) > 0 {
		if err := s.retract(ctx, rejected); err != nil {
			return err
		}
	}
	return s.client.Call(ctx, "POST", "/"+s.index()+"/_refresh", nil, nil)
}

// document encodes a chunk for the index, and returns the chunk's terms.
func (s *Store) document(c *store.Chunk) (source []byte, words []string) {
	terms, forms, texts := object{}, object{}, object{}
	for _, f := range c.Fields {
		texts[escape(f.Name)] = escape(f.Text)
		a := storekit.Analyze(s.o.Analyzer, f.Text)
		if a.Length == 0 {
			continue
		}
		for _, p := range a.Postings {
			words = append(words, p.Term)
		}
		t, form := fieldTexts(a)
		terms[plainField(f.Name)] = t
		forms[plainField(f.Name)] = form
	}
	columns := []string{}
	for _, col := range c.Columns {
		name := columnWord(col.Name)
		for _, v := range col.Values {
			if !v.IsZero() {
				columns = append(columns, name+valueWord(v))
			}
		}
	}
	out := object{"id": escape(string(c.ID)), "doc": escape(string(c.Doc)), "c": columns, "t": terms, "f": forms,
		"text": texts}
	for _, v := range c.Vectors {
		passages := make([]object, len(v.Passages))
		for i, p := range v.Passages {
			passages[i] = object{"p": p}
		}
		out[vectorPath(v.Name)] = passages
	}
	return encode(out), words
}

// bulk sends documents and deletions in requests of limited size, several at a time. Each chunk is in only one
// request, so the order of the requests does not matter.
type bulk struct {
	s       *Store
	sending *errgroup.Group
	size    int        // of all lines
	docs    []sheaf.ID // the document of each action
	lines   [][]byte   // the actions

	mu       sync.Mutex
	rejected storekit.Rejected
}

// bulk returns an empty bulk, and a context that ends when a request fails.
func (s *Store) bulk(ctx context.Context, rejected storekit.Rejected) (*bulk, context.Context) {
	b := &bulk{s: s, rejected: rejected}
	b.sending, ctx = errgroup.WithContext(ctx)
	b.sending.SetLimit(bulks)
	return b, ctx
}

// writeAll writes the chunks in a map by key, and returns their terms. It encodes some chunks while others are sent.
func (b *bulk) writeAll(ctx context.Context, chunks map[string]*store.Chunk) (map[string]bool, error) {
	type made struct {
		source []byte
		words  []string
	}
	all := map[string]bool{}
	return all, storekit.InOrder(ctx, slices.Sorted(maps.Keys(chunks)), func(key string) (made, error) {
		source, words := b.s.document(chunks[key])
		return made{slices.Concat(encode(object{"index": object{"_id": key}}), []byte("\n"), source, []byte("\n")), words},
			nil
	}, func(_ context.Context, key string, m made) error {
		for _, word := range m.words {
			all[word] = true
		}
		b.put(ctx, chunks[key].Doc, m.source)
		return ctx.Err()
	})
}

func (b *bulk) put(ctx context.Context, doc sheaf.ID, lines []byte) {
	if b.size > 0 && b.size+len(lines) > maxBulk {
		b.flush(ctx)
	}
	b.size += len(lines)
	b.docs, b.lines = append(b.docs, doc), append(b.lines, lines)
}

// remove deletes the chunks of documents, except the chunks in fresh, which the caller writes again.
func (b *bulk) remove(ctx context.Context, docs []sheaf.ID, fresh map[string]*store.Chunk) error {
	keys, err := b.s.keysOf(ctx, docs)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if fresh[k] == nil {
			b.drop(ctx, k)
		}
	}
	b.flush(ctx)
	return nil
}

func (b *bulk) drop(ctx context.Context, key string) {
	b.put(ctx, "", append(encode(object{"delete": object{"_id": key}}), '\n'))
}

// end waits until everything is sent. It returns the error of a failed request. If no request failed, it returns err.
func (b *bulk) end(err error) error {
	if sent := b.sending.Wait(); sent != nil {
		return sent // the failed request may be the cause of err
	}
	return err
}

// escapedIDs returns IDs, escaped as in the index. It omits too long IDs, which a server may refuse.
func escapedIDs(ids []sheaf.ID) []string {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		if name := escape(string(id)); len(name) <= maxID {
			out = append(out, name)
		}
	}
	return out
}

// keysOf returns the keys of the chunks of documents.
func (s *Store) keysOf(ctx context.Context, docs []sheaf.ID) ([]string, error) {
	var keys []string
	for part := range slices.Chunk(docs, 10_000) {
		names := escapedIDs(part)
		query := object{"size": pageSize, "_source": false, "query": object{"terms": object{"doc": names}}}
		for more := true; more; {
			found, err := s.page(ctx, query)
			if err != nil {
				return nil, err
			}
			for _, h := range found {
				keys = append(keys, h.Key)
				query["search_after"] = h.Sort
			}
			more = len(found) == pageSize
		}
	}
	return keys, nil
}

// flush starts sending the collected actions. It uses several requests if the actions are too large for one.
func (b *bulk) flush(ctx context.Context) {
	docs, lines := b.docs, b.lines
	b.size, b.docs, b.lines = 0, nil, nil
	if len(docs) > 0 {
		b.sending.Go(func() error { return b.sendAll(ctx, docs, lines) })
	}
}

func (b *bulk) sendAll(ctx context.Context, docs []sheaf.ID, lines [][]byte) error {
	return storekit.Halve(0, len(docs), func(from, to int) error {
		return b.send(ctx, docs[from:to], lines[from:to])
	}, func(i int, err error) {
		b.reject(docs[i], fmt.Errorf("a chunk has %d bytes when it is sent (the server accepts http.max_content_length, by "+
			"default 100 MB, and a tenth of its memory): %w", len(lines[i]), err))
	})
}

func (b *bulk) reject(doc sheaf.ID, because error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rejected[doc] = because
}

// send sends actions on documents. If the server refuses an action, send rejects its document.
func (b *bulk) send(ctx context.Context, docs []sheaf.ID, lines [][]byte) error {
	return b.s.actions(ctx, b.s.index(), lines, func(i int, result actionAnswer) error {
		switch {
		case result.Status < 300, docs[i] == "" && result.Status == http.StatusNotFound:
		case docs[i] == "":
			return b.s.fault(sheaf.ErrUnavailable, "a chunk was not deleted: %s", result.Error)
		case result.Status == http.StatusTooManyRequests, result.Status >= 500:
			// The state of the server is the cause, not the document.
			return b.s.fault(sheaf.ErrUnavailable, "the server takes no documents now (status %d): %s", result.Status,
				result.Error)
		default:
			b.reject(docs[i], fmt.Errorf("%s: status %d: %s", b.s.o.Dialect, result.Status, result.Error))
		}
		return nil
	})
}

// actionAnswer is the server's answer to one action of a bulk request.
type actionAnswer struct {
	Status int
	Error  serverError
}

// actions sends actions on an index in one request, and passes each result to done. If the server is too busy for some
// actions, it repeats these actions.
func (s *Store) actions(ctx context.Context, index string, lines [][]byte,
	done func(i int, result actionAnswer) error) error {
	rest := make([]int, len(lines))
	for i := range rest {
		rest[i] = i
	}
	began := time.Now()
	for attempt := 1; len(rest) > 0; attempt++ {
		again := attempt < bulkAttempts || storekit.WaitsFor(ctx, began)
		body := make([][]byte, len(rest))
		for k, i := range rest {
			body[k] = lines[i]
		}
		var said struct{ Items []map[string]actionAnswer }
		if err := s.client.Call(ctx, "POST", "/"+index+"/_bulk"+bulkAnswer, storekit.Lines(bytes.Join(body, nil)),
			&said); err != nil {
			return err
		}
		if len(said.Items) != len(rest) {
			return s.fault(sheaf.ErrUnavailable, "the server answered %d of %d actions of a bulk request", len(said.Items),
				len(rest))
		}
		var busy []int
		for k, item := range said.Items {
			if len(item) != 1 {
				return s.fault(sheaf.ErrUnavailable, "the server did not answer an action of a bulk request")
			}
			for _, result := range item {
				if result.Error.Type == "cluster_block_exception" { // waiting does not lift a block, even with status 429
					return s.fault(sheaf.ErrUnavailable, "the server blocks writing (status %d; sheaf doctor says what blocks it): %s",
						result.Status, result.Error)
				} else if result.Error.tooLarge() {
					return result.Error.asTooLarge(result.Status)
				} else if result.Status == http.StatusTooManyRequests && again {
					busy = append(busy, rest[k])
				} else if result.Status == 0 {
					return s.fault(sheaf.ErrUnavailable, "an action of a bulk request without a status: the answer is not from "+
						"such a server")
				} else if err := done(rest[k], result); err != nil {
					return err
				}
			}
		}
		if len(busy) < len(rest) {
			began = time.Now() // the server accepted some actions
		}
		if rest = busy; len(rest) > 0 {
			if err := storekit.Wait(ctx, attempt, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// retract removes all chunks of the rejected documents: the server may have accepted some of them.
func (s *Store) retract(ctx context.Context, rejected storekit.Rejected) error {
	if err := s.client.Call(ctx, "POST", "/"+s.index()+"/_refresh", nil, nil); err != nil {
		return err
	}
	out, ctx := s.bulk(ctx, storekit.Rejected{})
	return out.end(out.remove(ctx, slices.Collect(maps.Keys(rejected)), nil))
}

type answer struct {
	TimedOut bool `json:"timed_out"`
	Shards   struct {
		Failed   int
		Failures []struct{ Reason serverError }
	} `json:"_shards"`
	Hits struct {
		Total struct{ Value *int }
		Hits  []hit
	}
}

type hit struct {
	Key    string          `json:"_id"`
	Score  float64         `json:"_score"`
	Sort   json.RawMessage `json:"sort"`
	Source json.RawMessage `json:"_source"`
	Fields struct {
		ID []string `json:"id"`
		T  []string `json:"t"` // terms of the dictionary
	}
	Inner map[string]struct {
		Hits struct {
			Hits []struct {
				Nested struct{ Offset int } `json:"_nested"`
			}
		}
	} `json:"inner_hits"`
}
