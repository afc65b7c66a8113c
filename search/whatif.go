package search

import (
	"context"
	"maps"

	"sheaf"
	"sheaf/profile"
)

// Move says how the rank of one result changes when parameters change.
type Move struct {
	ID    sheaf.ID
	Title string
	// Before and After are ranks from 1. Rank 0 means that the result is missing.
	Before, After int
	// ScoreBefore and ScoreAfter are the scores of the result. A score is 0 if the rank is 0.
	ScoreBefore, ScoreAfter float64
}

// WhatIf answers q twice: unchanged, and with the parameters in change. It returns the moves of every answer in the
// second result, in order, and then of the answers that disappeared.
func (s *Searcher) WhatIf(
	ctx context.Context, q sheaf.Query, p *profile.Profile, opt Options, change map[string]string,
) (before, after *Result, moves []Move, err error) {
	if before, err = s.Search(ctx, q, p, opt); err != nil {
		return nil, nil, nil, err
	}
	changed := opt
	changed.Parameters = maps.Clone(opt.Parameters)
	if changed.Parameters == nil {
		changed.Parameters = map[string]string{}
	}
	maps.Copy(changed.Parameters, change)
	if after, err = s.Search(ctx, q, p, changed); err != nil {
		return nil, nil, nil, err
	}
	old := map[sheaf.ID]*Hit{}
	for i := range before.Hits {
		old[before.Hits[i].ID] = &before.Hits[i]
	}
	for i := range after.Hits {
		h := &after.Hits[i]
		m := Move{ID: h.ID, Title: h.Title, After: h.Rank, ScoreAfter: h.Score}
		if o := old[h.ID]; o != nil {
			m.Before, m.ScoreBefore = o.Rank, o.Score
			delete(old, h.ID)
		}
		moves = append(moves, m)
	}
	for i := range before.Hits {
		if h := &before.Hits[i]; old[h.ID] != nil {
			moves = append(moves, Move{ID: h.ID, Title: h.Title, Before: h.Rank, ScoreBefore: h.Score})
		}
	}
	return before, after, moves, nil
}
