package collection

import (
	"context"
	"errors"
	"slices"

	"sheaf"
	"sheaf/store"
)

// legs asks for single branches, as rankings do. The fusion would drop the unknown hidden document, but the document
// would have taken the place of another. So a branch itself must not find it.
func (t *trial) legs() error {
	g := t.reader.guard
	words := store.Request{Limit: 100, Text: everyField(sheaf.Match{Text: t.text})}
	reqs := []store.Request{words}
	if embed := t.c.o.Embed; embed != nil {
		v, err := embed(t.ctx, t.text)
		if err != nil {
			t.lacks(err.Error())
		} else {
			for _, field := range []string{store.VectorBody, store.VectorTitle} {
				reqs = append(reqs, store.Request{Limit: 100, Vector: &store.VectorRequest{Field: field, Vector: v}})
			}
		}
	}
	column := t.sorts[0]
	legs := []func(context.Context) (sheaf.Ranking, error){
		func(ctx context.Context) (sheaf.Ranking, error) {
			lists, err := g.RetrieveAll(ctx, reqs)
			return slices.Concat(lists...), err
		},
		func(ctx context.Context) (sheaf.Ranking, error) {
			return g.Sorted(ctx, words, store.Order{Column: column})
		},
		t.scored(words),
	}
	for i := range reqs {
		legs = append(legs, func(ctx context.Context) (sheaf.Ranking, error) { return g.Retrieve(ctx, reqs[i]) })
	}
	for _, leg := range legs {
		hits, err := leg(t.ctx)
		switch {
		case errors.Is(err, sheaf.ErrUnavailable):
			return err
		case err != nil && !refused(err): // not every store has every leg
			return err
		}
		for _, h := range hits {
			if i, ok := t.at[h.ID]; ok && !t.docs[i].sees(&t.grant) {
				t.leak("legs", h.ID, "a branch finds it")
			}
		}
	}
	return t.facets(words)
}

// scored returns a leg that scores given chunks for words, hidden chunks among them.
func (t *trial) scored(words store.Request) func(context.Context) (sheaf.Ranking, error) {
	return func(ctx context.Context) (out sheaf.Ranking, err error) {
		var ids []sheaf.ID
		for range 8 {
			if _, doc := t.target(); len(doc.chunks) > 0 && !slices.Contains(ids, doc.chunks[0]) {
				ids = append(ids, doc.chunks[0])
			}
		}
		scores, err := t.reader.guard.Scores(ctx, []store.Request{words}, ids)
		if err != nil || len(ids) == 0 {
			return nil, err
		}
		for i, id := range ids {
			if scores[0][i] != 0 {
				out = append(out, sheaf.Hit{ID: id})
			}
		}
		return out, nil
	}
}

// facets compares the counts by folder with the number of visible chunks.
func (t *trial) facets(words store.Request) error {
	words.Text = everyField(sheaf.Bool{})
	facets, err := t.reader.guard.Facets(t.ctx, words, []string{sheaf.ColumnTree}, 1000)
	if err != nil {
		return err
	}
	counted := 0
	for _, f := range facets {
		for _, v := range f.Values {
			counted += v.Chunks
		}
	}
	if chunks := t.chunks(); counted > chunks {
		t.leak("legs", "", "%d chunks are counted by folder, %d may be seen", counted, chunks)
	}
	return nil
}

// chunks returns the number of visible chunks.
func (t *trial) chunks() int {
	n := 0
	for i := range t.docs {
		if t.docs[i].sees(&t.grant) {
			n += len(t.docs[i].chunks)
		}
	}
	return n
}
