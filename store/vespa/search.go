package vespa

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"time"

	"sheaf"
)

type answer struct {
	Root struct {
		Fields struct {
			TotalCount int `json:"totalCount"`
		}
		Coverage *coverage
		Errors   []searchError
		Children []hit
	}
}

// coverage says how much of the content an answer covers.
type coverage struct {
	Coverage int
	Degraded json.RawMessage
}

type searchError struct {
	Code    int
	Summary string
	Message string
}

// String returns the server's message about a query.
func (e searchError) String() string { return fmt.Sprintf("%s: %s", e.Summary, e.Message) }

// hit is a chunk, or a group of a grouping query.
type hit struct {
	Relevance json.RawMessage // a number, or a text such as "NaN"
	Fields    json.RawMessage
}

// hitFields are the fields that the document summary "hit" returns.
type hitFields struct {
	ID       *string
	Features map[string]json.RawMessage `json:"matchfeatures"`
}

func (s *Store) nonsense(what string) error {
	return s.fault(sheaf.ErrUnavailable, "%s: the answer is not from such a server", what)
}

// search sends a query. If only a part of the content answered, it returns an error.
func (s *Store) search(ctx context.Context, q *query) (*answer, error) {
	q.body["yql"] = q.yql()
	q.body["ranking.softtimeout.enable"] = false
	q.body["presentation.timing"] = false
	if end, ok := ctx.Deadline(); ok {
		// The server stops when this call's time ends.
		q.body["timeout"] = fmt.Sprintf("%dms", max(time.Until(end).Milliseconds(), 1))
	}
	var out answer
	if err := s.client.Call(ctx, "POST", "/search/", q.body, &out); err != nil {
		return nil, err
	}
	switch r := out.Root; {
	case len(r.Errors) > 0:
		return nil, s.fault(sheaf.ErrUnavailable, "the search is incomplete: %.500s", r.Errors[0])
	case r.Coverage == nil:
		return nil, s.nonsense("a result without its coverage")
	case r.Coverage.Coverage < 100 || r.Coverage.Degraded != nil:
		return nil, s.fault(sheaf.ErrUnavailable, "the search is incomplete: %d %% of the content answered: %.200s",
			r.Coverage.Coverage, r.Coverage.Degraded)
	}
	return &out, nil
}

// read returns the ID, the score and the match features of a hit.
func (s *Store) read(h hit) (sheaf.Hit, hitFields, error) {
	var out sheaf.Hit
	var fields hitFields
	if err := json.Unmarshal(h.Fields, &fields); err != nil || fields.ID == nil || *fields.ID == "" {
		return out, fields, s.nonsense("a hit without an ID")
	}
	id, err := url.PathUnescape(*fields.ID)
	if err != nil {
		return out, fields, s.nonsense(fmt.Sprintf("a hit with the ID %q", *fields.ID))
	}
	out.ID = sheaf.ID(id)
	if err := json.Unmarshal(h.Relevance, &out.Score); err != nil || math.IsInf(out.Score, 0) {
		return out, fields, s.nonsense(fmt.Sprintf("a relevance of %s", h.Relevance))
	}
	return out, fields, nil
}

// number returns the value of a match feature. The bool is false if the hit does not have the feature.
func (f hitFields) number(name string) (float64, bool) {
	var v float64
	err := json.Unmarshal(f.Features[name], &v)
	return v, err == nil
}

// closest returns the number of the passage in the feature closest(field). If the feature is missing, it is 0. The
// feature is a tensor with one label: {"type": ..., "cells": {"3": 1.0}}, or a list of cells with their addresses.
func (f hitFields) closest(field string) int {
	var tensor struct{ Cells json.RawMessage }
	if json.Unmarshal(f.Features["closest("+field+")"], &tensor) != nil {
		return 0
	}
	var short map[string]float64
	var long []struct {
		Address struct{ T string }
		Value   float64
	}
	label := ""
	if json.Unmarshal(tensor.Cells, &short) == nil {
		for at := range short {
			label = at
		}
	} else if json.Unmarshal(tensor.Cells, &long) == nil && len(long) > 0 {
		label = long[0].Address.T
	}
	n := 0
	if _, err := fmt.Sscanf(label, "%d", &n); err != nil || n < 0 {
		return 0
	}
	return n
}
