package search

import (
	"errors"
	"fmt"

	"sheaf"
	"sheaf/profile"
	"sheaf/store"
)

// Check reports whether the searcher can run a plan. It returns sheaf.ErrUnsupported for a fault of
// [Searcher.CheckStore]. It also returns it when all counting branches of a phase need a model and
// there is none. The error names profile, branch and store.
func (s *Searcher) Check(plan *profile.Plan) error {
	if err := s.CheckStore(plan); err != nil {
		return err
	}
	for _, ph := range phases(plan) {
		if only := onlyMeaning(ph.phase); only != nil && s.Embed == nil {
			return fmt.Errorf("profile %s: branch %s searches by meaning and no embedding model is in use: %w",
				plan.Profile.Name, only.Name, sheaf.ErrUnsupported)
		}
	}
	return nil
}

// CheckStore returns sheaf.ErrUnsupported when the store lacks what a branch needs, or when the
// profile needs a scanner and there is none. The error names profile, branch and store.
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
	for i, ph := range phases(plan) {
		var within []sheaf.ID
		if i > 0 {
			within = []sheaf.ID{}
		}
		if err := s.checkPhase(st, ph, within); err != nil {
			return fmt.Errorf("profile %s: %w", plan.Profile.Name, err)
		}
	}
	return nil
}

// phaseAt is one phase of a plan.
type phaseAt struct {
	phase *profile.Phase
	at    lane
}

// phases returns the phases of a plan in order.
func phases(plan *profile.Plan) []phaseAt {
	main := phaseAt{&plan.Main, lane{}}
	if plan.Candidates == nil {
		return []phaseAt{main}
	}
	return []phaseAt{{plan.Candidates, lane{first: true}}, main}
}

// onlyMeaning returns the first counting branch when all counting branches search by meaning, else nil.
func onlyMeaning(ph *profile.Phase) *profile.Branch {
	var first *profile.Branch
	for i := range ph.Branches {
		switch b := &ph.Branches[i]; {
		case b.Weight == 0:
		case b.Vector == nil:
			return nil
		case first == nil:
			first = b
		}
	}
	return first
}

// checkPhase asks the store whether it supports each counting branch.
func (s *Searcher) checkPhase(st store.Selective, ph phaseAt, within []sheaf.ID) error {
	at := ph.at
	for i := range ph.phase.Branches {
		b := &ph.phase.Branches[i]
		if b.Weight == 0 {
			continue
		}
		at.branch = b.Name
		if err := st.Supports(s.branchRequest(b, within)); err != nil {
			return fmt.Errorf("branch %s on %s: %w", at, s.storeName(), err)
		}
	}
	return nil
}

// combineText is BM25 over all fields as one text, where the store has it. Other stores take the best field plus
// otherFields times the rest.
const (
	combineText = "text"
	otherFields = 0.2
)

// branchRequest returns the store request of a branch, without words and vector.
func (s *Searcher) branchRequest(b *profile.Branch, within []sheaf.ID) store.Request {
	req := branchRequest(b, within)
	if b.Text == nil || b.Text.Combine != combineText {
		return req
	}
	if st, ok := s.Backend.(store.Selective); ok && errors.Is(st.Supports(req), sheaf.ErrUnsupported) {
		req.Text.Combine, req.Text.TieBreaker = store.CombineBest, otherFields
	}
	return req
}

func branchRequest(b *profile.Branch, within []sheaf.ID) store.Request {
	req := store.Request{Within: within, Limit: min(b.Limit, store.MaxLimit)}
	if b.Vector != nil {
		req.Vector = &store.VectorRequest{Field: b.Vector.Field, Candidates: b.Vector.Candidates}
	} else {
		req.Text = textRequest(b.Text, nil)
	}
	return req
}

// storeName returns the name of the store for errors and warnings.
func (s *Searcher) storeName() string {
	if s.Store == "" {
		return "the store"
	}
	return s.Store
}
