package memory

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"sheaf"
	"sheaf/internal/edits"
	"sheaf/store"
	"sheaf/text/analysis"
)

// scorer scores chunks for one request by words.
type scorer struct {
	b      *Backend
	req    *store.TextRequest
	fields []store.FieldWeight
	listed int                    // how many of fields the request lists; they come first
	stats  map[string]*fieldStats // by field
	over   []*chunk               // the chunks over which statistics are counted
	// holding are those of over that have any term.
	holding []*chunk
	df      map[string]int // by field, zero byte, term
	words   map[string][]analysis.Token
	says    bool // keep the parts of scores
}

// tokens returns the tokens of a Match, which are analyzed once.
func (s *scorer) tokens(text string) []analysis.Token {
	if t, ok := s.words[text]; ok {
		return t
	}
	t := s.b.analyzer.MatchTokens(text)
	s.words[text] = t
	return t
}

type fieldStats struct{ chunks, tokens int }

func (f fieldStats) average() float64 {
	if f.chunks == 0 || f.tokens == 0 {
		return 1
	}
	return float64(f.tokens) / float64(f.chunks)
}

func (b *Backend) scorer(asked *store.Request, allowed []*chunk) *scorer {
	req := asked.Text
	s := &scorer{b: b, req: req, fields: slices.Clone(req.Fields), listed: len(req.Fields),
		stats: map[string]*fieldStats{}, df: map[string]int{}, words: map[string][]analysis.Token{}}
	switch {
	case !asked.CountsAmong():
		for _, c := range b.chunks {
			s.over = append(s.over, c)
		}
	case req.Statistics == store.StatisticsCorpus:
		s.over = b.allowed(store.Request{Filter: req.Among})
	default:
		s.over = allowed
	}
	for _, c := range s.over {
		for i := range c.fields {
			st := s.stats[c.fields[i].name]
			if st == nil {
				st = &fieldStats{}
				s.stats[c.fields[i].name] = st
			}
			st.chunks++
			st.tokens += max(c.fields[i].length, b.kept(c.fields[i].length))
		}
		if !c.blank {
			s.holding = append(s.holding, c)
		}
	}
	return s
}

// of returns the statistics of a field.
func (s *scorer) of(field string) fieldStats {
	if st := s.stats[field]; st != nil {
		return *st
	}
	return fieldStats{}
}

// parts are scores by field, in the order of scorer.fields, with the parts that explain them.
type parts struct {
	scores []float64
	labels [][]sheaf.Explanation // nil unless requested
}

func (s *scorer) parts() *parts {
	p := &parts{scores: make([]float64, len(s.fields))}
	if s.says {
		p.labels = make([][]sheaf.Explanation, len(s.fields))
	}
	return p
}

// reach makes room for n fields: later parts of the query may name new fields.
func (p *parts) reach(n int) {
	for len(p.scores) < n {
		p.scores = append(p.scores, 0)
		if p.labels != nil {
			p.labels = append(p.labels, nil)
		}
	}
}

func (p *parts) add(field int, score float64, term, name string, weight float64) {
	p.reach(field + 1)
	p.scores[field] += score
	if p.labels != nil {
		label := fmt.Sprintf("%q", strings.TrimPrefix(term, formMark))
		if name != "" {
			label += " in " + name
		}
		p.labels[field] = append(p.labels[field], sheaf.Explanation{Label: label, Value: score, Kind: sheaf.KindTerm,
			Details: map[string]sheaf.Value{"term": sheaf.TextValue(strings.TrimPrefix(term, formMark)),
				"field": sheaf.TextValue(name), "weight": sheaf.NumberValue(weight)}})
	}
}

func (p *parts) addAll(q *parts) {
	p.reach(len(q.scores))
	for i := range q.scores {
		p.scores[i] += q.scores[i]
		if p.labels != nil {
			p.labels[i] = append(p.labels[i], q.labels[i]...)
		}
	}
}

// hit scores a chunk; ok is false when it does not match.
func (s *scorer) hit(c *chunk) (sheaf.Hit, bool) {
	p, ok := s.query(s.req.Query, 1, c)
	if !ok {
		return sheaf.Hit{}, false
	}
	return sheaf.Hit{ID: c.id, Score: s.total(p)}, true
}

func (s *scorer) total(p *parts) float64 {
	sum, best := 0.0, 0.0
	for _, v := range p.scores {
		sum += v
		best = max(best, v)
	}
	if s.req.Combine == store.CombineBest {
		return best + s.req.TieBreaker*(sum-best)
	}
	return sum
}

func (s *scorer) explain(c *chunk) *sheaf.Explanation {
	p, ok := s.query(s.req.Query, 1, c)
	if !ok {
		return nil
	}
	root := &sheaf.Explanation{Label: "words", Value: s.total(p), Combine: sheaf.CombineSum}
	best := 0
	for i, v := range p.scores {
		if v > p.scores[best] {
			best = i
		}
	}
	for i, labels := range p.labels {
		if len(labels) == 0 {
			continue
		}
		name := "all fields"
		if s.req.Combine != store.CombineBM25F {
			name = s.fields[i].Name
		}
		field := sheaf.Explanation{Label: name, Value: p.scores[i], Combine: sheaf.CombineSum, Parts: labels}
		if s.req.Combine == store.CombineBest && i != best {
			field = sheaf.Explanation{Label: name + ", tie breaker", Value: s.req.TieBreaker * p.scores[i],
				Combine: sheaf.CombineProduct,
				Parts:   []sheaf.Explanation{{Label: "tie breaker", Value: s.req.TieBreaker}, field}}
		}
		root.Parts = append(root.Parts, field)
	}
	return root
}

// in returns the indices of the fields that a part of the query searches.
func (s *scorer) in(name string) []int {
	if name == "" {
		all := make([]int, s.listed)
		for i := range all {
			all[i] = i
		}
		return all
	}
	i := slices.IndexFunc(s.fields, func(f store.FieldWeight) bool { return f.Name == name })
	if i < 0 {
		i = len(s.fields)
		s.fields = append(s.fields, store.FieldWeight{Name: name, Weight: 1})
	}
	return []int{i}
}

// query scores a part of the query; ok is false when the chunk does not match.
func (s *scorer) query(q sheaf.TextQuery, factor float64, c *chunk) (*parts, bool) {
	switch q := q.(type) {
	case sheaf.Match:
		return s.match(q, factor, c)
	case sheaf.Phrase:
		return s.phrase(q, factor, c)
	case sheaf.Prefix:
		return s.pieces(s.b.analyzer.PrefixPieces(q.Text), q.Field, factor, c, prefixWeight)
	case sheaf.Fuzzy:
		return s.pieces(s.b.analyzer.FuzzyPieces(q.Text), q.Field, factor, c, func(folded string) func(string) float64 {
			return fuzzyWeight(folded, q)
		})
	case sheaf.Boost:
		return s.query(q.Query, factor*q.Factor, c)
	case sheaf.Bool:
		return s.bool(q, factor, c)
	}
	return nil, false
}

// pieces scores the parts of a prefix or fuzzy query, which must all match.
func (s *scorer) pieces(pieces []analysis.Piece, field string, factor float64, c *chunk,
	weight func(folded string) func(term string) float64) (*parts, bool) {
	out := s.parts()
	for _, piece := range pieces {
		var p *parts
		var ok bool
		if piece.Exact {
			p, ok = s.phrase(sheaf.Phrase{Text: piece.Text, Field: field}, factor, c)
		} else {
			p, ok = s.expand(s.in(field), factor, c, true, weight(piece.Text))
		}
		if !ok {
			return nil, false
		}
		out.addAll(p)
	}
	return out, len(pieces) > 0
}

func (s *scorer) bool(q sheaf.Bool, factor float64, c *chunk) (*parts, bool) {
	out, matched := s.parts(), len(q.Must)+len(q.Should) == 0
	for _, part := range q.Must {
		p, ok := s.query(part, factor, c)
		if !ok {
			return nil, false
		}
		out.addAll(p)
		matched = true
	}
	for _, part := range q.Should {
		if p, ok := s.query(part, factor, c); ok {
			out.addAll(p)
			matched = true
		}
	}
	for _, part := range q.MustNot {
		if _, ok := s.query(part, factor, c); ok {
			return nil, false
		}
	}
	return out, matched
}

func (s *scorer) match(q sheaf.Match, factor float64, c *chunk) (*parts, bool) {
	return s.any(s.tokens(q.Text), q.Field, factor, c)
}

// any scores those of the tokens that a chunk contains.
func (s *scorer) any(tokens []analysis.Token, field string, factor float64, c *chunk) (*parts, bool) {
	out, matched := s.parts(), false
	fields := s.in(field)
	for _, t := range tokens {
		if t.Prefix {
			if p, ok := s.expand(fields, factor, c, false, prefixWeight(t.Term)); ok {
				out.addAll(p)
				matched = true
			}
			continue
		}
		if s.term(out, t.Term, fields, factor, c) {
			matched = true
		}
	}
	return out, matched
}

// term adds the score of one term, and reports whether the chunk contains it.
func (s *scorer) term(out *parts, term string, fields []int, factor float64, c *chunk) (found bool) {
	if s.req.Combine == store.CombineBM25F {
		score, ok := s.virtual(term, fields, factor, c)
		if ok {
			out.add(0, score, term, "", 1)
		}
		return ok
	}
	for _, i := range fields {
		f := c.field(s.fields[i].Name)
		if f == nil || f.frequency(term) == 0 {
			continue
		}
		found = true
		out.add(i, factor*s.fields[i].Weight*s.fieldScore(term, s.fields[i].Name, f), term, s.fields[i].Name,
			s.fields[i].Weight)
	}
	return found
}

// A form is stored under a leading byte that no term has.
const formMark = "\x01"

func (f *field) frequency(term string) int {
	if form, ok := strings.CutPrefix(term, formMark); ok {
		return f.forms[form]
	}
	return len(f.terms[term])
}

func (s *scorer) fieldScore(term, name string, f *field) float64 {
	st := s.of(name)
	tf := float64(f.frequency(term))
	norm := s.req.K1 * (1 - s.req.B + s.req.B*float64(s.b.kept(f.length))/st.average())
	n := st.chunks
	if s.b.whole {
		n = len(s.over)
	}
	return idf(s.count(term, []string{name}), n) * (tf / (tf + norm))
}

func idf(df, n int) float64 {
	return math.Log(1 + (float64(n)-float64(df)+0.5)/(float64(df)+0.5))
}

// count returns the number of chunks with a term in any of the fields.
func (s *scorer) count(term string, names []string) int {
	key := strings.Join(names, "\x00") + "\x00" + term
	if n, ok := s.df[key]; ok {
		return n
	}
	n := 0
	for _, c := range s.holding {
		for _, name := range names {
			if f := c.field(name); f != nil && f.frequency(term) > 0 {
				n++
				break
			}
		}
	}
	s.df[key] = n
	return n
}

// virtual returns the BM25F score of a term.
func (s *scorer) virtual(term string, fields []int, factor float64, c *chunk) (float64, bool) {
	frequency, length, average := 0.0, 0.0, 0.0
	var names []string
	for _, i := range fields {
		w := s.fields[i]
		names = append(names, w.Name)
		average += w.Weight * float64(s.of(w.Name).tokens)
		if f := c.field(w.Name); f != nil {
			frequency += w.Weight * float64(f.frequency(term))
			length += w.Weight * float64(s.b.kept(f.length))
		}
	}
	if frequency == 0 {
		return 0, false
	}
	if len(s.over) > 0 && average > 0 {
		average /= float64(len(s.over))
	} else {
		average = 1
	}
	norm := s.req.K1 * (1 - s.req.B + s.req.B*length/average)
	return factor * idf(s.count(term, names), len(s.over)) * (frequency / (frequency + norm)), true
}

// phrase scores the terms of a phrase in the fields that contain it.
func (s *scorer) phrase(q sheaf.Phrase, factor float64, c *chunk) (*parts, bool) {
	tokens := s.b.analyzer.PhraseTokens(q.Text)
	if len(tokens) == 1 {
		return s.any(tokens, q.Field, factor, c)
	}
	fields := s.in(q.Field)
	out, matched := s.parts(), false
	for _, i := range fields {
		f := c.field(s.fields[i].Name)
		if f == nil || !f.holds(tokens, q.Slop) {
			continue
		}
		matched = true
		if s.req.Combine == store.CombineBM25F {
			continue
		}
		for _, t := range tokens {
			s.term(out, t.Term, []int{i}, factor, c)
		}
	}
	if matched && s.req.Combine == store.CombineBM25F {
		for _, t := range tokens {
			s.term(out, t.Term, fields, factor, c)
		}
	}
	return out, matched
}

// holds reports whether each token has a position such that these positions, less the tokens' own
// positions, differ by at most slop.
func (f *field) holds(tokens []analysis.Token, slop int) bool {
	if len(tokens) == 0 {
		return false
	}
	for _, token := range tokens {
		for _, low := range f.terms[token.Term] {
			if f.within(tokens, low-token.Position, slop) {
				return true
			}
		}
	}
	return false
}

// within reports whether every token has a position within slop positions from low on.
func (f *field) within(tokens []analysis.Token, low, slop int) bool {
	for _, token := range tokens {
		if !slices.ContainsFunc(f.terms[token.Term], func(at int) bool {
			d := at - token.Position - low
			return d >= 0 && d <= slop
		}) {
			return false
		}
	}
	return true
}

// expand scores, in each field, the best of the terms that weight accepts; of equal terms the first
// in the order of bytes. weight returns 0 for terms that it rejects.
func (s *scorer) expand(fields []int, factor float64, c *chunk, forms bool, weight func(term string) float64) (*parts,
	bool) {
	accepted := map[string]float64{}
	for _, i := range fields {
		f := c.field(s.fields[i].Name)
		if f == nil {
			continue
		}
		for term := range f.terms {
			if w := weight(term); w > 0 {
				accepted[term] = w
			}
		}
		if forms {
			for form := range f.forms {
				if w := weight(form); w > 0 {
					accepted[formMark+form] = w
				}
			}
		}
	}
	out := s.parts()
	for _, term := range slices.Sorted(maps.Keys(accepted)) {
		one := s.parts()
		s.term(one, term, fields, factor*accepted[term], c)
		out.reach(len(one.scores))
		for i, v := range one.scores {
			if v > out.scores[i] {
				out.scores[i] = v
				if out.labels != nil {
					out.labels[i] = one.labels[i]
				}
			}
		}
	}
	return out, len(accepted) > 0
}

func prefixWeight(prefix string) func(string) float64 {
	return func(term string) float64 {
		if strings.HasPrefix(term, prefix) {
			return 1
		}
		return 0
	}
}

func fuzzyWeight(folded string, q sheaf.Fuzzy) func(string) float64 {
	word := []rune(folded)
	return func(term string) float64 { return edits.Weight([]rune(term), word, q.Distance, q.Same) }
}
