package search_test

import (
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/text/chunk"
	words "sheaf/text/query"
)

// TestBranchStagesThatReplaceHits checks stages of branches that replace hits. The fusion gets
// each hit once, with its rank at the end of its branch.
func TestBranchStagesThatReplaceHits(t *testing.T) {
	s := collection(t, chunk.Options{})
	queries := []string{"the", "flour water salt", "release", "bread dough salt", "how we release", "undo changes"}
	const lifts = "aggregate: {to: document, method: max_p}"
	for _, stages := range [][2]string{
		{"reading_order: 1000000", "reading_order: 1000000"},
		{lifts, lifts},
		// Documents and chunks are numbered separately.
		{lifts, "adaptive: {floor: 0, ceiling: 1000, relative: 0, absolute: -1000}"},
		{"adaptive: {floor: 0, ceiling: 1000, relative: 0, absolute: -1000}", lifts},
		{lifts + "}, {top: 3", lifts + "}, {top: 2"},
		{lifts, "aggregate: {to: parent, method: max_p}"},
		{lifts, lifts + "}, {mmr: {n: 50, lambda: 0.3}"},
		{"mmr: {n: 50, lambda: 0.3}", "mmr: {n: 50, lambda: 0.3}"},
		{"neighbours: {before: 1, after: 1}", "neighbours: {before: 1, after: 1}"},
	} {
		for _, limit := range []string{"1", "50"} {
			p := twoBranches(t, stages, limit)
			for _, text := range queries {
				q := words.Parse(text, words.Options{Limit: 10, Now: s.Now()})
				ends := branchEnds(mustSearch(t, s, q, p, search.Options{Trace: true}))
				checkLegs(t, strings.Join(stages[:], " and ")+", limit "+limit+", "+text,
					mustSearch(t, s, q, p, search.Options{}).Hits, ends)
			}
		}
	}
}

// twoBranches returns a profile with stages in both branches, and a fusion.
func twoBranches(t *testing.T, stages [2]string, limit string) *profile.Profile {
	t.Helper()
	p := parse(t, `
name: two
about: two branches of words
branches:
  - name: words
    retrieve: text
    fields: {title: 2, body: 1}
    limit: `+limit+`
    then: [{`+stages[0]+`}]
  - name: titles
    retrieve: text
    fields: {title: 1}
    limit: `+limit+`
    then: [{`+stages[1]+`}]
fuse: {method: rrf, k: 60}
then:
  - top: limit
`)
	return p
}

// branchEnds returns the rankings at the end of both branches.
func branchEnds(r *search.Result) []sheaf.Ranking {
	ends := make([]sheaf.Ranking, 2)
	for _, step := range r.Trace {
		if b := slices.Index([]string{"words", "titles"}, step.Branch); b >= 0 {
			ends[b] = step.Ranking
		}
	}
	return ends
}

func checkLegs(t *testing.T, what string, fused []search.Hit, ends []sheaf.Ranking) {
	t.Helper()
	seen := map[sheaf.ID]bool{}
	for i := range fused {
		h := &fused[i]
		if seen[h.ID] {
			t.Errorf("%s: %s appears twice", what, h.ID)
		}
		seen[h.ID] = true
		for b, leg := range h.Legs {
			if want := 1 + slices.IndexFunc(ends[b], func(e sheaf.Hit) bool { return e.ID == h.ID }); leg.Rank != want {
				t.Errorf("%s: %s has rank %d of branch %d, want %d", what, h.ID, leg.Rank, b, want)
			}
		}
	}
}
