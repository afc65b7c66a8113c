package engine

import (
	"context"
	"fmt"

	"sheaf/index/engine/bm25"
	"sheaf/index/engine/vector"
)

// Explanation is a number with the reasons for it: Parts combine to Value as
// Combine says, in the words of the root package.
type Explanation struct {
	Label   string
	Value   float64
	Combine string
	Parts   []Explanation
}

const (
	sum        = "sum"
	product    = "product"
	quotient   = "quotient"
	largest    = "max"
	difference = "difference"
)

// reasons are the parts of the scores of one chunk by field.
type reasons struct{ byField [][]Explanation }

// Explain says, for each chunk, how the score came about that Search gives it;
// nil for chunks that the request does not find.
func (s *Snapshot) Explain(ctx context.Context, req Request, ids []string) ([]*Explanation, error) {
	out := make([]*Explanation, len(ids))
	allowed, err := s.allow(req)
	if err == nil && req.Vector != nil {
		allowed, err = s.matching(ctx, &req, allowed)
	}
	if err != nil {
		return nil, err
	}
	var p *plan
	if req.Vector == nil {
		if p, err = newPlan(s, &req, s.analyzer(), allowed); err != nil {
			return nil, err
		}
	}
	for i, id := range ids {
		for view, v := range s.views {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			ordinal, ok, err := v.reader.Find(id)
			if err != nil {
				return nil, err
			}
			if !ok || allowed[view] != nil && !allowed[view].Has(ordinal) {
				continue
			}
			if p == nil {
				out[i], err = s.explainVector(ctx, req.Vector, view, ordinal)
			} else {
				out[i], err = p.explain(view, ordinal)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (s *Snapshot) explainVector(ctx context.Context, req *Vector, view int, ordinal uint32) (*Explanation, error) {
	r := s.views[view].reader
	index := r.VectorField(req.Field)
	if index == nil || index.Field().Dims != len(req.Vector) {
		return nil, nil
	}
	only := make([]uint64, (r.Chunks()+63)/64)
	only[ordinal>>6] = 1 << (ordinal & 63)
	near, err := index.Search(ctx, nil, req.Vector, only, 1, vector.Options{Exact: true})
	if err != nil || len(near) == 0 {
		return nil, err
	}
	return &Explanation{Label: fmt.Sprintf("similarity of passage %d of %s", near[0].Passage, req.Field),
		Value: near[0].Score}, nil
}

// explain explains the score of one chunk of a view; nil when it does not match.
func (p *plan) explain(view int, ordinal uint32) (*Explanation, error) {
	root, err := p.root.node(p, view)
	if err != nil {
		return nil, err
	}
	defer root.close()
	if root.seek(ordinal) != ordinal {
		return nil, root.err()
	}
	s := scores{byField: make([]float64, len(p.fields))}
	root.score(&s)
	why := reasons{byField: make([][]Explanation, len(p.fields))}
	root.explain(&why)
	var parts []Explanation
	for f, m := range p.fields {
		if len(why.byField[f]) > 0 {
			label := "field " + m.name
			if p.words.Combine == CombineBM25F {
				label = "all fields as one"
			}
			parts = append(parts, Explanation{Label: label, Value: s.byField[f], Combine: sum, Parts: why.byField[f]})
		}
	}
	total := s.total(p.words)
	if p.words.Combine != CombineBest || len(parts) < 2 {
		return &Explanation{Label: "words", Value: total, Combine: sum, Parts: parts}, root.err()
	}
	all, best := 0.0, 0.0
	for _, part := range parts {
		all += part.Value
		best = max(best, part.Value)
	}
	top := Explanation{Label: "best field", Value: best, Combine: largest, Parts: parts}
	others := Explanation{Label: "other fields", Value: all - best, Combine: difference, Parts: []Explanation{
		{Label: "all fields", Value: all, Combine: sum, Parts: parts}, top}}
	tie := p.words.TieBreaker
	return &Explanation{Label: "words", Value: total, Combine: sum, Parts: []Explanation{top,
		{Label: "tie breaker", Value: tie * (all - best), Combine: product,
			Parts: []Explanation{{Label: "tie breaker", Value: tie}, others}}}}, root.err()
}

// explainClauses explains what addScores adds.
func (p *plan) explainClauses(why *reasons, clauses []clause, terms []*planTerm, ordinal uint32, u *virtual) {
	if p.words.Combine != CombineBM25F {
		for i := range clauses {
			c := &clauses[i]
			if c.ordinal != ordinal {
				continue
			}
			t := terms[c.term]
			idf := 0.0
			for j, f := range t.fields {
				if f == c.field {
					idf = t.idf[j]
				}
			}
			length := c.lengths.Of(ordinal)
			kept := ""
			if n := p.params.Lengths.Of(length); n != length {
				kept = fmt.Sprintf(", kept as %d", n)
			}
			label := fmt.Sprintf("%q in %s", t.key, c.model.name)
			why.byField[c.field] = append(why.byField[c.field], explainTerm(label, []Explanation{
				{Label: "boost", Value: t.repeats() * t.factor}, {Label: "weight of " + c.model.name, Value: c.model.weight}}, idf,
				float64(c.cursor.Frequency()), p.norm(c.model, length),
				fmt.Sprintf("norm of %d terms%s, %.4g on average", length, kept, c.model.average)))
		}
		return
	}
	for i := 0; i < len(clauses); {
		frequency, first := 0.0, i
		for ; i < len(clauses) && clauses[i].term == clauses[first].term; i++ {
			if c := &clauses[i]; c.ordinal == ordinal {
				frequency += c.model.weight * float64(c.cursor.Frequency())
			}
		}
		if frequency > 0 {
			t := terms[clauses[first].term]
			why.byField[0] = append(why.byField[0], explainTerm(fmt.Sprintf("%q", t.key),
				[]Explanation{{Label: "boost", Value: t.repeats() * t.factor}}, t.idf[0],
				frequency, u.norm(ordinal), "norm of the weighted length"))
		}
	}
}

func explainTerm(label string, factors []Explanation, idf, frequency, norm float64, normLabel string) Explanation {
	saturation := Explanation{Label: "saturation", Value: bm25.Saturation(frequency, norm), Combine: quotient,
		Parts: []Explanation{
			{Label: "frequency", Value: frequency},
			{Label: "frequency and norm", Value: frequency + norm, Combine: sum, Parts: []Explanation{
				{Label: "frequency", Value: frequency}, {Label: normLabel, Value: norm}}}}}
	bare := Explanation{Label: "BM25", Value: idf * saturation.Value, Combine: product,
		Parts: []Explanation{{Label: "idf", Value: idf}, saturation}}
	value := 1.0
	for _, f := range factors {
		value *= f.Value
	}
	return Explanation{Label: label, Value: value * bare.Value, Combine: product, Parts: append(factors, bare)}
}

func (n *matchNode) explain(why *reasons) {
	n.plan.explainClauses(why, n.list, n.terms, n.at, n.virtual)
}

func (n *phraseNode) explain(why *reasons) {
	if n.plan.words.Combine == CombineBM25F {
		if n.any.seek(n.at) == n.at {
			n.any.explain(why)
		}
		return
	}
	for i := range n.fields {
		if f := &n.fields[i]; f.at == n.at {
			f.explain(n, why)
		}
	}
}

// explain explains what score adds.
func (f *phraseField) explain(n *phraseNode, why *reasons) {
	for _, t := range n.phrase.tokens {
		for i := range f.list {
			if c := f.list[i]; string(n.phrase.terms[c.term].key) == string(t.key) {
				c.term = 0
				n.plan.explainClauses(why, []clause{c}, []*planTerm{t}, n.at, nil)
			}
		}
	}
}

func (n *boolNode) explain(why *reasons) {
	for i := range n.must {
		n.must[i].explain(why)
	}
	for i := range n.should {
		if n.should[i].to(n.at) == n.at {
			n.should[i].explain(why)
		}
	}
}

func (n *expandNode) explain(why *reasons) {
	for f, best := range n.best {
		if best != nil && best[n.at] > 0 {
			why.byField[f] = append(why.byField[f], Explanation{Label: "best of the terms that are alike", Value: best[n.at]})
		}
	}
}
