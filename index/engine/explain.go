package engine

import (
	"context"
	"fmt"

	"sheaf"
	"sheaf/index/engine/bm25"
	"sheaf/index/engine/vector"
)

// reasons has the parts of one chunk's score, by field.
type reasons struct {
	byField [][]sheaf.Explanation
	plan    *plan
}

// field returns the name of field number f. With BM25F it returns "", because all fields count as one.
func (r *reasons) field(f int) string {
	if r.plan.words.Combine == CombineBM25F {
		return ""
	}
	return r.plan.fields[f].name
}

// Explain returns, for each of ids in order, how Search computes the score of the chunk. A chunk that the request does
// not find gets nil. Explain ignores Limit.
func (s *Snapshot) Explain(ctx context.Context, req Request, ids []sheaf.ID) ([]*sheaf.Explanation, error) {
	out := make([]*sheaf.Explanation, len(ids))
	allowed, err := s.allow(&req)
	if err == nil && req.Vector != nil {
		allowed, err = s.matching(ctx, &req, allowed)
	}
	if err != nil {
		return nil, err
	}
	var p *plan
	if req.Vector == nil {
		if p, err = newPlan(s, &req, allowed); err != nil {
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
		Value: near[0].Score, Kind: sheaf.KindSimilarity, Details: map[string]sheaf.Value{
			"field": sheaf.TextValue(req.Field), "passage": sheaf.NumberValue(float64(near[0].Passage))}}, nil
}

// explain explains the score of one chunk of a view. It returns nil if the chunk does not match.
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
	why := reasons{make([][]sheaf.Explanation, len(p.fields)), p}
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

// explainClauses adds to why the parts of a chunk's score that these clauses give, as addScores computes them. ordinal
// is the chunk, and u is the virtual field of BM25F.
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
			e := explainTerm(label, []sheaf.Explanation{
				number("boost", t.repeats()*t.factor), number("weight of "+c.model.name, c.model.weight)}, idf,
				number("frequency", float64(c.cursor.Frequency())), p.norm(c.model, length),
				fmt.Sprintf("norm of %d terms%s, %.4g on average", length, kept, c.model.average))
			e.Details = termDetails(t, c.model.name, c.model.weight)
			why.byField[c.field] = append(why.byField[c.field], e)
		}
		return
	}
	for i := 0; i < len(clauses); {
		frequency, first := number("frequency", 0), i
		for ; i < len(clauses) && clauses[i].term == clauses[first].term; i++ {
			if c := &clauses[i]; c.ordinal == ordinal {
				addOccurrences(&frequency, c.model, float64(c.cursor.Frequency()))
			}
		}
		if frequency.Value > 0 {
			t := terms[clauses[first].term]
			e := explainTerm(fmt.Sprintf("%q", t.key), []sheaf.Explanation{number("boost", t.repeats()*t.factor)},
				t.idf[0], frequency, u.norm(ordinal), "norm of the weighted length")
			e.Details = termDetails(t, "", 1)
			why.byField[0] = append(why.byField[0], e)
		}
	}
}

func termDetails(t *planTerm, field string, weight float64) map[string]sheaf.Value {
	return map[string]sheaf.Value{"term": sheaf.TextValue(t.key), "field": sheaf.TextValue(field),
		"weight": sheaf.NumberValue(weight)}
}

// addOccurrences adds a part to the explanation of a term's BM25F frequency. The part is the count of the term in one
// field, times the weight of the field.
func addOccurrences(frequency *sheaf.Explanation, field *model, count float64) {
	e := number("in "+field.name, field.weight*count)
	if field.weight != 1 {
		e.Label += fmt.Sprintf(", weight %g", field.weight)
	}
	e.Kind, e.Details = sheaf.KindOccurs, map[string]sheaf.Value{"field": sheaf.TextValue(field.name)}
	frequency.Value += e.Value
	frequency.Combine, frequency.Parts = sheaf.CombineSum, append(frequency.Parts, e)
}

func explainTerm(
	label string, factors []sheaf.Explanation, idf float64, frequency sheaf.Explanation, norm float64, normLabel string,
) sheaf.Explanation {
	f := frequency.Value
	saturation := combined("saturation", bm25.Saturation(f, norm), sheaf.CombineQuotient, frequency,
		combined("frequency and norm", f+norm, sheaf.CombineSum, number("frequency", f), number(normLabel, norm)))
	bare := combined("BM25", idf*saturation.Value, sheaf.CombineProduct, number("idf", idf), saturation)
	value := 1.0
	for _, f := range factors {
		value *= f.Value
	}
	e := combined(label, value*bare.Value, sheaf.CombineProduct, append(factors, bare)...)
	e.Kind = sheaf.KindTerm
	return e
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

// explain adds to why the parts of the score that the method score adds.
func (f *phraseField) explain(n *phraseNode, why *reasons) {
	for _, t := range n.phrase.tokens {
		for i := range f.list {
			if c := f.list[i]; n.phrase.terms[c.term].key == t.key {
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
			e := number("best of the terms that are alike", best[n.at])
			e.Kind, e.Details = sheaf.KindTerm, map[string]sheaf.Value{"field": sheaf.TextValue(why.field(f))}
			why.byField[f] = append(why.byField[f], e)
		}
	}
}
