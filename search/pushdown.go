package search

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sheaf"
	"sheaf/profile"
	"sheaf/rank"
	"sheaf/store"
)

// pushDown lets the store rank and join the branches of a phase in one request, where
// the profile wants that and the store can. ok is false when the plain path has to
// answer; why is a note.
func (r *run) pushDown(ctx, retrieval context.Context, ph *profile.Phase, outcomes []outcome, at lane) (ranking sheaf.Ranking, ok bool, err error) {
	if ph.PushDown == "" || ph.PushDown == profile.PushDownNever {
		return nil, false, nil
	}
	st, can := r.searcher.Backend.(store.Fuser)
	if !can {
		r.note("not pushed down: the store joins no branches by itself")
		return nil, false, nil
	}
	req, reason := r.fuseRequest(ph, outcomes)
	if reason != "" {
		r.note("not pushed down: %s", reason)
		return nil, false, nil
	}
	start := clock()
	found, err := st.Fuse(retrieval, req)
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case errors.Is(err, sheaf.ErrInvalid), errors.Is(err, sheaf.ErrCorrupt):
		return nil, false, fmt.Errorf("%s on %s: %w", ph.FusionText, r.searcher.Store, err)
	case err != nil:
		r.noteFailed("not pushed down", err)
		return nil, false, nil
	}
	if err := found.Hits.Valid("scores of " + r.searcher.Store); err != nil {
		return nil, false, err
	}
	ranking = r.known(found.Hits)
	r.tellPushed(found)
	var names []string
	for i := range outcomes {
		names = append(names, outcomes[i].branch.Name)
	}
	if r.opt.Explain {
		for i := range ranking {
			ranking[i].Explanation = explainPushed(&req, found.By, names, &ranking[i])
		}
	}
	r.took(at.step("fuse on the store"), start)
	r.trace(at, ph.FusionText, ranking)
	if !at.first {
		r.result.Total = len(ranking)
		r.result.More = true // the store tells of no branch whether it is full
		if len(ranking) > 0 && ranking[0].Legs != nil {
			r.result.Legs = names
		}
	}
	return ranking, true, nil
}

func (r *run) tellPushed(found store.Fused) {
	text := "ranked and joined by " + found.By
	if found.Ties {
		text += "; it orders equal scores by itself"
	}
	if len(found.Differs) > 0 {
		text += "; it differs from this program: " + strings.Join(found.Differs, "; ")
	}
	r.note("%s", text)
}

// fuseRequest is what a store is asked for instead of the outcomes' requests, or the
// reason why it cannot be.
func (r *run) fuseRequest(ph *profile.Phase, outcomes []outcome) (req store.FuseRequest, reason string) {
	switch {
	case len(outcomes) != 2:
		return req, fmt.Sprintf("%d branches are to be joined, a store joins two", len(outcomes))
	case ph.Complete:
		return req, "what one branch found is to be looked up in the other"
	case required(r.query.Words) != nil:
		return req, "words are required of what is found by meaning"
	case r.confidence != nil || r.opt.Evidence:
		return req, "evidence is wanted, which the scores of each branch are needed for"
	}
	for i := range outcomes {
		o := &outcomes[i]
		if len(o.branch.Then) > 0 || o.branch.AtLeast != "" || len(o.more) > 0 {
			return req, fmt.Sprintf("branch %s has stages of its own", o.branch.Name)
		}
		req.Legs[i] = store.FuseLeg{Text: o.request.Text, Vector: o.request.Vector, Limit: o.request.Limit, Weight: o.branch.Weight}
		req.Limit += o.request.Limit
	}
	req.Filter, req.Within = outcomes[0].request.Filter, outcomes[0].request.Within
	req.Equal = ph.PushDown == profile.PushDownEqual
	switch f := ph.Fusion.(type) {
	case rank.RRF:
		if f.Unit {
			return req, "reciprocal ranks in units of the largest possible"
		}
		req.Method, req.K = store.FuseRRF, f.K
		return req, ""
	case rank.Scores:
		switch {
		case f.Mean != rank.MeanArithmetic:
		case f.Norm == rank.NormMinMax:
			req.Method = store.FuseMinMax
			return req, ""
		case f.Norm == rank.NormMinMaxOpenSearch:
			req.Method = store.FuseMinMaxOpenSearch
			return req, ""
		}
	}
	return req, "no store knows the fusion " + ph.FusionText
}

// explainPushed says how a score came about: from its ranks for reciprocal ranks,
// where the store tells them, else by the name of what made it.
func explainPushed(req *store.FuseRequest, by string, names []string, h *sheaf.Hit) *sheaf.Explanation {
	out := &sheaf.Explanation{Label: fmt.Sprintf("%s by %s", req.Method, by), Value: h.Score}
	if h.Legs == nil {
		return out
	}
	for i, leg := range h.Legs {
		if leg.Rank == 0 {
			continue
		}
		part := sheaf.Explanation{Label: fmt.Sprintf("rank %d by %s", leg.Rank, names[i]), Value: leg.Score}
		if req.Method == store.FuseRRF {
			part.Label += fmt.Sprintf(" (score %.6g): weight %v over k %d plus rank", leg.Score, req.Legs[i].Weight, req.K)
			part.Value = req.Legs[i].Weight / float64(req.K+leg.Rank)
			out.Combine = sheaf.CombineSum
		}
		out.Parts = append(out.Parts, part)
	}
	return out
}
