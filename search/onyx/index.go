// Package onyx is the document index of Onyx on any store. Its main type, [Index], has the operations of Onyx's
// specification: create or verify, index, delete, and change metadata. It finds chunks by document and range, by words,
// by meaning, by a profile, or at random. [Filters] are its filters: tenants, access lists, document sets, tags, times,
// the knowledge graph.
//
// [Contents] stores the indexed documents beside the store. So an update of metadata does not send or embed texts
// again, and stages know titles and times.
//
// Source: the specification for Elasticsearch and Vespa, and the system that it describes. Where the specification is
// careless (an empty access list opens everything), this package uses the strict rule.
package onyx

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"sheaf"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/store"
)

// Index is a document index. It is safe for concurrent use.
type Index struct {
	store    store.Backend
	contents *Contents
	now      func() time.Time

	writing sync.Mutex
}

// Settings describe how an index was created.
type Settings struct {
	// Model is the name of the embedding model. Vectors of different models are never compared. Dims is the number of
	// dimensions, or 0 without vectors.
	Model string
	Dims  int
}

// New returns an index over a store and its contents. now returns the current time; nil is time.Now.
func New(st store.Backend, contents *Contents, now func() time.Time) *Index {
	if now == nil {
		now = time.Now
	}
	return &Index{store: st, contents: contents, now: now}
}

// Create creates the index with these settings. If the index exists, Create checks its settings, so callers may repeat
// the call. If the index has other settings, Create returns sheaf.ErrInvalid. The caller must then index all documents
// in a new index.
func (x *Index) Create(_ context.Context, want Settings) error {
	if want.Dims < 0 || want.Dims > 1<<16 {
		return sheaf.Invalidf("create index: %d dimensions: must be within 0..65536", want.Dims)
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	have, ok, err := x.contents.Settings()
	switch {
	case err != nil:
		return err
	case !ok:
		return x.contents.SaveSettings(want)
	case have != want:
		return sheaf.Invalidf(
			"the index was made for model %q with %d dimensions, not for %q with %d: index everything again", have.Model,
			have.Dims, want.Model, want.Dims)
	}
	return nil
}

// Written is the result for one indexed document.
type Written struct {
	ID sheaf.ID
	// Existed says that the document replaced an earlier version.
	Existed bool
}

// Write indexes whole documents and deletes chunks of earlier versions. If the store fails, searches find none of docs.
// Callers may repeat the call after any error.
func (x *Index) Write(ctx context.Context, docs []Document) ([]Written, error) {
	x.writing.Lock()
	defer x.writing.Unlock()
	settings, _, err := x.contents.Settings()
	if err != nil {
		return nil, err
	}
	var batch store.Batch
	written := make([]Written, len(docs))
	for i := range docs {
		d := &docs[i]
		if err := d.validate(); err != nil {
			return nil, err
		}
		if slices.Contains(batch.Replace, d.ID) {
			return nil, sheaf.Invalidf("document %s is given twice", d.ID)
		}
		if err := settings.check(d); err != nil {
			return nil, err
		}
		_, existed, err := x.contents.Load(d.ID)
		if err != nil {
			return nil, err
		}
		written[i] = Written{d.ID, existed}
		batch.Replace = append(batch.Replace, d.ID)
		batch.Chunks = append(batch.Chunks, d.entries()...)
	}
	if err := x.store.Write(ctx, batch); err != nil {
		return nil, fmt.Errorf("index documents: %w", err)
	}
	return written, x.contents.Save(docs)
}

// check returns an error if a vector of d has other dimensions than the index.
func (s Settings) check(d *Document) error {
	for i := range d.Chunks {
		for _, v := range d.Chunks[i].Vectors {
			for _, p := range v.Passages {
				if s.Dims != 0 && len(p) != s.Dims {
					return sheaf.Invalidf("document %s, chunk %d: a vector of %d dimensions in an index of %d", d.ID, i, len(p),
						s.Dims)
				}
			}
		}
	}
	return nil
}

// Delete removes a document and returns how many chunks it had, or 0 when there is no such document.
func (x *Index) Delete(ctx context.Context, id sheaf.ID) (chunks int, err error) {
	x.writing.Lock()
	defer x.writing.Unlock()
	d, ok, err := x.contents.Load(id)
	if err != nil || !ok {
		return 0, err
	}
	if err := x.store.Write(ctx, store.Batch{Replace: []sheaf.ID{id}}); err != nil {
		return 0, fmt.Errorf("delete %s: %w", id, err)
	}
	return len(d.Chunks), x.contents.Delete(id)
}

// Update changes the metadata of documents. A nil field does not change; any other field replaces the old value.
type Update struct {
	Documents []sheaf.ID
	Public    *bool
	Access    *[]string
	Sets      *[]string
	Boost     *float64
	Hidden    *bool
	Projects  *[]int
	Personas  *[]int
	Created   *time.Time
}

// Update changes metadata without new vectors. It skips and returns documents that do not exist,
// because they may be indexed soon or were just deleted.
func (x *Index) Update(ctx context.Context, updates []Update) (missing []sheaf.ID, err error) {
	x.writing.Lock()
	defer x.writing.Unlock()
	changed := map[sheaf.ID]*Document{}
	var order []sheaf.ID
	for i := range updates {
		for _, id := range updates[i].Documents {
			if changed[id] == nil {
				d, ok, err := x.contents.Load(id)
				if err != nil {
					return nil, err
				}
				if !ok {
					if !slices.Contains(missing, id) {
						missing = append(missing, id)
					}
					continue
				}
				changed[id] = &d
				order = append(order, id)
			}
			updates[i].apply(&changed[id].Metadata)
		}
	}
	if len(order) == 0 {
		return missing, nil
	}
	docs := make([]Document, len(order))
	for i, id := range order {
		docs[i] = *changed[id]
		if err := docs[i].validate(); err != nil {
			return nil, err
		}
	}
	if err := x.writeMetadata(ctx, docs); err != nil {
		return nil, fmt.Errorf("update metadata: %w", err)
	}
	return missing, x.contents.Save(docs)
}

// writeMetadata writes the metadata of documents to the store, as columns if possible, otherwise as whole documents.
func (x *Index) writeMetadata(ctx context.Context, docs []Document) error {
	var batch store.Batch
	for i := range docs {
		batch.Replace = append(batch.Replace, docs[i].ID)
		batch.Chunks = append(batch.Chunks, docs[i].entries()...)
	}
	st, ok := x.store.(store.ColumnWriter)
	if !ok {
		return x.store.Write(ctx, batch)
	}
	changes := make([]store.ColumnChange, len(batch.Chunks))
	for i := range batch.Chunks {
		changes[i] = store.ColumnChange{Chunk: batch.Chunks[i].ID, Columns: batch.Chunks[i].Columns}
	}
	return st.WriteColumns(ctx, changes)
}

func (u *Update) apply(m *Metadata) {
	set(&m.Public, u.Public)
	set(&m.Access, u.Access)
	set(&m.Sets, u.Sets)
	set(&m.Boost, u.Boost)
	set(&m.Hidden, u.Hidden)
	set(&m.Projects, u.Projects)
	set(&m.Personas, u.Personas)
	set(&m.Created, u.Created)
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

// Section is a document, or a range of its chunks that includes both ends. A nil end means no limit.
type Section struct {
	Document sheaf.ID
	Min, Max *int
}

// Found is a chunk that Sections returns.
type Found struct {
	ID    sheaf.ID
	Index int
	Chunk Chunk
	// Document is the chunk's document, without its chunks.
	Document Document
}

// Sections returns the chunks of sections in the given order. Chunks of one section are in document order. Sections
// skips chunks that do not exist, that f excludes, or whose field Large is set. Sections returns sheaf.ErrInvalid for a
// section without a document or with an invalid range.
func (x *Index) Sections(_ context.Context, sections []Section, f Filters) ([]Found, error) {
	filter, err := f.Filter(x.now())
	if err != nil {
		return nil, err
	}
	var out []Found
	for _, s := range sections {
		switch {
		case s.Document.Tree() == "":
			return nil, sheaf.Invalidf("section of document %q: its ID must be TREE:NAME", s.Document)
		case s.Min != nil && *s.Min < 0, s.Max != nil && *s.Max < 0:
			return nil, sheaf.Invalidf("document %s: chunk %d: chunks count from 0", s.Document,
				min(*cmp.Or(s.Min, s.Max), *cmp.Or(s.Max, s.Min)))
		case s.Min != nil && s.Max != nil && *s.Min > *s.Max:
			return nil, sheaf.Invalidf("document %s: chunks %d..%d: the range ends before it starts", s.Document, *s.Min, *s.Max)
		}
		d, ok, err := x.contents.Load(s.Document)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		entries := d.entries()
		for i := range entries {
			if s.Min != nil && i < *s.Min || s.Max != nil && i > *s.Max || d.Chunks[i].Large || !filter.Match(&entries[i]) {
				continue
			}
			head := d
			head.Chunks = nil
			out = append(out, Found{ID: entries[i].ID, Index: i, Chunk: d.Chunks[i], Document: head})
		}
	}
	return out, nil
}

// Keyword finds the best n chunks by words. A chunk has two scores: 3 times the score of its title, and 7 times the
// score of its content. The score of the chunk is the larger of the two, plus 0.3 times the smaller.
func (x *Index) Keyword(ctx context.Context, words sheaf.TextQuery, f Filters, n int) (sheaf.Ranking, error) {
	return x.retrieve(ctx, store.Request{Limit: n,
		Text: &store.TextRequest{Query: words, Combine: store.CombineBest, TieBreaker: 0.3,
			Fields: []store.FieldWeight{{Name: sheaf.FieldTitle, Weight: 3}, {Name: sheaf.FieldBody, Weight: 7}},
			K1:     store.DefaultK1, B: store.DefaultB}}, f)
}

// KeywordQuery returns a query for the words of text, as newer versions of Onyx build it. At least one clause must
// match:
//   - the title has any of the words (weight 0.1);
//   - the title has the words as a phrase with slop 1 (0.2);
//   - the content has any of the words (1);
//   - the content has the words as a phrase with slop 1 (1.5).
func KeywordQuery(text string) sheaf.TextQuery {
	var q sheaf.Bool
	for _, c := range []struct {
		field         string
		match, phrase float64
	}{{sheaf.FieldTitle, 0.1, 0.2}, {sheaf.FieldBody, 1, 1.5}} {
		q.Should = append(q.Should, sheaf.Boost{Query: sheaf.Match{Text: text, Field: c.field}, Factor: c.match},
			sheaf.Boost{Query: sheaf.Phrase{Text: text, Field: c.field, Slop: 1}, Factor: c.phrase})
	}
	return q
}

// Plain finds the best n chunks for the query words, and weighs title and content alike. It suits queries with weights
// of their own, such as the queries of [KeywordQuery].
func (x *Index) Plain(ctx context.Context, words sheaf.TextQuery, f Filters, n int) (sheaf.Ranking, error) {
	return x.retrieve(ctx, store.Request{Limit: n, Text: &store.TextRequest{Query: words,
		Fields: []store.FieldWeight{{Name: sheaf.FieldTitle, Weight: 1}, {Name: sheaf.FieldBody, Weight: 1}},
		K1:     store.DefaultK1, B: store.DefaultB}}, f)
}

// Semantic finds the n chunks nearest to a vector of unit length in a field, store.VectorBody or store.VectorTitle. For
// other fields, the error is sheaf.ErrInvalid.
func (x *Index) Semantic(ctx context.Context, field string, vector []float32, f Filters, n int) (sheaf.Ranking, error) {
	if field != store.VectorBody && field != store.VectorTitle {
		return nil, sheaf.Invalidf("vector field %q: must be %q or %q", field, store.VectorBody, store.VectorTitle)
	}
	return x.retrieve(ctx, store.Request{Limit: n, Vector: &store.VectorRequest{Field: field, Vector: vector}}, f)
}

func (x *Index) retrieve(ctx context.Context, req store.Request, f Filters) (sheaf.Ranking, error) {
	filter, err := f.Filter(x.now())
	if err != nil {
		return nil, err
	}
	req.Filter = filter
	return x.store.Retrieve(ctx, req)
}

// Search answers a query with any profile, such as onyx-elastic, within filters. embed computes the vectors of the
// query; see [search.Searcher].
func (x *Index) Search(ctx context.Context, q sheaf.Query, p *profile.Profile, f Filters,
	embed func(context.Context, []string) ([][]float32, error), o search.Options) (*search.Result, error) {
	filter, err := f.Filter(x.now())
	if err != nil {
		return nil, err
	}
	q.Filter = sheaf.Both(q.Filter, filter)
	s := &search.Searcher{Backend: x.store, Facts: facts{x.contents}, Embed: embed, Now: x.now}
	return s.Search(ctx, q, p, o)
}
