package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"sheaf"
	"sheaf/collection"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/store"
	"sheaf/text/analysis"
)

// counting is a store in a map. A chunk's score counts the words of the query in each field, times
// the weight of the field. Titles, snippets and links come from the catalog, so a store only finds
// chunks. Every real store passes the tests of store/storetest.
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

func (s *counting) remove(docs []sheaf.ID) {
	for id, c := range s.chunks {
		if slices.Contains(docs, c.Doc) {
			delete(s.chunks, id)
		}
	}
}

// Retrieve implements store.Backend. It returns an error for a request that it cannot answer.
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
		// Filter before scoring: the filter may be the access check.
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

// This example keeps chunks in its own store. Profiles, access checks and explanations work on it
// unchanged. The collection reports what the store cannot do.
func Example() {
	dir, err := os.MkdirTemp("", "sheaf")
	fatal(err)
	defer os.RemoveAll(dir)
	notes := filepath.Join(dir, "notes")
	fatal(os.MkdirAll(notes, 0o755))
	fatal(os.WriteFile(filepath.Join(notes, "reset.md"), []byte("Moves the branch; a hard reset changes files.\n"), 0o644))
	fatal(os.WriteFile(filepath.Join(notes, "undo.md"), []byte("Use reset.\n"), 0o644))

	words, err := analysis.New(analysis.Options{Language: "en"})
	fatal(err)
	documents, err := catalog.Open(vfs.Disk{}, filepath.Join(dir, "catalog"), catalog.Options{})
	fatal(err)
	defer documents.Close()
	c, err := collection.New(collection.Options{
		Name: "notes", Catalog: documents, Analyzer: words,
		Backend: &counting{chunks: map[sheaf.ID]store.Chunk{}}, Store: "the counting store",
		Ingest: &ingest.Options{Trees: []catalog.Tree{{Name: "notes", Root: notes}}},
		Profiles: func(string) (string, []byte, error) {
			return "count.yaml", []byte("name: count\nbranches: [{name: words, retrieve: text, fields: {body: 1}}]\n"), nil
		},
	})
	fatal(err)
	defer c.Close()
	_, err = c.Refresh(context.Background())
	fatal(err)
	for _, text := range []string{"reset", `"hard reset"`} {
		answer, err := c.Search(context.Background(), text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		for _, r := range answer.Results {
			fmt.Println(r.Path, r.Score)
		}
	}
	// Output:
	// reset.md 1
	// undo.md 1
	// branch words on the counting store: unsupported: this store finds plain words only
}

func fatal(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
