package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"sheaf"
	"sheaf/profile"
	"sheaf/rank"
	"sheaf/text/chunk"
)

// TextOf returns a function for [Searcher.Text]. The function returns the text of a chunk before its first sub-heading.
// For a document that was cut into pieces, it returns the text of all pieces. content reads a whole document.
func TextOf(facts rank.Facts, content func(doc sheaf.ID) ([]byte, error)) func(id sheaf.ID) (string, error) {
	return func(id sheaf.ID) (string, error) {
		c, ok := Part(facts, id)
		if !ok {
			return "", fmt.Errorf("%w: %s", sheaf.ErrNotFound, id)
		}
		text, err := content(c.Doc)
		if err != nil {
			return "", err
		}
		if c.Body.End > len(text) {
			return "", fmt.Errorf("%w: the file of %s became shorter", sheaf.ErrNotFound, c.Doc)
		}
		return chunk.Readable(string(text[c.Body.Start:c.Body.End])), nil
	}
}

// rerank returns the first stage.N hits, with scores that combine the ranking with the scores of the model. If the
// model fails, it returns the whole ranking unchanged, and the result has a warning.
func (r *run) rerank(ctx context.Context, ranking sheaf.Ranking, stage profile.Rerank) (sheaf.Ranking, error) {
	s := r.searcher
	if s.Rerank == nil || s.Text == nil {
		r.note("no reranking model is configured: the ranking is not reranked")
		return ranking, nil
	}
	if len(ranking) == 0 {
		return ranking, nil
	}
	first := ranking[:min(stage.N, len(ranking))]
	opinion, err := r.opinion(ctx, first, stage)
	if err != nil {
		r.noteFailure("reranking", fmt.Errorf("rerank: %w", err))
		return ranking, nil
	}
	fused, err := rank.Scores{Norm: rank.NormMinMax, Mean: rank.MeanArithmetic}.Fuse([]rank.Leg{
		{Name: "the model", Hits: opinion, Weight: stage.Weight},
		{Name: "the ranking before", Hits: first, Weight: 1 - stage.Weight},
	})
	if err != nil {
		return nil, err
	}
	// The fused score replaces the old one; everything else of a hit stays.
	before := make(map[sheaf.ID]*sheaf.Hit, len(first))
	for i := range first {
		before[first[i].ID] = &first[i]
	}
	for i := range fused {
		h := *before[fused[i].ID]
		h.Score, h.Explanation = fused[i].Score, fused[i].Explanation
		fused[i] = h
	}
	return fused, nil
}

// opinion returns the hits, sorted by the scores that the model gives them.
func (r *run) opinion(ctx context.Context, hits sheaf.Ranking, stage profile.Rerank) (sheaf.Ranking, error) {
	ctx, cancel := context.WithTimeout(ctx, stage.Timeout)
	defer cancel()
	texts := make([]string, len(hits))
	for i := range hits {
		c, _ := Part(r.facts, hits[i].ID)
		text, err := r.searcher.Text(hits[i].ID)
		if err != nil { // the file changed or was deleted; use its titles
			r.note("the text of %s cannot be read for reranking: %v", hits[i].ID, err)
		}
		texts[i] = c.Breadcrumb() + "\n\n" + text
	}
	scores, err := r.searcher.Rerank(ctx, wording(r.query), texts)
	if err != nil {
		return nil, err
	}
	if len(scores) != len(texts) {
		return nil, fmt.Errorf("the model gave %d numbers for %d texts", len(scores), len(texts))
	}
	opinion := make(sheaf.Ranking, len(hits))
	for i := range hits {
		opinion[i] = sheaf.Hit{ID: hits[i].ID, Score: scores[i]}
		if hits[i].Explanation != nil {
			opinion[i].Explanation = &sheaf.Explanation{Label: "what the model says", Value: scores[i],
				Kind: sheaf.KindRerank}
		}
	}
	if err := opinion.Valid("the reranking model"); err != nil {
		return nil, err
	}
	// Hits with equal scores keep their order.
	slices.SortStableFunc(opinion, func(a, b sheaf.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return opinion, nil
}
