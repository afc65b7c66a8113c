package storetest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"sheaf"
	"sheaf/rank"
	"sheaf/store"
)

// FuseOptions say how a store joins two legs by itself.
type FuseOptions struct {
	// Methods are those that it knows.
	Methods []store.FuseMethod
	// MinWindow is the least limit of a leg; 0 is 1.
	MinWindow int
	// Alike says that both legs must rank equally many.
	Alike bool
	// K is the constant of reciprocal ranks that the server has; 0 is any.
	K int
	// OneField says that words are looked for in one field.
	OneField bool
	// Passages is how many vectors a chunk may have, at least 1.
	Passages int
	// Legs says that hits carry rank and score in each leg.
	Legs bool
	// Tolerance is by how much a score may differ; 0 is 1e-12.
	Tolerance float64
	// Ties says that the server orders equal scores as it likes. Queries with
	// equal scores in a leg are left out, and hits whose sums differ by less
	// than Tolerance may stand in any order.
	Ties bool
}

// Fuse compares what b joins by itself with the plain path: two requests, and a
// fusion of package rank. b is empty and is filled.
func Fuse(t *testing.T, b store.Backend, o FuseOptions) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 2))
	if o.Tolerance == 0 {
		o.Tolerance = 1e-12
	}
	vocabulary := strings.Fields("apple pie token refresh running index engine search graph vault note link")
	pick := func() string { return vocabulary[min(r.IntN(len(vocabulary)), r.IntN(len(vocabulary)))] }
	fillForFusion(t, b, o, r, pick)
	compared := 0
	for n := 0; n < 60; n++ {
		req := store.FuseRequest{Method: o.Methods[n%len(o.Methods)], K: 1 + r.IntN(100), Equal: true}
		if o.K > 0 {
			req.K = o.K
		}
		words := store.FuseLeg{Text: Words(sheaf.Match{Text: distinct(pick)}).Text, Limit: max(o.MinWindow, 1+r.IntN(120)), Weight: 0.1 + r.Float64()}
		if o.OneField {
			words.Text.Fields = []store.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}}
		}
		near := store.FuseLeg{Vector: &store.VectorRequest{Field: store.VectorBody, Vector: direction(r)}, Limit: max(o.MinWindow, 1+r.IntN(120)), Weight: 1}
		if o.Alike {
			near.Limit = words.Limit
		}
		req.Legs = [2]store.FuseLeg{near, words}
		if n%2 == 0 {
			req.Legs = [2]store.FuseLeg{words, near}
		}
		req.Limit = 1 + r.IntN(min(near.Limit, words.Limit))
		if r.IntN(2) == 0 {
			req.Filter = sheaf.In{Column: "n", Values: []sheaf.Value{sheaf.NumberValue(float64(r.IntN(5))), sheaf.NumberValue(1)}}
		}
		want, tied := plainFusion(t, b, req)
		if tied && o.Ties {
			continue
		}
		got, err := b.(store.Fuser).Fuse(t.Context(), req)
		if err != nil {
			t.Fatalf("seed %d: %+v: %v", seed, req, err)
		}
		if fault := differ(got.Hits, want, o); fault != "" || len(got.Differs) > 0 {
			t.Fatalf("seed %d, query %d, method %v, windows %d and %d: %s, differs %v\n%v\nwant\n%v", seed, n, req.Method, req.Legs[0].Limit, req.Legs[1].Limit, fault, got.Differs, got.Hits, want)
		}
		compared++
	}
	if compared < 5 {
		t.Errorf("seed %d: %d of 60 queries were compared", seed, compared)
	}
	fuseRefuses(t, b, o)
}

func fillForFusion(t *testing.T, b store.Backend, o FuseOptions, r *rand.Rand, pick func() string) {
	t.Helper()
	var chunks []store.Chunk
	for i := range 90 {
		var text []string
		for range 1 + r.IntN(39) {
			text = append(text, pick())
		}
		c := Chunk(fmt.Sprintf("t:%03d", i), "title", pick(), "body", strings.Join(text, " "))
		c.Columns = []store.Column{{Name: "n", Values: []sheaf.Value{sheaf.NumberValue(float64(r.IntN(4)))}}}
		v := store.Vectors{Name: store.VectorBody}
		for range 1 + r.IntN(max(o.Passages, 1)) {
			v.Passages = append(v.Passages, direction(r))
		}
		if r.IntN(4) > 0 {
			c.Vectors = []store.Vectors{v}
		}
		chunks = append(chunks, c)
	}
	if err := b.Write(t.Context(), store.Batch{Chunks: chunks}); err != nil {
		t.Fatal(err)
	}
}

// distinct is three different words.
func distinct(pick func() string) string {
	a, b, c := pick(), pick(), pick()
	if a == b || b == c || a == c {
		return distinct(pick)
	}
	return a + " " + b + " " + c
}

// direction is a random vector of length 1.
func direction(r *rand.Rand) []float32 {
	v := make([]float32, 8)
	square := 0.0
	for i := range v {
		v[i] = float32(r.NormFloat64())
		square += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(square))
	}
	return v
}

// plainFusion asks for both legs and joins them here; tied says that a leg, or the
// first that it leaves out, has equal scores.
func plainFusion(t *testing.T, b store.Backend, req store.FuseRequest) (out sheaf.Ranking, tied bool) {
	t.Helper()
	var legs []rank.Leg
	for i, one := range req.Requests() {
		limit := one.Limit
		one.Limit++
		hits, err := b.Retrieve(t.Context(), one)
		if err != nil {
			t.Fatal(err)
		}
		for j := 1; j < len(hits); j++ {
			tied = tied || math.Abs(hits[j].Score-hits[j-1].Score) < 1e-5
		}
		legs = append(legs, rank.Leg{Name: fmt.Sprint(i), Hits: hits[:min(limit, len(hits))], Weight: req.Legs[i].Weight})
	}
	var fusion rank.Fusion = rank.RRF{K: req.K}
	switch req.Method {
	case store.FuseMinMax:
		fusion = rank.Scores{Norm: rank.NormMinMax, Mean: rank.MeanArithmetic}
	case store.FuseMinMaxOpenSearch:
		fusion = rank.Scores{Norm: rank.NormMinMaxOpenSearch, Mean: rank.MeanArithmetic}
	}
	out, err := fusion.Fuse(legs)
	if err != nil {
		t.Fatal(err)
	}
	return out[:min(len(out), req.Limit)], tied
}

func differ(got, want sheaf.Ranking, o FuseOptions) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d hits, the plain path has %d", len(got), len(want))
	}
	scores := map[sheaf.ID]float64{}
	for _, h := range want {
		scores[h.ID] = h.Score
	}
	for i := range got {
		switch score, ok := scores[got[i].ID]; {
		case math.Abs(got[i].Score-want[i].Score) > o.Tolerance:
			return fmt.Sprintf("place %d scores %v, on the plain path %v", i+1, got[i].Score, want[i].Score)
		case got[i].ID == want[i].ID:
		case !o.Ties || ok && math.Abs(score-got[i].Score) > o.Tolerance:
			return fmt.Sprintf("place %d is %s, on the plain path %s", i+1, got[i].ID, want[i].ID)
		}
		for j := range got[i].Legs {
			a, b := got[i].Legs[j], want[i].Legs[j]
			if a.Rank != b.Rank || math.Abs(a.Score-b.Score) > 1e-5 {
				return fmt.Sprintf("place %d has legs %v, on the plain path %v", i+1, got[i].Legs, want[i].Legs)
			}
		}
		if (got[i].Legs != nil) != o.Legs {
			return fmt.Sprintf("place %d has legs %v", i+1, got[i].Legs)
		}
	}
	return ""
}

// fuseRefuses: requests that nobody can answer.
func fuseRefuses(t *testing.T, b store.Backend, o FuseOptions) {
	window := max(10, o.MinWindow)
	good := store.FuseRequest{K: 60, Limit: 5, Method: o.Methods[0], Legs: [2]store.FuseLeg{
		{Vector: &store.VectorRequest{Field: store.VectorBody, Vector: []float32{1, 0, 0, 0, 0, 0, 0, 0}}, Limit: window, Weight: 1},
		{Text: Words(sheaf.Match{Text: "apple"}).Text, Limit: window, Weight: 1}}}
	for what, change := range map[string]func(*store.FuseRequest){
		"k": func(f *store.FuseRequest) { f.Method, f.K = store.FuseRRF, 0 }, "limit": func(f *store.FuseRequest) { f.Limit = 2*window + 1 },
		"window": func(f *store.FuseRequest) { f.Legs[0].Limit = 0 }, "weight": func(f *store.FuseRequest) { f.Legs[0].Weight = math.NaN() },
		"no words":   func(f *store.FuseRequest) { f.Legs[1].Text = nil },
		"dimensions": func(f *store.FuseRequest) { f.Legs[0].Vector.Vector = []float32{1} },
	} {
		req := good
		near := *good.Legs[0].Vector
		req.Legs[0].Vector = &near
		change(&req)
		if _, err := b.(store.Fuser).Fuse(t.Context(), req); !errors.Is(err, sheaf.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
