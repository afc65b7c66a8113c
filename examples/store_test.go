package examples

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/store"
)

// counting is a store in a map that scores a chunk by how often the words of the
// query occur in it, times the weight of the field. A store only finds chunks:
// titles, snippets and links come from the catalog, so nothing else is needed.
// store/storetest is the test that every real store passes.
type counting struct {
	mu     sync.RWMutex
	chunks map[sheaf.ID]store.Chunk
}

// Write implements store.Backend. It keeps none of the slices of the batch.
func (s *counting) Write(_ context.Context, batch store.Batch) error {
	if err := batch.Validate(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(batch.Replace)
	for _, c := range batch.Chunks {
		c.Fields, c.Columns, c.Vectors = slices.Clone(c.Fields), cloneColumns(c.Columns), nil
		s.chunks[c.ID] = c
	}
	return nil
}

func cloneColumns(columns []store.Column) []store.Column {
	columns = slices.Clone(columns)
	for i := range columns {
		columns[i].Values = slices.Clone(columns[i].Values)
	}
	return columns
}

// Delete implements store.Backend.
func (s *counting) Delete(_ context.Context, docs []sheaf.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(docs)
	return nil
}

func (s *counting) remove(docs []sheaf.ID) {
	for id, c := range s.chunks {
		if slices.Contains(docs, c.Doc) {
			delete(s.chunks, id)
		}
	}
}

// Retrieve implements store.Backend. What it cannot do is an error, so that
// nobody takes its answer for another one.
func (s *counting) Retrieve(_ context.Context, req store.Request) (sheaf.Ranking, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	if req.Text == nil {
		return nil, fmt.Errorf("%w: this store has no vectors", sheaf.ErrUnsupported)
	}
	match, ok := req.Text.Query.(sheaf.Match)
	if !ok || match.Field != "" {
		return nil, fmt.Errorf("%w: this store finds plain words only", sheaf.ErrUnsupported)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found sheaf.Ranking
	for id, c := range s.chunks {
		// Bounds hold before scoring: the filter may be the access check.
		if req.Filter != nil && !req.Filter.Match(&c) || req.Within != nil && !slices.Contains(req.Within, id) {
			continue
		}
		if score := count(&c, strings.Fields(strings.ToLower(match.Text)), req.Text.Fields); score > 0 {
			found = append(found, sheaf.Hit{ID: id, Score: score})
		}
	}
	found.Sort()
	return found[:min(len(found), req.Limit)], nil
}

func count(c *store.Chunk, words []string, fields []store.FieldWeight) (score float64) {
	for _, f := range c.Fields {
		i := slices.IndexFunc(fields, func(w store.FieldWeight) bool { return w.Name == f.Name })
		if i < 0 {
			continue
		}
		for _, word := range words {
			score += fields[i].Weight * float64(strings.Count(strings.ToLower(f.Text), word))
		}
	}
	return score
}

// Close implements store.Backend.
func (s *counting) Close() error { return nil }

var _ store.Backend = (*counting)(nil)

// Keep chunks in a store of one's own. Profiles, access checks and explanations
// work on it unchanged; what it cannot do is said.
func Example_store() {
	coll, done := openNotes(map[string]string{
		"reset.md": "Moves the branch; a hard reset changes files too.\n",
		"undo.md":  "Use reset.\n",
	}, func(o *collection.Options) {
		o.Backend, o.Store = &counting{chunks: map[sheaf.ID]store.Chunk{}}, "the counting store"
		o.Profiles = func(string) (string, []byte, error) {
			return "count.yaml", []byte("name: count\nbranches: [{name: words, retrieve: text, fields: {title: 3, body: 1}}]\n"),
				nil
		}
	})
	defer done()
	reader, err := coll.For(access.Unrestricted())
	check(err)
	defer reader.Close()
	answer, err := reader.Search(context.Background(), collection.SearchRequest{Text: "reset"})
	check(err)
	for _, r := range answer.Results {
		fmt.Println(r.Path, r.Score)
	}
	_, err = reader.Search(context.Background(), collection.SearchRequest{Text: `"hard reset"`})
	fmt.Println(err)
	// Output:
	// reset.md 4
	// undo.md 1
	// branch words on the counting store: unsupported: this store finds plain words only
}
