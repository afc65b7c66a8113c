package engine

import (
	"context"
	"slices"
	"sync"

	"sheaf"
)

// Originals is a function that calls yield for every chunk, with the chunk's vectors before they were rounded for
// storage. It may call yield from several goroutines. yield must not keep the vectors.
type Originals func(ctx context.Context, yield func(field, chunk string, passages [][]float32)) error

// original is one query of a recall measurement. It collects how similar the query is to the vectors before rounding.
type original struct {
	query        []float32
	ten, hundred sheaf.Ranking        // results of searches for 10 and for 100 chunks
	scores       map[sheaf.ID]float32 // scores of these results by the vectors before rounding
	best         []float32            // the best scores of all chunks, best first, at most recallMost
}

// recallMost is the largest number of neighbors for which recall is measured.
const recallMost = 100

// belowAll is a number below any similarity.
const belowAll = -2

func newOriginal(query []float32, ten, hundred sheaf.Ranking) *original {
	o := &original{query: query, ten: ten, hundred: hundred, scores: map[sheaf.ID]float32{}}
	for _, h := range hundred {
		o.scores[h.ID] = belowAll
	}
	for _, h := range ten {
		o.scores[h.ID] = belowAll
	}
	return o
}

// offer records the similarity of the query to a chunk, computed before rounding. It keeps the score if a search found
// the chunk, or if the score is one of the best.
func (o *original) offer(chunk string, score float32) {
	if _, found := o.scores[sheaf.ID(chunk)]; found {
		o.scores[sheaf.ID(chunk)] = score
	}
	if len(o.best) == recallMost && score <= o.best[recallMost-1] {
		return
	}
	at, _ := slices.BinarySearchFunc(o.best, score, func(s, score float32) int {
		if s > score {
			return -1
		}
		return 1
	})
	o.best = slices.Insert(o.best, at, score)
	o.best = o.best[:min(len(o.best), recallMost)]
}

// recallOf compares hits with the k chunks that are nearest by the vectors before rounding. total is the number of
// these chunks, and found is how many of them are in hits. Each hit that has no vectors before rounding reduces k by
// one.
func (o *original) recallOf(hits sheaf.Ranking, k int) (found, total int) {
	hits = hits[:min(len(hits), k)]
	for _, h := range hits {
		if o.scores[h.ID] == belowAll {
			k--
		}
	}
	if total = min(k, len(o.best)); total == 0 {
		return 0, 0
	}
	for _, h := range hits {
		if o.scores[h.ID] >= o.best[total-1] {
			found++
		}
	}
	return min(found, total), total // equally near chunks are interchangeable
}

// compareOriginals compares queries with the vectors of all chunks before rounding. It sets the fields Originals,
// Float10 and Float100 in list. asked[i] has the queries for list[i]. done gets the number of chunks compared so far.
func compareOriginals(ctx context.Context, originals Originals, list []Recall, asked [][]*original,
	done func(chunks int)) error {
	var mu sync.Mutex
	chunks := 0
	err := originals(ctx, func(field, chunk string, passages [][]float32) {
		at := slices.IndexFunc(list, func(r Recall) bool { return r.Field == field })
		if at < 0 || len(passages) == 0 || slices.ContainsFunc(passages, func(p []float32) bool {
			return len(p) != list[at].Dims
		}) {
			return
		}
		scores := make([]float32, len(asked[at]))
		for i, o := range asked[at] {
			scores[i] = similarity(o.query, passages)
		}
		mu.Lock()
		defer mu.Unlock()
		list[at].Originals++
		for i, o := range asked[at] {
			o.offer(chunk, scores[i])
		}
		chunks++
		done(chunks)
	})
	for i := range list {
		r := &list[i]
		var found10, of10, found100, of100 int
		for _, o := range asked[i] {
			found, of := o.recallOf(o.ten, 10)
			found10, of10 = found10+found, of10+of
			found, of = o.recallOf(o.hundred, recallMost)
			found100, of100 = found100+found, of100+of
		}
		if of10 > 0 {
			r.Float10, r.Float100 = float64(found10)/float64(of10), float64(found100)/float64(of100)
		}
	}
	return err
}

func similarity(query []float32, passages [][]float32) float32 {
	best := float32(belowAll)
	for _, p := range passages {
		var s0, s1, s2, s3 float32
		p = p[:len(query)] // saves bounds checks
		i := 0
		for ; i+4 <= len(query); i += 4 {
			s0 += query[i] * p[i]
			s1 += query[i+1] * p[i+1]
			s2 += query[i+2] * p[i+2]
			s3 += query[i+3] * p[i+3]
		}
		for ; i < len(query); i++ {
			s0 += query[i] * p[i]
		}
		best = max(best, s0+s1+s2+s3)
	}
	return best
}
