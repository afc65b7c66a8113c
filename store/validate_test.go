package store_test

import (
	"math"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/store"
)

// TestValidate checks each rule for requests.
func TestValidate(t *testing.T) {
	deep := sheaf.TextQuery(sheaf.Match{Text: "x"})
	for range 10_000 {
		deep = sheaf.Bool{Must: []sheaf.TextQuery{deep}}
	}
	field := store.FieldWeight{Name: "body", Weight: 1}
	query := func(q sheaf.TextQuery) func(*store.Request) {
		return func(r *store.Request) { r.Text.Query = q }
	}
	fields := func(f ...store.FieldWeight) func(*store.Request) {
		return func(r *store.Request) { r.Text.Fields = f }
	}
	filter := func(f sheaf.Filter) func(*store.Request) {
		return func(r *store.Request) { r.Filter = f }
	}
	vector := func(x ...float32) func(*store.Request) {
		return func(r *store.Request) { r.Text, r.Vector = nil, &store.VectorRequest{Field: "body", Vector: x} }
	}
	for what, c := range map[string]struct {
		change func(*store.Request)
		want   error
	}{
		"good":    {func(*store.Request) {}, nil},
		"neither": {func(r *store.Request) { r.Text = nil }, sheaf.ErrInvalid},
		"both": {func(r *store.Request) { r.Vector = &store.VectorRequest{Vector: []float32{1}} },
			sheaf.ErrInvalid},
		"limit 0":           {func(r *store.Request) { r.Limit = 0 }, sheaf.ErrInvalid},
		"limit huge":        {func(r *store.Request) { r.Limit = store.MaxLimit + 1 }, sheaf.ErrInvalid},
		"no fields":         {fields(), sheaf.ErrInvalid},
		"weight 0":          {fields(store.FieldWeight{Name: "body"}), sheaf.ErrInvalid},
		"weight NaN":        {fields(store.FieldWeight{Name: "body", Weight: math.NaN()}), sheaf.ErrInvalid},
		"field twice":       {fields(field, field), sheaf.ErrInvalid},
		"among nothing":     {func(r *store.Request) { r.Text.Among = sheaf.And{nil} }, sheaf.ErrInvalid},
		"k1":                {func(r *store.Request) { r.Text.K1 = -1 }, sheaf.ErrInvalid},
		"b":                 {func(r *store.Request) { r.Text.B = 2 }, sheaf.ErrInvalid},
		"tie breaker":       {func(r *store.Request) { r.Text.TieBreaker = math.NaN() }, sheaf.ErrInvalid},
		"no query":          {query(nil), nil},
		"slop":              {query(sheaf.Phrase{Text: "x y", Slop: -1}), sheaf.ErrInvalid},
		"distance 0":        {query(sheaf.Fuzzy{Text: "x"}), sheaf.ErrInvalid},
		"distance 3":        {query(sheaf.Fuzzy{Text: "x", Distance: 3}), sheaf.ErrInvalid},
		"same":              {query(sheaf.Fuzzy{Text: "x", Distance: 1, Same: -1}), sheaf.ErrInvalid},
		"factor 0":          {query(sheaf.Boost{Query: sheaf.Match{Text: "x"}}), sheaf.ErrInvalid},
		"factor NaN":        {query(sheaf.Boost{Factor: math.NaN()}), sheaf.ErrInvalid},
		"factor infinite":   {query(sheaf.Boost{Factor: math.Inf(1)}), sheaf.ErrInvalid},
		"deep":              {query(deep), sheaf.ErrInvalid},
		"a bad part":        {query(sheaf.Bool{Should: []sheaf.TextQuery{sheaf.Fuzzy{Distance: -1}}}), sheaf.ErrInvalid},
		"not nil":           {filter(sheaf.Not{}), sheaf.ErrInvalid},
		"and nil":           {filter(sheaf.And{nil}), sheaf.ErrInvalid},
		"deeper nil":        {filter(sheaf.Or{sheaf.And{sheaf.Not{}}}), sheaf.ErrInvalid},
		"no dimensions":     {vector(), sheaf.ErrInvalid},
		"zero":              {vector(0, float32(math.Copysign(0, -1))), nil},
		"large":             {vector(math.MaxFloat32, -math.MaxFloat32), nil},
		"small":             {vector(1, math.SmallestNonzeroFloat32), nil},
		"NaN":               {vector(1, float32(math.NaN())), sheaf.ErrInvalid},
		"infinite":          {vector(1, float32(math.Inf(1))), sheaf.ErrInvalid},
		"negative infinity": {vector(1, float32(math.Inf(-1))), sheaf.ErrInvalid},
	} {
		req := store.Request{Limit: 1, Text: &store.TextRequest{Query: sheaf.Match{Text: "x"},
			Fields: []store.FieldWeight{field}}}
		c.change(&req)
		check.Is(t, req.Validate(), c.want, "%s", what)
	}
}

// TestValidateBatch checks that passages must have length 1.
func TestValidateBatch(t *testing.T) {
	for _, passage := range [][]float32{{}, {0, 0}, {1, 1}, {float32(math.NaN()), 0}, {float32(math.Inf(1)), 0}} {
		b := store.Batch{Chunks: []store.Chunk{{ID: "t:a", Doc: "t:a",
			Vectors: []store.Vectors{{Name: "body", Passages: [][]float32{{1, 0}, passage}}}}}}
		check.Is(t, b.Validate(), sheaf.ErrInvalid, "%v", passage)
	}
}
