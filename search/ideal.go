package search

import (
	"context"
	"errors"
	"strings"

	"sheaf"
	"sheaf/backend"
	"sheaf/profile"
	"sheaf/rank"
)

// fusion is that of a phase, with what the query is worth in each branch when the
// fusion asks for it.
func (r *run) fusion(ctx context.Context, ph *profile.Phase, outcomes []outcome) (rank.Fusion, error) {
	scores, ok := ph.Fusion.(rank.Scores)
	if !ok || scores.Norm != rank.NormShare {
		return ph.Fusion, nil
	}
	scores.Ideals = make([]float64, len(outcomes))
	for i := range outcomes {
		if outcomes[i].request.Text == nil {
			continue
		}
		var err error
		if scores.Ideals[i], err = r.ideal(ctx, &outcomes[i]); err != nil {
			return nil, err
		}
	}
	return scores, nil
}

// ideal is what a hit would score in a branch of words that has each of the
// query's terms often, in one field of weight 1: the sum of their idf, as counted
// over all chunks. When the store cannot count, it is the branch's best score.
func (r *run) ideal(ctx context.Context, o *outcome) (float64, error) {
	best := 0.0
	if len(o.ranking) > 0 {
		best = o.ranking[0].Score
	}
	w, err := r.worth(ctx)
	switch {
	case err != nil:
		return 0, err
	case w == nil || w.sum <= 0:
		return best, nil
	}
	return w.sum, nil
}

// worth is what the words of the query are worth; nil when the store cannot count.
func (r *run) worth(ctx context.Context) (*worth, error) {
	counter, ok := r.searcher.Backend.(backend.Counter)
	if !ok || r.worthy != nil {
		return r.worthy, nil
	}
	w := &worth{run: r, counter: counter, left: maxWorth, seen: map[string]float64{}}
	var err error
	w.sum, err = w.of(ctx, r.query.Words, 1)
	switch {
	case errors.Is(err, sheaf.ErrUnsupported):
		return nil, nil
	case err != nil:
		return nil, err
	}
	r.worthy = w
	return w, nil
}

// maxWorth bounds how many words of a query are counted; those after them are
// taken to be worth as much.
const maxWorth = 256

// worth adds up the idf of the terms that a query looks for.
type worth struct {
	run     *run
	counter backend.Counter
	left    int
	seen    map[string]float64
	// sum is what all are worth, parts each of them in order, words that
	// repeat once.
	sum   float64
	parts []valued
}

// valued is a part of a query that is matched by itself: its idf, and what it is
// worth in the query, where it may stand several times or be boosted.
type valued struct {
	query      sheaf.TextQuery
	text       string
	idf, worth float64
}

func (w *worth) add(q sheaf.TextQuery, text string, idf, factor float64) {
	for i := range w.parts {
		if w.parts[i].text == text {
			w.parts[i].worth += factor * idf
			return
		}
	}
	w.parts = append(w.parts, valued{q, text, idf, factor * idf})
}

func (w *worth) of(ctx context.Context, q sheaf.TextQuery, factor float64) (float64, error) {
	switch q := q.(type) {
	case sheaf.Match:
		return w.words(ctx, q.Text, factor)
	case sheaf.Phrase:
		return w.words(ctx, q.Text, factor)
	case sheaf.Boost:
		return w.of(ctx, q.Query, factor*q.Factor)
	case sheaf.Bool:
		var sum float64
		for _, list := range [][]sheaf.TextQuery{q.Must, q.Should} {
			for _, part := range list {
				x, err := w.of(ctx, part, factor)
				if err != nil {
					return 0, err
				}
				sum += x
			}
		}
		return sum, nil
	case sheaf.Prefix:
		x, err := w.count(ctx, q)
		w.add(q, q.Text+"*", x, factor)
		return factor * x, err
	case sheaf.Fuzzy:
		x, err := w.count(ctx, q)
		w.add(q, q.Text+"~", x, factor)
		return factor * x, err
	}
	return 0, nil
}

// words is the worth of the words of a text.
func (w *worth) words(ctx context.Context, text string, factor float64) (float64, error) {
	var words []string
	if a := w.run.searcher.Analyzer; a != nil {
		for _, t := range a.MatchTokens(text) {
			words = append(words, text[t.Start:t.End])
		}
	} else {
		words = strings.Fields(text)
	}
	var sum float64
	counted := 0
	for _, word := range words {
		if w.left == 0 {
			break
		}
		w.left--
		counted++
		x, known := w.seen[word]
		if !known {
			var err error
			if x, err = w.count(ctx, sheaf.Match{Text: word}); err != nil {
				return 0, err
			}
			w.seen[word] = x
		}
		sum += factor * x
		w.add(sheaf.Match{Text: word}, word, x, factor)
	}
	if counted > 0 && counted < len(words) {
		sum *= float64(len(words)) / float64(counted)
	}
	return sum, nil
}

func (w *worth) count(ctx context.Context, q sheaf.TextQuery) (float64, error) {
	n, err := w.run.chunks(ctx, w.counter)
	if err != nil {
		return 0, err
	}
	return idf(ctx, w.counter, q, n)
}

// chunks is the number of chunks of the collection.
func (r *run) chunks(ctx context.Context, counter backend.Counter) (int, error) {
	if f, ok := r.searcher.Facts.(interface{ Chunks() int }); ok {
		if n := f.Chunks(); n > 0 {
			return n, nil
		}
	}
	if r.size == 0 {
		n, err := counter.Count(ctx, backend.Request{Limit: 1, Text: &backend.TextRequest{Query: sheaf.Bool{}, Fields: everyField, K1: backend.DefaultK1, B: backend.DefaultB}})
		if err != nil {
			return 0, err
		}
		r.size = max(n, 1)
	}
	return r.size, nil
}
