package search_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sheaf"
	"sheaf/search"
	"sheaf/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shelf is a small store that reads every chunk. It scores words by their share of a field's words,
// and vectors by cosine. It also implements the facts.
type shelf struct {
	chunks map[sheaf.ID]*sheaf.Chunk
	docs   map[sheaf.ID]*sheaf.Document
	// outlines keeps the outline of each document that a search asked for: *sheaf.Outline by sheaf.ID.
	outlines sync.Map
	stored   []store.Chunk
	// fail returns an error for a request, and delay slows it, if set.
	fail     func(req store.Request) error
	delay    func(req store.Request) time.Duration
	spoil    func(r sheaf.Ranking)
	requests atomic.Int64
}

// vector returns the direction of the text in a space of four words.
func vector(text string) []float32 {
	v := make([]float32, 4)
	var length float64
	for i, word := range []string{"cat", "dog", "tree", "stone"} {
		n := strings.Count(strings.ToLower(text), word)
		v[i] = float32(n) + 0.1
		length += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(length))
	}
	return v
}

// animalVectors is vector for each text, as Searcher.Embed wants it.
func animalVectors(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = vector(text)
	}
	return out, nil
}

// newShelf returns a shelf of documents. The keys are paths, and the values are sections "title: text".
func newShelf(docs map[string][]string) *shelf {
	s := &shelf{chunks: map[sheaf.ID]*sheaf.Chunk{}, docs: map[sheaf.ID]*sheaf.Document{}}
	for p, sections := range docs {
		d := &sheaf.Document{ID: sheaf.DocumentID("t", p), Tree: "t", Path: p, Title: strings.TrimSuffix(p, ".md")}
		d.Chunks = []sheaf.Chunk{{ID: d.ID, Doc: d.ID, Title: d.Title, Hierarchy: []string{d.Title}, SiblingCount: 1}}
		s.store(d.Chunks[0], "")
		for i, section := range sections {
			title, text, _ := strings.Cut(section, ": ")
			c := sheaf.Chunk{ID: sheaf.ChunkID(d.ID, title), Doc: d.ID, Parent: d.ID, Depth: 1, Position: i + 1, Title: title,
				SiblingCount: len(sections), Hierarchy: []string{d.Title, title}, Span: sheaf.Span{Start: 10 * i, End: 10*i + 10}}
			d.Chunks = append(d.Chunks, c)
			s.store(c, text)
		}
		for i := range d.Chunks {
			s.chunks[d.Chunks[i].ID] = &d.Chunks[i]
		}
		s.docs[d.ID] = d
	}
	return s
}

func (s *shelf) store(c sheaf.Chunk, text string) {
	s.stored = append(s.stored, store.Chunk{ID: c.ID, Doc: c.Doc,
		Fields:  []store.Field{{Name: sheaf.FieldTitle, Text: c.Title}, {Name: sheaf.FieldBody, Text: text}},
		Columns: []store.Column{{Name: sheaf.ColumnDoc, Values: []sheaf.Value{sheaf.TextValue(string(c.Doc))}}},
		Vectors: []store.Vectors{{Name: store.VectorBody, Passages: [][]float32{vector(c.Title + " " + text)}},
			{Name: store.VectorTitle, Passages: [][]float32{vector(c.Title)}}}})
}

func (s *shelf) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	if c := s.chunks[id]; c != nil {
		return *c, true
	}
	return sheaf.Chunk{}, false
}

func (s *shelf) Document(id sheaf.ID) (sheaf.Document, bool) {
	if d := s.docs[id]; d != nil {
		return *d, true
	}
	return sheaf.Document{}, false
}

func (s *shelf) Node(id sheaf.ID) *sheaf.Node { return sheaf.NodeIn(s.Outline, id) }

func (s *shelf) Outline(doc sheaf.ID) *sheaf.Outline {
	d := s.docs[doc]
	if d == nil {
		return nil
	}
	o, ok := s.outlines.Load(doc)
	if !ok {
		o, _ = s.outlines.LoadOrStore(doc, sheaf.OutlineOf(d, sheaf.Dated{}))
	}
	return o.(*sheaf.Outline)
}

func (s *shelf) FolderSize(string, string) int { return len(s.docs) }
func (s *shelf) Links(sheaf.ID) []sheaf.ID     { return nil }
func (s *shelf) Backlinks(sheaf.ID) []sheaf.ID { return nil }

func (s *shelf) Write(context.Context, store.Batch) error { return sheaf.ErrUnsupported }
func (s *shelf) Delete(context.Context, []sheaf.ID) error { return sheaf.ErrUnsupported }
func (s *shelf) Close() error                             { return nil }

func (s *shelf) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	s.requests.Add(1)
	if err := req.Validate(); err != nil {
		return nil, err
	}
	if s.delay != nil {
		select {
		case <-time.After(s.delay(req)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if s.fail != nil {
		if err := s.fail(req); err != nil {
			return nil, err
		}
	}
	var out sheaf.Ranking
	for i := range s.stored {
		c := &s.stored[i]
		if req.Filter != nil && !req.Filter.Match(c) || req.Within != nil && !slices.Contains(req.Within, c.ID) {
			continue
		}
		if e := s.score(req, c); e != nil {
			out = append(out, sheaf.Hit{ID: c.ID, Score: e.Value})
		}
	}
	out.Sort()
	out = out[:min(req.Limit, len(out))]
	if s.spoil != nil {
		s.spoil(out)
	}
	return out, nil
}

// wordsOf returns the words of a query of plain words. A shelf knows no other queries.
func wordsOf(q sheaf.TextQuery) string {
	if b, ok := q.(sheaf.Bool); ok {
		text := ""
		for _, part := range b.Should {
			text += wordsOf(part) + " "
		}
		return text
	}
	return q.(sheaf.Match).Text
}

// score explains the score of a chunk, or returns nil when the chunk does not match.
func (s *shelf) score(req store.Request, c *store.Chunk) *sheaf.Explanation {
	if req.Vector != nil {
		for _, v := range c.Vectors {
			if v.Name == req.Vector.Field {
				var dot float64
				for i, x := range v.Passages[0] {
					dot += float64(x) * float64(req.Vector.Vector[i])
				}
				return &sheaf.Explanation{Label: "cosine", Value: dot}
			}
		}
		return nil
	}
	words := strings.Fields(strings.ToLower(wordsOf(req.Text.Query)))
	e := &sheaf.Explanation{Label: "fields", Combine: sheaf.CombineSum}
	for _, f := range req.Text.Fields {
		for _, field := range c.Fields {
			text := strings.Fields(strings.ToLower(field.Text))
			n := 0
			for _, w := range text {
				if slices.Contains(words, w) {
					n++
				}
			}
			if field.Name == f.Name && n > 0 {
				share := float64(n) / float64(len(text)+2)
				e.Value += f.Weight * share
				e.Parts = append(e.Parts, sheaf.Explanation{Label: f.Name, Value: f.Weight * share, Combine: sheaf.CombineProduct,
					Parts: []sheaf.Explanation{{Label: "weight", Value: f.Weight}, {Label: "share", Value: share}}})
			}
		}
	}
	if e.Parts == nil {
		return nil
	}
	return e
}

// Explain implements store.Explainer.
func (s *shelf) Explain(ctx context.Context, req store.Request, ids []sheaf.ID) ([]*sheaf.Explanation, error) {
	if s.delay != nil {
		select {
		case <-time.After(s.delay(req)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	out := make([]*sheaf.Explanation, len(ids))
	for i, id := range ids {
		for j := range s.stored {
			if s.stored[j].ID == id {
				out[i] = s.score(req, &s.stored[j])
			}
		}
	}
	return out, nil
}

var errDown = errors.New("connection refused")

// animals is a shelf about cats and dogs, trees and stones.
func animals() *shelf {
	return newShelf(map[string][]string{
		"cats.md":   {"Food: a cat eats fish", "Sleep: the cat sleeps on a stone", "Play: cat and dog play"},
		"dogs.md":   {"Food: a dog eats meat", "Walk: the dog runs around a tree"},
		"garden.md": {"Trees: a tree and a tree", "Stones: stone on stone", "Visitors: a cat comes by"},
		"empty.md":  nil,
	})
}

func searcher(s *shelf) *search.Searcher {
	out := &search.Searcher{Backend: s, Store: "shelf", Facts: s, Now: func() time.Time {
		return time.Unix(1767225600, 0)
	},
		Embed: animalVectors}
	out.Scanner = everything{out}
	return out
}

func query(text string, limit int) sheaf.Query {
	return sheaf.Query{Text: text, Words: sheaf.Match{Text: text}, Limit: limit}
}

// everything is a scanner that returns every document as a candidate.
type everything struct{ *search.Searcher }

func (e everything) Scan(context.Context, search.ScanRequest) (*search.Scanned, error) {
	return &search.Scanned{Backend: e.Backend, Facts: e.Facts, Text: e.Text}, nil
}
