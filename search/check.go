package search

import (
	"errors"
	"fmt"
	"slices"

	"sheaf"
	"sheaf/profile"
	"sheaf/store"
)

// Check returns sheaf.ErrUnsupported if s cannot run a plan. The reason is a fault that [Searcher.CheckStore] finds, or
// a missing model. The error names profile, branch and store.
func (s *Searcher) Check(plan *profile.Plan) error {
	if err := s.CheckStore(plan); err != nil {
		return err
	}
	words := func(b profile.Branch) bool { return b.Weight != 0 && b.Vector == nil }
	means := func(b profile.Branch) bool { return b.Weight != 0 && b.Vector != nil }
	for _, ph := range phases(plan) {
		i := slices.IndexFunc(ph.Branches, means)
		if i >= 0 && s.Embed == nil && !slices.ContainsFunc(ph.Branches, words) {
			return fmt.Errorf("profile %s: branch %s searches by meaning and no embedding model is in use: %w",
				plan.Profile.Name, ph.Branches[i].Name, sheaf.ErrUnsupported)
		}
	}
	return nil
}

// CheckStore returns sheaf.ErrUnsupported if the store lacks what a branch needs, or if a needed scanner is missing.
// The error names profile, branch and store.
func (s *Searcher) CheckStore(plan *profile.Plan) error {
	if plan.Scan != nil {
		if s.Scanner == nil {
			return fmt.Errorf("profile %s: candidates: scan: the collection has no folder of files to scan: %w",
				plan.Profile.Name, sheaf.ErrUnsupported)
		}
		return nil // the index of the scanner supports everything
	}
	st, ok := s.Backend.(store.Selective)
	if !ok {
		return nil
	}
	var within []sheaf.ID
	for _, ph := range phases(plan) {
		for i := range ph.Branches {
			b := &ph.Branches[i]
			if b.Weight == 0 {
				continue
			}
			if err := st.Supports(s.branchRequest(b, within)); err != nil {
				return fmt.Errorf("profile %s: branch %s on %s: %w", plan.Profile.Name,
					lane{b.Name, ph == plan.Candidates}, s.storeName(), err)
			}
		}
		within = []sheaf.ID{} // the second phase searches what the first found
	}
	return nil
}

func phases(plan *profile.Plan) []*profile.Phase {
	if plan.Candidates == nil {
		return []*profile.Phase{&plan.Main}
	}
	return []*profile.Phase{plan.Candidates, &plan.Main}
}

// NeedsVectors reports whether a plan has a branch that searches by meaning and whose hits count in the fusion.
func NeedsVectors(plan *profile.Plan) bool {
	return slices.ContainsFunc(phases(plan), func(ph *profile.Phase) bool {
		return slices.ContainsFunc(ph.Branches, func(b profile.Branch) bool { return b.Vector != nil && b.Weight > 0 })
	})
}

// combineText is a value of "combine" in a profile: BM25 then treats all fields as one text. A store that cannot do
// this adds otherFields times the scores of the other fields to the best field's score.
const (
	combineText = "text"
	otherFields = 0.2
)

// branchRequest returns the store request of a branch, without words and vector of the query. If within is not nil, the
// request finds only these chunks.
func (s *Searcher) branchRequest(b *profile.Branch, within []sheaf.ID) store.Request {
	req := store.Request{Within: within, Limit: min(b.Limit, store.MaxLimit)}
	if b.Vector != nil {
		req.Vector = &store.VectorRequest{Field: b.Vector.Field, Candidates: b.Vector.Candidates}
		return req
	}
	req.Text = textRequest(b.Text, nil)
	if b.Text.Combine != combineText {
		return req
	}
	if st, ok := s.Backend.(store.Selective); ok && errors.Is(st.Supports(req), sheaf.ErrUnsupported) {
		req.Text.Combine, req.Text.TieBreaker = store.CombineBest, otherFields
	}
	return req
}

// storeName returns the name of the store for errors and warnings, or "the store" if it has no name.
func (s *Searcher) storeName() string {
	if s.Store == "" {
		return "the store"
	}
	return s.Store
}
