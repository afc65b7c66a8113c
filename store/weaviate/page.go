package weaviate

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/store/storekit"
)

// page has the hits of one answer that pass the filter. last is the score of the last hit when more
// hits may follow, else nil.
type page struct {
	found sheaf.Ranking
	last  *float64
}

// pages asks for the hits of every element of list in one request.
func (s *Store) pages(ctx context.Context, list []asked) ([]page, error) {
	queries := make([]string, len(list))
	for i, a := range list {
		queries[i] = a.query()
	}
	answers, err := askAll[got](ctx, s, queries)
	if err != nil {
		return nil, err
	}
	out := make([]page, len(list))
	for i, a := range list {
		list, err := hits(s, answers[i].Get, a.class)
		if err != nil {
			return nil, err
		}
		if out[i], err = s.page(a, list); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// query returns a in GraphQL.
func (a asked) query() string {
	arguments := []string{fmt.Sprintf("limit:%d", a.want)}
	if a.how != "" {
		arguments = append(arguments, a.how)
	} else {
		arguments = append(arguments, `sort:[{path:["cid"] order:asc}]`)
	}
	if !a.where.all {
		arguments = append(arguments, "where:"+a.where.where)
	}
	fields := "cid"
	switch {
	case a.meaning:
		fields = "n cid _additional{distance}"
	case a.how != "":
		fields = "cid _additional{score}"
	}
	if a.where.loose {
		fields = "c " + fields
	}
	return fmt.Sprintf("{Get{%s(%s){%s}}}", a.class, strings.Join(arguments, " "), fields)
}

// got is the data of an answer.
type got struct{ Get map[string][]gotten }

// gotten is an object of an answer.
type gotten struct {
	CID        string   `json:"cid"`
	C          []string `json:"c"`
	N          int      `json:"n"`
	Additional struct {
		Score    string
		Distance *float64
	} `json:"_additional"`
}

// page reads the hits of a.
func (s *Store) page(a asked, list []gotten) (page, error) {
	var out page
	for _, o := range list {
		h := sheaf.Hit{Passage: o.N}
		id, err := hex.DecodeString(o.CID)
		if err != nil || len(id) == 0 {
			return out, s.fault(sheaf.ErrUnavailable, "a hit without an ID: the answer is not from such a server")
		}
		h.ID = sheaf.ID(id)
		switch {
		case a.meaning && o.Additional.Distance == nil:
			return out, s.fault(sheaf.ErrUnavailable, "a hit without a distance: the answer is not from such a server")
		case a.meaning:
			h.Score = 1 - *o.Additional.Distance
		case a.how != "":
			score, err := strconv.ParseFloat(o.Additional.Score, 64)
			if err != nil {
				return out, s.fault(sheaf.ErrUnavailable, "a score of %q: the answer is not from such a server",
					o.Additional.Score)
			}
			h.Score = score
		}
		out.last = &h.Score
		if a.where.loose && a.exact != nil && !a.exact.Match(storekit.ReadWords(o.C)) {
			continue
		}
		out.found = append(out.found, h)
	}
	if len(list) < a.want {
		out.last = nil
	}
	return out, nil
}

// every matches all objects of a class.
func every(class string) asked { return asked{class: class, where: everything, matching: everything} }

// count counts the matches of a.
func (s *Store) count(ctx context.Context, a asked) (int, error) {
	counts, err := s.countAll(ctx, []asked{a})
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// counts is the data of an answer that counts.
type counts struct {
	Aggregate map[string][]struct{ Meta struct{ Count *int } }
}

func (s *Store) countAll(ctx context.Context, list []asked) ([]int, error) {
	queries, out := make([]string, len(list)), make([]int, len(list))
	for i, a := range list {
		where := a.filter().where
		if where != "" {
			where = "(where:" + where + ")"
		}
		queries[i] = fmt.Sprintf("{Aggregate{%s%s{meta{count}}}}", a.class, where)
	}
	answers, err := askAll[counts](ctx, s, queries)
	if err != nil {
		return nil, err
	}
	for i, a := range list {
		found := answers[i].Aggregate[a.class]
		if len(found) != 1 || found[0].Meta.Count == nil {
			return nil, s.fault(sheaf.ErrUnavailable, "a count without a number: the answer is not from such a server")
		}
		out[i] = *found[0].Meta.Count
	}
	return out, nil
}
