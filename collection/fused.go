package collection

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sheaf"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/text/query"
)

// fusedName is the name of the built-in profile that [Reader.Fused] runs.
const fusedName = "rrf"

// fusedProfile loads the built-in profile fusedName. Callers depend on its results, so neither a user's profile nor
// tuned numbers replace it.
var fusedProfile = sync.OnceValues(func() (*profile.Profile, error) {
	return profile.Load(fusedName, profile.Builtin)
})

// Fused is the answer of a plain hybrid search (spec/reciprocal-rank-fusion).
type Fused struct {
	Results  []FusedResult
	Degraded bool
	Warnings []string
	Failures []string // like Failures of an [Answer]
	Timings  []search.Timing
}

// FusedResult is a chunk with its rank in each leg. Rank 0 means that the leg did not find the chunk.
type FusedResult struct {
	ID sheaf.ID
	// Content is the text of the chunk without its subsections. If this text is blank, Content is the title.
	Content              string
	Score                float64
	VectorRank, TextRank int
	Document             sheaf.Document
	Chunk                sheaf.Chunk
}

// Fused searches for text in two legs, by meaning and by words. It returns the best chunks, at most limit, which is
// 1..MaxWindow. The method "rrf" fuses the legs with the constant k, 1..1000. The method "weighted_sum" fuses them with
// equal weights. Each leg returns min(max(5 * limit, 50), 1000) chunks. If one leg fails, the other leg answers, and
// Degraded is true.
func (r *Reader) Fused(ctx context.Context, text, method string, k, limit int) (*Fused, error) {
	if limit < 1 || limit > MaxWindow {
		return nil, fieldError("limit", "%d: must be within 1..%d", limit, MaxWindow)
	}
	p, err := fusedProfile()
	if err != nil {
		return nil, err
	}
	q := query.Parse(text, query.Options{Now: r.c.now(), Limit: limit})
	request := SearchRequest{Parameters: map[string]string{"method": method, "rrf_k": strconv.Itoa(k)}, Window: limit}
	plan, err := p.Plan(limit, request.Parameters)
	if err != nil {
		return nil, inParameters(err)
	}
	a, steps, err := r.answer(ctx, &request, q, loadedProfile{profile: p, plan: plan})
	if err != nil {
		return nil, err
	}
	result := a.result
	vector, words := slices.Index(result.Legs, "vector"), slices.Index(result.Legs, "text")
	out := &Fused{
		Results: []FusedResult{}, Degraded: result.Degraded, Timings: steps,
		Warnings: append(r.publicTexts(result, result.Warnings), r.outdatedWarning()...), Failures: result.Warnings,
	}
	if vector < 0 || words < 0 { // only one leg runs, which is not a fault
		out.Warnings = append(out.Warnings, r.publicTexts(result, slices.Concat(result.Notes, result.Unmet))...)
	}
	rank := func(h *search.Hit, leg int) int {
		if leg < 0 || leg >= len(h.Legs) {
			return 0
		}
		return h.Legs[leg].Rank
	}
	stale := 0
	for i := range result.Hits {
		h := &result.Hits[i]
		f := FusedResult{ID: h.ID, Score: Finite(h.Score), VectorRank: rank(h, vector), TextRank: rank(h, words)}
		f.Chunk, _ = search.Part(r.guard, h.ID)
		f.Document, _ = r.guard.Document(h.Doc)
		content, err := r.guard.text(h.Doc)
		if err != nil {
			stale++
		} else {
			f.Content = string(content[min(h.Body.Start, len(content)):min(max(h.Body.Start, h.Body.End), len(content))])
			if strings.TrimSpace(f.Content) == "" {
				f.Content = f.Chunk.Title
			}
		}
		out.Results = append(out.Results, f)
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	if stale > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d of the results changed since they were indexed, or cannot be "+
			"read: they have no content", stale))
	}
	return out, nil
}
