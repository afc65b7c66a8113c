package search

import "sheaf"

// Signals explain the rank of a hit with fields instead of a tree. They describe the steps of the profile tiered.
type Signals struct {
	// Engine says how the hit was found. It is "rrf" if several branches found the hit. If one branch found it, Engine is
	// "semantic" for a search by meaning, otherwise "fulltext".
	Engine           string         `json:"engine"`
	LexicalMatches   []LexicalMatch `json:"lexicalMatches,omitempty"`   // the terms of the query that the hit has
	SemanticScore    *float64       `json:"semanticScore,omitempty"`    // how near the hit and the query are in meaning
	FolderBoost      *FolderSignal  `json:"folderBoost,omitempty"`      // how the hit's folder raised the score
	GraphConnections *GraphSignal   `json:"graphConnections,omitempty"` // how links and tags raised the score
	BaseScore        float64        `json:"baseScore"`                  // the score after fusion and boosts
	FinalScore       float64        `json:"finalScore"`                 // the normalized score that orders the hits
}

// LexicalMatch is a term of the query that a field contains, with the field's weight.
type LexicalMatch struct {
	Field  string  `json:"field"`  // the name of the field
	Query  string  `json:"query"`  // the term of the query
	Weight float64 `json:"weight"` // the weight of the field in the score
}

// FolderSignal is the factor by which the folder raises a score.
type FolderSignal struct {
	Folder            string  `json:"folder"`            // the path of the hit's folder
	DocumentCount     int     `json:"documentCount"`     // how many documents in the folder were found
	TotalDocsInFolder int     `json:"totalDocsInFolder"` // how many documents the folder has
	RelevanceRatio    float64 `json:"relevanceRatio"`    // the share of the folder's documents that were found
	BoostFactor       float64 `json:"boostFactor"`       // the factor that multiplies the score
}

// GraphSignal is the factor by which links raise a score. Score is the weighted sum of the counts of links.
type GraphSignal struct {
	Backlinks       int     `json:"backlinks"`       // how many other found documents link to the hit
	CoCitations     int     `json:"coCitations"`     // how many found documents are cited together with the hit
	SharedTags      int     `json:"sharedTags"`      // how many found documents share a tag with the hit
	Score           float64 `json:"score"`           // the weighted sum of the counts
	BoostMultiplier float64 `json:"boostMultiplier"` // the factor that multiplies the score
}

// SignalsOf converts the explanation of a hit to signals. If the hit has no explanation, it returns nil.
func SignalsOf(h *Hit) *Signals {
	if h.Explanation == nil {
		return nil
	}
	s := &Signals{BaseScore: h.Score, FinalScore: h.Score}
	s.read(h.Explanation)
	switch {
	case len(h.Legs) > 1:
		s.Engine = "rrf"
	case s.SemanticScore != nil:
		s.Engine = "semantic"
	default:
		s.Engine = "fulltext"
	}
	return s
}

func (s *Signals) read(e *sheaf.Explanation) {
	number := func(name string) float64 { return e.Details[name].Number }
	switch e.Kind {
	case sheaf.KindTerm:
		match := LexicalMatch{e.Details["field"].Text, e.Details["term"].Text, number("weight")}
		s.LexicalMatches = append(s.LexicalMatches, match)
	case sheaf.KindSimilarity:
		score := e.Value
		s.SemanticScore = &score
	case sheaf.KindFolder:
		s.FolderBoost = &FolderSignal{
			e.Details["folder"].Text, int(number("documents")), int(number("of")), number("share"), e.Value,
		}
	case sheaf.KindGraph:
		s.GraphConnections = &GraphSignal{
			int(number("backlinks")), int(number("co_citations")), int(number("shared_tags")),
			number("connections"), e.Value,
		}
	case sheaf.KindNormalized:
		s.BaseScore = number("before")
	}
	for i := range e.Parts {
		s.read(&e.Parts[i])
	}
}
