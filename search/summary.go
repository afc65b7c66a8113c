package search

import (
	"sheaf"
	"sheaf/text/analysis"
)

// Summary says in a few words why a hit has its score. It uses the words of the query, not the terms of the
// index. It is empty for a nil explanation.
func Summary(e *sheaf.Explanation, analyzer *analysis.Analyzer, query string) []sheaf.Reason {
	if e == nil {
		return nil
	}
	words := map[string]string{}
	for _, t := range analyzer.QueryTokens(query) {
		if _, known := words[t.Term]; !known {
			words[t.Term] = query[t.Start:t.End]
		}
	}
	return e.Summary(func(term string) string {
		if word, ok := words[term]; ok {
			return word
		}
		return term
	})
}
