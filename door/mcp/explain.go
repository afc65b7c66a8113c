package mcp

import (
	"cmp"
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sheaf"
	"sheaf/collection"
)

type explainIn struct {
	Query      string   `json:"query" jsonschema:"the query"`
	ID         string   `json:"id,omitempty" jsonschema:"explain why this passage is missing: an id, path or path#heading"`
	Collection string   `json:"collection,omitempty" jsonschema:"the collection; the first one when left out"`
	Limit      int      `json:"limit,omitempty" jsonschema:"how many results to explain, 1 to 20; 3 when left out"`
	Profile    string   `json:"profile,omitempty" jsonschema:"the ranking profile; the collection's own when left out"`
	Set        settings `json:"set,omitempty" jsonschema:"parameters of the profile, by name: numbers or words"`
	Budget     int      `json:"budget,omitempty" jsonschema:"most tokens, 8000 by default; cuts the deepest parts first"`
}

type explainOut struct {
	Query      string       `json:"query" jsonschema:"the query"`
	Collection string       `json:"collection" jsonschema:"the collection that was searched"`
	Profile    string       `json:"profile" jsonschema:"the ranking profile"`
	Results    []explained  `json:"results" jsonschema:"the results with the arithmetic of their scores"`
	Absence    *explainedNo `json:"absence,omitempty" jsonschema:"why the passage is not a result"`
	// Truncated and Tokens describe only Results. Absence is always short.
	Truncated bool `json:"truncated" jsonschema:"whether arithmetic or results were left out because of the budget"`
	Tokens    int  `json:"tokens" jsonschema:"about how many tokens the results take"`
}

type explained struct {
	Rank       int      `json:"rank" jsonschema:"the rank, from 1"`
	ID         sheaf.ID `json:"id" jsonschema:"the identifier"`
	Breadcrumb string   `json:"breadcrumb" jsonschema:"the titles from the document down"`
	Score      float64  `json:"score" jsonschema:"the score"`
	Summary    string   `json:"summary" jsonschema:"why it has its score, each part in percent"`
	Arithmetic string   `json:"arithmetic" jsonschema:"one line per part: its value, its meaning, how its parts combine"`
}

type explainedNo struct {
	ID      sheaf.ID `json:"id" jsonschema:"the passage"`
	Rank    int      `json:"rank" jsonschema:"its rank; 0 when it is not a result"`
	Inside  sheaf.ID `json:"inside,omitempty" jsonschema:"the result that replaces it"`
	Reasons []string `json:"reasons" jsonschema:"what each branch found, then the step that removed it"`
}

// maxExplained limits the explained results, because each result takes many lines.
const maxExplained = 20

func (s *server) explain(ctx context.Context, in explainIn) (*explainOut, error) {
	switch {
	case in.Query == "":
		return nil, sheaf.Invalidf("query: it is empty: say what was looked for")
	case in.Limit < 0 || in.Limit > maxExplained:
		return nil, sheaf.Invalidf("limit: %d: must be within 1..%d", in.Limit, maxExplained)
	case in.Limit == 0:
		in.Limit = 3
	}
	budget, err := budgetOf(in.Budget)
	if err != nil {
		return nil, err
	}
	return withReader(ctx, s, in.Collection, func(ctx context.Context, r *collection.Reader) (*explainOut, error) {
		set, err := in.Set.texts()
		if err != nil {
			return nil, err
		}
		q := collection.SearchRequest{Text: in.Query, Profile: in.Profile, Parameters: set, Limit: in.Limit, Explain: true}
		if in.ID != "" {
			t, err := find(r, in.ID)
			if err != nil {
				return nil, err
			}
			asked := t.Chunk.ID
			p, err := r.Collection().Load(in.Profile)
			scans := err == nil && p.Scans()
			if scans {
				asked = t.Doc.ID // any section of the file may represent it
			}
			a, err := r.WhyNot(ctx, q, asked)
			if err != nil {
				return nil, err
			}
			if scans { // sections of a scan have numbers, which no tool accepts
				a.ID, a.Inside = asked, ""
			}
			return &explainOut{Query: in.Query, Collection: r.Collection().Name(),
				Profile: cmp.Or(in.Profile, r.Collection().Profile()), Results: []explained{},
				Absence: &explainedNo{a.ID, a.Rank, a.Inside, a.Reasons}}, nil
		}
		a, err := r.Search(ctx, q)
		if err != nil {
			return nil, err
		}
		out := &explainOut{Query: in.Query, Collection: r.Collection().Name(), Profile: a.Profile, Results: []explained{},
			Tokens: int(budget)}
		out.explain(a.Results, budget)
		return out, nil
	})
}

func (o *explainOut) content() []sdk.Content {
	var w textWriter
	if no := o.Absence; no != nil {
		switch {
		case no.Rank > 0 && no.Inside != "" && no.Inside != no.ID:
			w.line("%s has rank %d, inside %s.", shownID(o.Collection, no.ID), no.Rank, shownID(o.Collection, no.Inside))
		case no.Rank > 0:
			w.line("%s has rank %d.", shownID(o.Collection, no.ID), no.Rank)
		default:
			w.line("%s is not among the results.", shownID(o.Collection, no.ID))
		}
		for _, reason := range no.Reasons {
			w.line("- %s", oneLine(reason))
		}
	}
	if o.Absence == nil && len(o.Results) == 0 && !o.Truncated {
		w.line("Nothing was found for %q: there is nothing to explain.", o.Query)
	}
	for _, e := range o.Results {
		w.line("%d. %s  %s", e.Rank, oneLine(e.Breadcrumb), shownID(o.Collection, e.ID))
		w.line("%s", oneLine(e.Summary))
		w.line("%s", e.Arithmetic)
	}
	if o.Truncated {
		w.line("Note: the budget left out the deepest parts, or results; a larger one, or a smaller limit, gives them.")
	}
	return w.content()
}

// explain adds the results with their arithmetic, as far as the budget allows. If the budget is too small, explain
// first omits the deepest parts of all results, and then whole results.
func (o *explainOut) explain(hits []collection.Result, budget float64) {
	deepest := 0
	for i := range hits {
		deepest = max(deepest, depthOf(hits[i].Explanation))
	}
	empty, fits := size(o), false
	for most := deepest; most >= 0 && !fits; most-- {
		o.Results, o.Truncated = o.Results[:0], most < deepest
		used := empty
		fits = true
		for i := range hits {
			hit := &hits[i]
			var w textWriter
			w.tree(hit.Explanation, 0, most)
			one := explained{Rank: hit.Rank, ID: nameOf(hit), Breadcrumb: hit.Breadcrumb, Score: hit.Score,
				Summary:    sheaf.SummaryText(hit.Summary),
				Arithmetic: w.String()}
			price := size(&one) + extraTokens(o.Collection, one.ID)
			if used+price > budget {
				fits, o.Truncated = false, true
				break
			}
			used += price
			o.Results = append(o.Results, one)
		}
		o.Tokens = int(used)
	}
}

// depthOf returns how many levels of parts an explanation has. Without parts, it returns 0.
func depthOf(e *sheaf.Explanation) int {
	deepest := 0
	if e != nil {
		for i := range e.Parts {
			deepest = max(deepest, 1+depthOf(&e.Parts[i]))
		}
	}
	return deepest
}

// tree writes an explanation, one part per line, indented below the part that contains it. depth is the level of e,
// from 0, and levels is the deepest level to write.
func (w *textWriter) tree(e *sheaf.Explanation, depth, levels int) {
	if e == nil {
		return
	}
	how := ""
	if e.Combine != sheaf.CombineNone && len(e.Parts) > 0 {
		how = " = " + string(e.Combine) + " of"
	}
	if depth == levels && len(e.Parts) > 0 {
		how += " …"
	}
	w.line("%s%.5g %s%s", strings.Repeat("  ", depth), e.Value, oneLine(e.Label), how)
	for i := 0; i < len(e.Parts) && depth < levels; i++ {
		w.tree(&e.Parts[i], depth+1, levels)
	}
}
