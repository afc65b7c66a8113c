package search

import (
	"slices"

	"sheaf"
	"sheaf/text/analysis"
	"sheaf/text/chunk"
)

// Summary says in a few words why a hit of the document d has its score. It uses the words of the query, not the terms
// of the index. It omits function words, unless the query has no others. For a nil explanation, it returns nil. d may
// be nil.
func Summary(e *sheaf.Explanation, analyzer *analysis.Analyzer, query string, d *sheaf.Document) []sheaf.Reason {
	if e == nil {
		return nil
	}
	words := map[string]string{}
	common := analyzer.Stops(query)
	for _, t := range analyzer.QueryTokens(query) {
		word := query[t.Start:t.End]
		if _, known := words[t.Term]; known {
			continue
		}
		if words[t.Term] = word; !common && analyzer.FunctionWord(word) {
			words[t.Term] = ""
		}
	}
	return e.Summary(sheaf.SummaryWords{
		Word: func(term string) string {
			if word, ok := words[term]; ok {
				return word
			}
			return term
		},
		Property: func(term string) string { return propertyWith(d, analyzer, term) },
	})
}

// propertyWith returns the name of a document's first property whose value contains the term, or "".
func propertyWith(d *sheaf.Document, analyzer *analysis.Analyzer, term string) string {
	if d == nil {
		return ""
	}
	for _, p := range d.Properties {
		if !chunk.IsTextProperty(p.Name) {
			continue
		}
		for _, v := range p.Values {
			if slices.ContainsFunc(analyzer.Tokens(v.String()), func(t analysis.Token) bool { return t.Term == term }) {
				return p.Name
			}
		}
	}
	return ""
}
