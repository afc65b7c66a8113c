package search

import (
	"context"
	"maps"
	"slices"

	"sheaf/rank"
	"sheaf/text/analysis"
)

// nameMatcher returns the function with which the stage "names" compares names with the query. If the query has no
// words, or the store cannot count them, the function is nil.
func (r *run) nameMatcher(ctx context.Context) (func(name string) rank.NameMatch, error) {
	a := r.searcher.Analyzer
	if a == nil || r.query.Words == nil {
		return nil, nil
	}
	w, err := r.worthInTime(ctx)
	if err != nil || w == nil || !(w.sum > 0) {
		return nil, err
	}
	m := &nameMatcher{analyzer: a, idfs: map[string]float64{}, sum: w.sum,
		known: map[string]rank.NameMatch{}, seen: map[string]bool{}}
	for _, p := range w.parts {
		if tokens := a.QueryTokens(p.text); len(tokens) > 0 {
			m.idfs[tokens[0].Term] += p.worth
		}
	}
	m.screen = a.Screen(slices.Collect(maps.Keys(m.idfs)))
	return m.match, nil
}

// nameMatcher compares names with the words of one query. It is not safe for concurrent use.
type nameMatcher struct {
	analyzer *analysis.Analyzer
	idfs     map[string]float64 // idf of the query's words, by term
	sum      float64            // the worth of all words of the query
	screen   *analysis.Screen
	known    map[string]rank.NameMatch
	seen     map[string]bool // the terms of the current name
	buffer   []analysis.Term // the terms of the current word
}

// match compares a name with the query. For NameMatch.Said, only content words of the name count; if the name has none,
// all its words count.
func (m *nameMatcher) match(name string) rank.NameMatch {
	lacksAll := true // a quick check: many names have no word of the query
	m.screen.Words(name, func(int, int) bool {
		lacksAll = false
		return false
	})
	if lacksAll {
		return rank.NameMatch{}
	}
	if known, ok := m.known[name]; ok { // many sections have the same heading
		return known
	}
	clear(m.seen)
	asked, words, said, content, contentSaid := 0.0, 0, 0, 0, 0
	m.analyzer.Words(name, func(start, end int) bool {
		m.buffer = m.analyzer.QueryTerms(m.buffer[:0], name[start:end])
		for _, t := range m.buffer {
			if m.seen[t.Text] {
				continue
			}
			m.seen[t.Text] = true
			words++
			telling := !m.analyzer.FunctionWord(name[start+t.Start : start+t.End])
			if telling {
				content++
			}
			if v := m.idfs[t.Text]; v > 0 {
				asked += v
				said++
				if telling {
					contentSaid++
				}
			}
		}
		return true
	})
	if content == 0 {
		content, contentSaid = words, said
	}
	if content == 0 {
		return rank.NameMatch{}
	}
	m.known[name] = rank.NameMatch{Asked: min(1, asked/m.sum), Said: float64(contentSaid) / float64(content)}
	return m.known[name]
}
