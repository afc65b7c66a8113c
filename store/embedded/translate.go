package embedded

import (
	"unsafe"

	"sheaf"
	"sheaf/index/engine"
	"sheaf/index/engine/segment"
	"sheaf/store"
)

func valueOf(v sheaf.Value) segment.Value {
	return segment.Value{Kind: byte(v.Kind), IsText: v.Kind == sheaf.KindText, Text: v.Text, Number: v.Number}
}

// texts are identifiers as the engine knows them, in the same memory.
func texts(ids []sheaf.ID) []string {
	return unsafe.Slice((*string)(unsafe.SliceData(ids)), len(ids))
}

// weights are fields with their weights as the engine knows them, which only reads them, in
// the same memory: that both are the same in it is for the compiler to see.
func weights(fields []store.FieldWeight) []engine.FieldWeight {
	_ = engine.FieldWeight(store.FieldWeight{})
	return unsafe.Slice((*engine.FieldWeight)(unsafe.SliceData(fields)), len(fields))
}

// request translates a valid request.
func request(req *store.Request) (engine.Request, error) {
	out := engine.Request{Limit: req.Limit, Bounded: req.Within != nil}
	if len(req.Within) > 0 {
		out.Within = texts(req.Within)
	}
	var err error
	if req.Filter != nil {
		if out.Filter, err = filter(req.Filter); err != nil {
			return out, err
		}
	}
	if v := req.Vector; v != nil {
		out.Vector = &engine.Vector{Field: v.Field, Vector: v.Vector, Candidates: v.Candidates}
	}
	t := req.Text
	if req.Vector != nil {
		t = req.Vector.Matching
	}
	if t == nil {
		return out, nil
	}
	w := &engine.Words{TieBreaker: t.TieBreaker, K1: t.K1, B: t.B, Combine: engine.Combine(t.Combine),
		Candidates: t.Statistics == store.StatisticsCandidates}
	if t.Among != nil {
		if w.Among, err = filter(t.Among); err != nil {
			return out, err
		}
	}
	w.Fields = weights(t.Fields)
	w.Query, err = query(t.Query)
	out.Words = w
	return out, err
}

// query translates words; nil finds nothing.
func query(q sheaf.TextQuery) (engine.Query, error) {
	switch q := q.(type) {
	case nil:
		return nil, nil
	case sheaf.Match:
		return engine.Match{Text: q.Text, Field: q.Field}, nil
	case sheaf.Phrase:
		return engine.Phrase{Text: q.Text, Field: q.Field, Slop: q.Slop}, nil
	case sheaf.Prefix:
		return engine.Prefix{Text: q.Text, Field: q.Field}, nil
	case sheaf.Fuzzy:
		return engine.Fuzzy{Text: q.Text, Field: q.Field, Distance: q.Distance, Same: q.Same}, nil
	case sheaf.Boost:
		inner, err := query(q.Query)
		return engine.Boost{Query: inner, Factor: q.Factor}, err
	case sheaf.Bool:
		var b engine.Bool
		for _, list := range []struct {
			from []sheaf.TextQuery
			to   *[]engine.Query
		}{{q.Must, &b.Must}, {q.Should, &b.Should}, {q.MustNot, &b.MustNot}} {
			for _, part := range list.from {
				inner, err := query(part)
				if err != nil {
					return nil, err
				}
				*list.to = append(*list.to, inner)
			}
		}
		return b, nil
	}
	return nil, sheaf.Invalidf("a query of unknown kind %T", q)
}

// filter translates a filter: the one place where what it means for the engine is
// written down.
func filter(f sheaf.Filter) (engine.Filter, error) {
	switch f := f.(type) {
	case sheaf.And:
		parts, err := filters(f)
		return engine.And(parts), err
	case sheaf.Or:
		parts, err := filters(f)
		return engine.Or(parts), err
	case sheaf.Not:
		inner, err := filter(f.Filter)
		return engine.Not{Filter: inner}, err
	case sheaf.In:
		in := engine.In{Column: f.Column}
		for _, v := range f.Values {
			if !v.IsZero() {
				in.Values = append(in.Values, valueOf(v))
			}
		}
		return in, nil
	case sheaf.Range:
		kind, ok := f.Kind()
		if !ok {
			return engine.Or{}, nil
		}
		r := engine.Range{Column: f.Column, Kind: byte(kind)}
		if !f.Min.IsZero() {
			r.Low = &segment.Bound{Value: valueOf(f.Min), Open: f.MinOpen}
		}
		if !f.Max.IsZero() {
			r.High = &segment.Bound{Value: valueOf(f.Max), Open: f.MaxOpen}
		}
		return r, nil
	case sheaf.Exists:
		return engine.Exists{Column: f.Column}, nil
	case sheaf.HasPrefix:
		return engine.HasPrefix{Column: f.Column, Prefix: valueOf(sheaf.TextValue(f.Prefix))}, nil
	}
	return nil, sheaf.Invalidf("a filter of unknown kind %T", f)
}

func filters(list []sheaf.Filter) ([]engine.Filter, error) {
	out := make([]engine.Filter, len(list))
	for i, f := range list {
		inner, err := filter(f)
		if err != nil {
			return nil, err
		}
		out[i] = inner
	}
	return out, nil
}
