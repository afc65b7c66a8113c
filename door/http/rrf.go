package http

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"unicode/utf8"

	"sheaf"
	"sheaf/collection/access"
)

// RRF holds the defaults of /v1/rrf/search. The zero RRF means the method rrf with the constant 60.
type RRF struct {
	// Method is "rrf" or "weighted_sum".
	Method string
	// K is the constant of rrf, 1..1000.
	K int
}

// These are the methods of fusion.
const (
	methodRRF = "rrf"
	methodSum = "weighted_sum"
)

func (d *RRF) validate() error {
	if d.Method == "" {
		d.Method = methodRRF
	}
	if d.K == 0 {
		d.K = 60
	}
	for _, p := range []*Problem{checkMethod(d.Method), checkNumber("rrf_k", float64(d.K))} {
		if p != nil {
			return sheaf.Invalidf("%s", p.Detail)
		}
	}
	return nil
}

func checkMethod(m string) *Problem {
	if m != methodRRF && m != methodSum {
		return problem("invalid-input", "fusion_method must be 'weighted_sum' or 'rrf'")
	}
	return nil
}

// checkNumber returns a problem if the field called name is out of range. Then it checks for a whole number.
func checkNumber(name string, n float64) *Problem {
	switch {
	case n < 1:
		return problem("invalid-input", "%s must be at least 1", name)
	case n > 1000:
		return problem("invalid-input", "%s must not exceed 1000", name)
	case n != math.Trunc(n):
		return problem("invalid-input", "%s must be an integer", name)
	}
	return nil
}

// RRFBody is the body of /v1/rrf/search.
type RRFBody struct {
	Query  string `json:"query" required:"true" minLength:"1" maxLength:"1000" pattern:"@written" doc:"What to look for."`
	Method string `json:"fusion_method" enum:"rrf,weighted_sum" doc:"The fusion; default: hybrid_search.fusion_method."`
	K      int    `json:"rrf_k" min:"1" max:"1000" doc:"The constant of rrf; default: hybrid_search.rrf_k, else 60."`
	TopK   int    `json:"top_k" min:"1" max:"1000" default:"10" doc:"How many results to return."`
}

// RRFAnswer is the answer of /v1/rrf/search.
type RRFAnswer struct {
	Success bool    `json:"success" doc:"Always true."`
	Data    RRFData `json:"data" doc:"The results."`
}

// RRFData has the results, and says how they were fused.
type RRFData struct {
	Results  []RRFResult `json:"results" doc:"The results, best first; empty when nothing was found."`
	Method   string      `json:"fusion_method" doc:"How the two rankings were fused."`
	K        int         `json:"rrf_k" doc:"The constant of rrf."`
	Degraded bool        `json:"degraded,omitempty" doc:"Whether one of the two searches failed; the other answered."`
	Warnings []string    `json:"warnings,omitempty" doc:"What failed, what was not searched, or which text is missing."`
}

// RRFResult is one result of a search over /v1/rrf.
type RRFResult struct {
	ID         sheaf.ID    `json:"id" doc:"The chunk's identifier."`
	Content    string      `json:"content" doc:"The chunk's text, else its title; empty when the file has changed."`
	Score      float64     `json:"rrf_score" doc:"The sum of 1 / (k + rank), or the weighted sum; orders the results."`
	VectorRank *int        `json:"vector_rank" doc:"The rank by meaning, from 1; null when not found by meaning."`
	TextRank   *int        `json:"text_rank" doc:"The rank by words, from 1; null when not found by words."`
	Metadata   RRFMetadata `json:"metadata" doc:"More about the chunk."`
}

// RRFMetadata describes a chunk.
type RRFMetadata struct {
	Doc        sheaf.ID `json:"doc,omitempty" doc:"The document's identifier."`
	Path       string   `json:"path,omitempty" doc:"The document's path."`
	Title      string   `json:"title,omitempty" doc:"The chunk's title."`
	Breadcrumb string   `json:"breadcrumb,omitempty" doc:"The titles from the document down."`
	Tags       []string `json:"tags,omitempty" doc:"The tags of the chunk."`
}

func rrfRoutes() []*route {
	r := reading(endpoint{route: "POST /v1/rrf/search", id: "rrfSearch", example: `{"query": "undo a commit", ` +
		`"fusion_method": "rrf", "rrf_k": 60, "top_k": 10}`,
		summary: "Plain hybrid search of chunks (reciprocal rank fusion)", scope: access.ScopeSearch,
		about: "Each of the two searches gives min(max(5 x top_k, 50), 1000) chunks. Nothing found is 200 with an empty " +
			"list. When one search fails the other answers, with degraded and warnings. weighted_sum does not use rrf_k, " +
			"which must be valid all the same. Errors have only the member error."},
		func(ctx context.Context, c *call, in *posted[RRFBody]) (*RRFAnswer, error) {
			return c.rrf(ctx, in.Body)
		})
	r.parseBody = func(a *API, body []byte) (any, error) { return a.bindRRF(body) }
	return []*route{r}
}

func (c *call) rrf(ctx context.Context, q RRFBody) (*RRFAnswer, error) {
	found, err := c.reader.Fused(ctx, q.Query, q.Method, q.K, q.TopK)
	if err != nil {
		if errors.Is(err, sheaf.ErrInvalid) || c.request.Context().Err() != nil {
			return nil, err
		}
		p := problem("internal", "search failed")
		p.cause = err
		return nil, p
	}
	c.timings = found.Timings
	out := &RRFAnswer{Success: true, Data: RRFData{Results: []RRFResult{}, Method: q.Method, K: q.K,
		Degraded: found.Degraded, Warnings: found.Warnings}}
	for i := range found.Results {
		f := &found.Results[i]
		out.Data.Results = append(out.Data.Results,
			RRFResult{ID: f.ID, Content: f.Content, Score: f.Score, VectorRank: orNull(f.VectorRank),
				TextRank: orNull(f.TextRank),
				Metadata: RRFMetadata{Doc: f.Chunk.Doc, Path: f.Document.Path, Title: f.Chunk.Title,
					Breadcrumb: f.Chunk.Breadcrumb(), Tags: f.Chunk.Tags}})
	}
	c.logFailures(found.Failures)
	return out, nil
}

func orNull(rank int) *int {
	if rank == 0 {
		return nil
	}
	return &rank
}

// bindRRF reads the body of /v1/rrf/search. It reports only the first fault, with the text that
// spec/reciprocal-rank-fusion gives, or with a text in the same style. It checks in this order: fusion_method, rrf_k,
// top_k, unknown fields, query.
func (a *API) bindRRF(body []byte) (RRFBody, error) {
	out := RRFBody{Method: a.o.RRF.Method, K: a.o.RRF.K, TopK: 10}
	var list faults
	in, ok := parseJSON(body, &list)
	if !ok {
		first := list[0]
		if first.Pointer != "#" {
			first.Detail = first.Pointer + ": " + first.Detail
		}
		return out, problem("invalid-input", "%s", first.Detail)
	}
	o, ok := in.(*object)
	if !ok {
		return out, problem("invalid-input", "the body must be a JSON object")
	}
	given := map[string]any{}
	for i, name := range o.names {
		given[name] = o.values[i]
	}
	if v, ok := given["fusion_method"]; ok {
		out.Method, _ = v.(string)
		if p := checkMethod(out.Method); p != nil {
			return out, p
		}
	}
	for _, field := range []struct {
		name string
		to   *int
	}{{"rrf_k", &out.K}, {"top_k", &out.TopK}} {
		v, ok := given[field.name]
		if !ok {
			continue
		}
		n, ok := number(v)
		if !ok {
			return out, problem("invalid-input", "%s must be an integer", field.name)
		}
		if p := checkNumber(field.name, n); p != nil {
			return out, p
		}
		*field.to = int(n)
	}
	set := jsonFields(reflect.TypeFor[RRFBody]())
	for _, name := range o.names {
		if set.byName[name] == nil {
			return out, problem("invalid-input", "there is no field %s: the fields are %s", quote(name),
				strings.Join(set.names, ", "))
		}
	}
	text, ok := given["query"].(string)
	rule := set.byName["query"].rules
	switch {
	case !ok && given["query"] != nil:
		return out, problem("invalid-input", "query must be a string")
	case strings.TrimSpace(text) == "":
		return out, problem("invalid-input", "query must not be empty")
	case utf8.RuneCountInString(text) > 1000:
		return out, problem("invalid-input", "query must not exceed 1000 characters")
	case !rule.pattern.MatchString(text):
		return out, problem("invalid-input", "query %s", rule.patternText)
	}
	out.Query = text
	return out, nil
}

func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	x, err := n.Float64()
	if err != nil && math.IsInf(x, 0) {
		return x, true // out of range, whatever its size
	}
	return x, err == nil
}
