package weaviate

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// page has the hits in an answer that pass the filter. If more hits may follow, lastScore is the last hit's score.
type page struct {
	ranking   sheaf.Ranking
	lastScore *float64
}

// pages asks the server for the hits of each request in list.
func (s *Store) pages(ctx context.Context, list []growingRequest) ([]page, error) {
	out := make([]page, len(list))
	return out, store.Each(ctx, len(list), func(ctx context.Context, i int) error {
		answer, err := ask[answerData](ctx, s, list[i].query())
		if err != nil {
			return err
		}
		found, err := hits(s, answer.Get, list[i].class)
		if err == nil {
			out[i], err = s.page(list[i], found)
		}
		return err
	})
}

func (a growingRequest) query() string {
	arguments := []string{fmt.Sprintf("limit:%d", a.hits)}
	if a.operator != "" {
		arguments = append(arguments, a.operator)
	} else {
		arguments = append(arguments, `sort:[{path:["cid"] order:asc}]`)
	}
	if !a.where.all() {
		arguments = append(arguments, "where:"+a.where.where)
	}
	fields := "cid"
	switch {
	case a.meaning:
		fields = "n cid _additional{distance}"
	case a.operator != "":
		fields = "cid _additional{score}"
	}
	if a.where.loose {
		fields = "c " + fields
	}
	return fmt.Sprintf("{Get{%s(%s){%s}}}", a.class, strings.Join(arguments, " "), fields)
}

type answerData struct{ Get map[string][]answerObject }

type answerObject struct {
	CID        string   `json:"cid"`
	C          []string `json:"c"`
	N          int      `json:"n"`
	Additional struct {
		Score    string
		Distance *float64
	} `json:"_additional"`
}

// page returns the hits of the request a from the objects in its answer.
func (s *Store) page(a growingRequest, list []answerObject) (page, error) {
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
		case a.operator != "":
			score, err := strconv.ParseFloat(o.Additional.Score, 64)
			if err != nil {
				return out, s.fault(sheaf.ErrUnavailable, "a score of %q: the answer is not from such a server",
					o.Additional.Score)
			}
			h.Score = score
		}
		out.lastScore = &h.Score
		if a.where.loose && a.exact != nil && !a.exact.Match(storekit.ReadWords(o.C)) {
			continue
		}
		out.ranking = append(out.ranking, h)
	}
	if len(list) < a.hits {
		out.lastScore = nil
	}
	return out, nil
}

// count counts the objects of a class that meet a condition.
func (s *Store) count(ctx context.Context, class string, c condition) (int, error) {
	where := ""
	if !c.all() {
		where = "(where:" + c.where + ")"
	}
	answer, err := ask[struct {
		Aggregate map[string][]struct{ Meta struct{ Count *int } }
	}](ctx, s, fmt.Sprintf("{Aggregate{%s%s{meta{count}}}}", class, where))
	if err != nil {
		return 0, err
	}
	found := answer.Aggregate[class]
	if len(found) != 1 || found[0].Meta.Count == nil {
		return 0, s.fault(sheaf.ErrUnavailable, "a count without a number: the answer is not from such a server")
	}
	return *found[0].Meta.Count, nil
}
