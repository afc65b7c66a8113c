package search

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"sheaf"
	"sheaf/backend"
	"sheaf/rank"
)

// maxWholeWords is how many words of a query are looked for in whole documents, and
// how many pairs of them: those that are worth most.
const maxWholeWords = 8

// learnWords notes how the first branch of words looks for them.
func (r *run) learnWords(outcomes []outcome) {
	for i := range outcomes {
		if outcomes[i].request.Text != nil {
			r.lookup = &outcomes[i].request
			return
		}
	}
}

// wordsIn tells how the query's words stand in chunks, on the scale of the branch
// of words, and with pairs, which of them stand side by side; nil when no branch
// searches words, or the store cannot count.
func (r *run) wordsIn(ctx context.Context, pairs bool) (func(chunks []sheaf.ID) ([]rank.Word, error), error) {
	if r.lookup == nil {
		return nil, nil
	}
	w, err := r.worth(ctx)
	if err != nil || w == nil {
		return nil, err
	}
	parts := slices.DeleteFunc(append(room(&r.facts.parts, len(w.parts)), w.parts...), func(v valued) bool { return !(v.worth > 0 && v.idf > 0) })
	slices.SortStableFunc(parts, func(a, b valued) int { return cmp.Compare(b.worth, a.worth) })
	parts = parts[:min(len(parts), maxWholeWords)]
	var neighbors []neighbor
	if pairs && r.searcher.Analyzer != nil {
		neighbors = r.neighbors(parts)
	}
	return func(chunks []sheaf.ID) ([]rank.Word, error) {
		words, err := r.standing(ctx, parts, neighbors, chunks)
		if len(neighbors) > 0 && errors.Is(err, sheaf.ErrUnsupported) {
			r.note("%s cannot look for words side by side: each word counts by itself", r.searcher.storeName())
			words, err = r.standing(ctx, parts, nil, chunks)
		}
		return words, err
	}, nil
}

// standing looks for parts and pairs of the query in chunks, all different; nil when
// time ran out.
func (r *run) standing(ctx context.Context, parts []valued, pairs []neighbor, chunks []sheaf.ID) ([]rank.Word, error) {
	looks := room(&r.facts.looks, len(parts)+len(pairs))
	for _, p := range parts {
		looks = append(looks, look{part: p})
	}
	for _, p := range pairs {
		looks = append(looks, look{part: p.valued})
	}
	err := r.lookAll(ctx, looks, pairs, chunks)
	if errors.Is(ctx.Err(), context.Canceled) { // nobody waits for the answer
		return nil, ctx.Err()
	}
	if ctx.Err() != nil {
		r.warn("time ran out before the query's words were looked for in whole documents: each place counts by itself")
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	words := room(&r.facts.words, len(looks))
	for i, l := range looks {
		words = append(words, rank.Word{Text: l.part.text, Worth: l.part.worth, Pair: i >= len(parts), In: l.in})
	}
	return words, nil
}

// look is a part of the query that is looked for, and how strongly it stands in each
// of the chunks.
type look struct {
	part valued
	in   []float64
}

// lookAll looks for parts of the query, the last of which are pairs, in chunks. A store
// that gives scores of chunks, or answers many requests in one round trip, is asked for
// all at once; others for pairs only where both words were found, which is few places.
func (r *run) lookAll(ctx context.Context, looks []look, pairs []neighbor, chunks []sheaf.ID) error {
	if scorer, ok := r.searcher.Backend.(backend.Scorer); ok {
		if err := r.score(ctx, scorer, looks, chunks); !errors.Is(err, sheaf.ErrUnsupported) {
			return err
		}
	}
	chunks = slices.Clone(chunks) // a store may look at them longer than it is waited for
	all := make([]float64, len(looks)*len(chunks))
	for i := range looks {
		looks[i].in, all = all[:len(chunks):len(chunks)], all[len(chunks):]
	}
	places := rank.NewOrdinals(len(chunks))
	defer places.Release()
	for _, id := range chunks { // all different
		places.Add(id)
	}
	where := make([][]sheaf.ID, len(looks))
	for i := range where {
		where[i] = chunks
	}
	if len(pairs) == 0 || backend.Batches(r.searcher.Backend) {
		return r.retrieveLooks(ctx, looks, where, places)
	}
	words := len(looks) - len(pairs)
	if err := r.retrieveLooks(ctx, looks[:words], where, places); err != nil {
		return err
	}
	for i, p := range pairs {
		at := &where[words+i]
		*at = nil
		for k, id := range chunks {
			if !slices.ContainsFunc(p.of[:], func(word int) bool { return word >= 0 && looks[word].in[k] <= 0 }) {
				*at = append(*at, id)
			}
		}
	}
	return r.retrieveLooks(ctx, looks[words:], where[words:], places)
}

// score has the store tell how strongly parts of the query stand in chunks.
func (r *run) score(ctx context.Context, scorer backend.Scorer, looks []look, chunks []sheaf.ID) error {
	reqs, texts := room(&r.facts.requests, len(looks)), room(&r.facts.texts, len(looks))
	for i := range looks {
		answer := r.facts.room(0)
		if looks[i].part.chunks == 0 {
			answer.Scores = cleared(answer.Scores, len(chunks))
			looks[i].in = answer.Scores
			continue
		}
		texts = append(texts, *r.lookup.Text)
		text := &texts[len(texts)-1]
		text.Query = looks[i].part.query
		reqs = append(reqs, backend.Request{Text: text, Filter: r.lookup.Filter, Room: answer})
	}
	found, err := scorer.Scores(ctx, reqs, chunks)
	if err != nil {
		return err
	}
	for i := range looks {
		l := &looks[i]
		if l.part.chunks == 0 {
			continue
		}
		l.in, found = found[0], found[1:]
		for k := range l.in {
			l.in[k] /= l.part.idf
		}
	}
	return nil
}

// retrieveLooks retrieves parts of the query, each in chunks of its own, whose places in
// the looks are given.
func (r *run) retrieveLooks(ctx context.Context, looks []look, where [][]sheaf.ID, places *rank.Ordinals) error {
	var reqs []backend.Request
	var of []int
	for i, l := range looks {
		if l.part.chunks > 0 && len(where[i]) > 0 {
			reqs, of = append(reqs, r.alone(l.part.query, where[i])), append(of, i)
		}
	}
	found, err := backend.RetrieveAll(ctx, r.searcher.Backend, reqs)
	if err != nil {
		return err
	}
	for i, hits := range found {
		l := &looks[of[i]]
		for k := range hits {
			if at, ok := places.Of(hits[k].ID); ok {
				l.in[at] = hits[k].Score / l.part.idf
			}
		}
	}
	return nil
}

// neighbors are the pairs of words that stand side by side in the query, at least
// one of them among parts, function words included: "look up" is not "look". They
// are worth what those of their words are that are among parts, and none holds them
// when a word is nowhere.
func (r *run) neighbors(parts []valued) []neighbor {
	pairs := r.facts.neighbors[:0]
	for _, text := range plain(r.written) {
		tokens, _ := r.tokens(text)
		for i := 1; i < min(len(tokens), maxWorth); i++ {
			a, b := tokens[i-1], tokens[i]
			if b.Start < a.End { // a word and its parts, or characters that overlap
				continue
			}
			pair := neighbor{valued: valued{query: sheaf.Phrase{Text: text[a.Start:b.End]}, text: text[a.Start:b.End], chunks: 1}}
			if slices.ContainsFunc(pairs, func(p neighbor) bool { return p.text == pair.text }) {
				continue
			}
			for i, word := range [...]string{text[a.Start:a.End], text[b.Start:b.End]} {
				pair.of[i] = -1
				if p := slices.IndexFunc(parts, func(v valued) bool { return v.text == word }); p >= 0 {
					pair.of[i] = p
					pair.worth += parts[p].idf
					pair.chunks = min(pair.chunks, parts[p].chunks)
				}
			}
			if pair.worth > 0 {
				pair.idf = pair.worth
				pairs = append(pairs, pair)
			}
		}
	}
	r.facts.neighbors = pairs
	slices.SortStableFunc(pairs, func(a, b neighbor) int { return cmp.Compare(b.worth, a.worth) })
	return pairs[:min(len(pairs), maxWholeWords)]
}

// neighbor is a pair of words; of are their indexes among the parts, -1 for one that is not
// known.
type neighbor struct {
	valued
	of [2]int
}

// plain are the texts of a query of which any word may be found.
func plain(q sheaf.TextQuery) []string {
	switch q := q.(type) {
	case sheaf.Match:
		return []string{q.Text}
	case sheaf.Boost:
		return plain(q.Query)
	case sheaf.Bool:
		var texts []string
		for _, part := range slices.Concat(q.Must, q.Should) {
			texts = append(texts, plain(part)...)
		}
		return texts
	}
	return nil
}

// alone looks for one part of the query, as the branch of words does.
func (r *run) alone(q sheaf.TextQuery, chunks []sheaf.ID) backend.Request {
	req := *r.lookup
	text := *req.Text
	text.Query = q
	req.Text, req.Within, req.Limit = &text, chunks, len(chunks)
	return req
}
