package engine

import (
	"context"
	"fmt"

	"sheaf"
	"sheaf/index/engine/bm25"
	"sheaf/index/engine/vector"
)

// reasons are the parts of the scores of one chunk by field.
type reasons struct{ byField [][]sheaf.Explanation }

// Explain says, for each chunk, how the score came about that Search gives it;
// nil for chunks that the request does not find.
func (s *Snapshot) Explain(ctx context.Context, req Request, ids []sheaf.ID) ([]*sheaf.Explanation, error) {
	out := make([]*sheaf.Explanation, len(ids))
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
			ordinal, ok, err := v.reader.Find(string(id))
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

func (s *Snapshot) explainVector(ctx context.Context, req *Vector, view int, ordinal uint32) (
	*sheaf.Explanation, error,
) {
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
	return &sheaf.Explanation{Label: fmt.Sprintf("similarity of passage %d of %s", near[0].Passage, req.Field),
		Value: near[0].Score}, nil
}

// explain explains the score of one chunk of a view; nil when it does not match.
func (p *plan) explain(view int, ordinal uint32) (*sheaf.Explanation, error) {
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
	why := reasons{byField: make([][]sheaf.Explanation, len(p.fields))}
	root.explain(&why)
	var parts []sheaf.Explanation
	for f, m := range p.fields {
		if len(why.byField[f]) > 0 {
			label := "field " + m.name
			if p.words.Combine == CombineBM25F {
				label = "all fields as one"
			}
			parts = append(parts, combined(label, s.byField[f], sheaf.CombineSum, why.byField[f]...))
		}
	}
	total := s.total(p.words)
	if p.words.Combine != CombineBest || len(parts) < 2 {
		e := combined("words", total, sheaf.CombineSum, parts...)
		return &e, root.err()
	}
	all, best := 0.0, 0.0
	for _, part := range parts {
		all += part.Value
		best = max(best, part.Value)
	}
	tie := p.words.TieBreaker
	top := combined("best field", best, sheaf.CombineMax, parts...)
	others := combined("other fields", all-best, sheaf.CombineDifference,
		combined("all fields", all, sheaf.CombineSum, parts...), top)
	e := combined("words", total, sheaf.CombineSum, top,
		combined("tie breaker", tie*(all-best), sheaf.CombineProduct, number("tie breaker", tie), others))
	return &e, root.err()
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
			why.byField[c.field] = append(why.byField[c.field], explainTerm(label, []sheaf.Explanation{
				number("boost", t.repeats()*t.factor), number("weight of "+c.model.name, c.model.weight)}, idf,
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
				[]sheaf.Explanation{number("boost", t.repeats()*t.factor)}, t.idf[0],
				frequency, u.norm(ordinal), "norm of the weighted length"))
		}
	}
}

func explainTerm(
	label string, factors []sheaf.Explanation, idf, frequency, norm float64, normLabel string,
) sheaf.Explanation {
	saturation := combined("saturation", bm25.Saturation(frequency, norm), sheaf.CombineQuotient,
		number("frequency", frequency), combined("frequency and norm", frequency+norm, sheaf.CombineSum,
			number("frequency", frequency), number(normLabel, norm)))
	bare := combined("BM25", idf*saturation.Value, sheaf.CombineProduct, number("idf", idf), saturation)
	value := 1.0
	for _, f := range factors {
		value *= f.Value
	}
	return combined(label, value*bare.Value, sheaf.CombineProduct, append(factors, bare)...)
}

func number(label string, value float64) sheaf.Explanation {
	return sheaf.Explanation{Label: label, Value: value}
}

func combined(label string, value float64, how sheaf.Combine, parts ...sheaf.Explanation) sheaf.Explanation {
	return sheaf.Explanation{Label: label, Value: value, Combine: how, Parts: parts}
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
			why.byField[f] = append(why.byField[f], number("best of the terms that are alike", best[n.at]))
		}
	}
}
