package memory

import (
	"maps"
	"math"
	"slices"
	"strings"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// scorer scores chunks for one request by words.
type scorer struct {
	b       *Backend
	req     *store.TextRequest
	plan    storekit.Plan
	stats   map[string]*fieldStats // by field
	counted []*chunk               // the chunks over which statistics are counted
	// countedWithTerms has the chunks in counted that contain at least one term that the store keeps: see [NewFor].
	countedWithTerms []*chunk
	df               map[string]int // by field, zero byte, term
	explains         bool           // keep the parts of scores
	own              *parts         // of the chunk that the method hit scores now
}

type fieldStats struct{ chunks, tokens int }

func (f fieldStats) average() float64 {
	if f.chunks == 0 || f.tokens == 0 {
		return 1
	}
	return float64(f.tokens) / float64(f.chunks)
}

// matcher returns a scorer without statistics, which can only tell which chunks match.
func (b *Backend) matcher(req *store.TextRequest) *scorer {
	s := &scorer{b: b, req: req, plan: storekit.Compile(b.analyzer, req)}
	s.own = s.parts()
	return s
}

func (b *Backend) scorer(asked *store.Request, allowed []*chunk) *scorer {
	req := asked.Text
	s := b.matcher(req)
	s.stats, s.df = map[string]*fieldStats{}, map[string]int{}
	switch {
	case !asked.CountsAmong():
		for _, c := range b.chunks {
			s.counted = append(s.counted, c)
		}
	case req.Statistics == store.StatisticsCorpus:
		s.counted = b.allowedChunks(store.Request{Filter: req.Among})
	default:
		s.counted = allowed
	}
	for _, c := range s.counted {
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
			s.countedWithTerms = append(s.countedWithTerms, c)
		}
	}
	return s
}

func (s *scorer) statisticsOf(field string) fieldStats {
	if st := s.stats[field]; st != nil {
		return *st
	}
	return fieldStats{}
}

// parts has a chunk's score in each field of the plan, and the explanations of these scores.
type parts struct {
	scores []float64
	labels [][]sheaf.Explanation // nil unless requested
}

func (s *scorer) parts() *parts {
	p := &parts{scores: make([]float64, len(s.plan.Fields))}
	if s.explains {
		p.labels = make([][]sheaf.Explanation, len(s.plan.Fields))
	}
	return p
}

func (p *parts) add(field int, score float64, term, name string, weight float64) {
	p.scores[field] += score
	if p.labels != nil {
		one := storekit.TermScore(term, name, score)
		one.Details["weight"] = sheaf.NumberValue(weight)
		p.labels[field] = append(p.labels[field], one)
	}
}

func (p *parts) addAll(q *parts) {
	for i := range q.scores {
		p.scores[i] += q.scores[i]
		if p.labels != nil {
			p.labels[i] = append(p.labels[i], q.labels[i]...)
		}
	}
}

// hit scores a chunk. The bool is false if the chunk does not match.
func (s *scorer) hit(c *chunk) (sheaf.Hit, bool) {
	clear(s.own.scores)
	if !s.node(s.own, s.plan.Root, c) {
		return sheaf.Hit{}, false
	}
	return sheaf.Hit{ID: c.id, Score: s.total(s.own)}, true
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
	p := s.parts()
	if !s.node(p, s.plan.Root, c) {
		return nil
	}
	root := s.plan.Explain(s.req, p.labels)
	root.Value = s.total(p)
	return root
}

// node adds the scores of plan node n for chunk c to out, and reports whether c matches n. If c does not match, the
// content of out is undefined.
func (s *scorer) node(out *parts, n storekit.Node, c *chunk) bool {
	switch n := n.(type) {
	case storekit.Term:
		return s.term(out, n.Text, n.Fields, n.Factor, c)
	case storekit.Expand:
		return s.expand(out, n, c)
	case storekit.Phrase:
		return s.phrase(out, n, c)
	case storekit.Bool:
		return s.bool(out, n, c)
	}
	return false
}

func (s *scorer) bool(out *parts, n storekit.Bool, c *chunk) bool {
	for _, part := range n.MustNot {
		if s.node(s.parts(), part, c) {
			return false
		}
	}
	for _, part := range n.Must {
		if !s.node(out, part, c) {
			return false
		}
	}
	matched := n.All || len(n.Must) > 0
	for _, part := range n.Should {
		own := out
		if _, nested := part.(storekit.Bool); nested {
			own = s.parts()
		}
		if !s.node(own, part, c) {
			continue
		}
		matched = true
		if own != out {
			out.addAll(own)
		}
	}
	return matched
}

// term adds the score of one term to out, and reports whether the chunk contains the term.
func (s *scorer) term(out *parts, term string, fields []int, factor float64, c *chunk) (found bool) {
	if s.stats == nil {
		return s.contains(c, term, fields)
	}
	if s.req.Combine == store.CombineBM25F {
		score, ok := s.virtual(term, fields, factor, c)
		if ok {
			out.add(0, score, term, "", 1)
		}
		return ok
	}
	for _, i := range fields {
		w := s.plan.Fields[i]
		f := c.field(w.Name)
		if f == nil || f.frequency(term) == 0 {
			continue
		}
		found = true
		out.add(i, factor*w.Weight*s.fieldScore(term, w.Name, f), term, w.Name, w.Weight)
	}
	return found
}

// contains reports whether one of the fields of a chunk has the term.
func (s *scorer) contains(c *chunk, term string, fields []int) bool {
	return slices.ContainsFunc(fields, func(i int) bool {
		f := c.field(s.plan.Fields[i].Name)
		return f != nil && f.frequency(term) > 0
	})
}

func (f *field) frequency(term string) int {
	if form, ok := strings.CutPrefix(term, storekit.FormMark); ok {
		return f.forms[form]
	}
	return len(f.terms[term])
}

func (s *scorer) fieldScore(term, name string, f *field) float64 {
	st := s.statisticsOf(name)
	tf := float64(f.frequency(term))
	norm := s.req.K1 * (1 - s.req.B + s.req.B*float64(s.b.kept(f.length))/st.average())
	n := st.chunks
	if s.b.whole {
		n = len(s.counted)
	}
	return idf(s.count(term, []string{name}), n) * (tf / (tf + norm))
}

func idf(df, n int) float64 {
	return math.Log(1 + (float64(n)-float64(df)+0.5)/(float64(df)+0.5))
}

// count returns the number of chunks that have the term in at least one of the fields.
func (s *scorer) count(term string, names []string) int {
	key := strings.Join(names, "\x00") + "\x00" + term
	if n, ok := s.df[key]; ok {
		return n
	}
	n := 0
	for _, c := range s.countedWithTerms {
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

// virtual returns the BM25F score of a term in a chunk. The bool is false if the chunk does not contain the term.
func (s *scorer) virtual(term string, fields []int, factor float64, c *chunk) (float64, bool) {
	frequency, length := 0.0, 0.0
	for _, i := range fields {
		w := s.plan.Fields[i]
		if f := c.field(w.Name); f != nil {
			frequency += w.Weight * float64(f.frequency(term))
			length += w.Weight * float64(s.b.kept(f.length))
		}
	}
	if frequency == 0 {
		return 0, false
	}
	average := 0.0
	names := make([]string, len(fields))
	for at, i := range fields {
		w := s.plan.Fields[i]
		names[at] = w.Name
		average += w.Weight * float64(s.statisticsOf(w.Name).tokens)
	}
	if len(s.counted) > 0 && average > 0 {
		average /= float64(len(s.counted))
	} else {
		average = 1
	}
	norm := s.req.K1 * (1 - s.req.B + s.req.B*length/average)
	return factor * idf(s.count(term, names), len(s.counted)) * (frequency / (frequency + norm)), true
}

// phrase adds the scores of a phrase's terms to out, in the fields that contain the phrase. With BM25F, if one field
// contains the phrase, the terms score in all fields of the phrase. It reports whether any field contains the phrase.
func (s *scorer) phrase(out *parts, n storekit.Phrase, c *chunk) (found bool) {
	var fields []int
	for _, i := range n.Fields {
		if f := c.field(s.plan.Fields[i].Name); f != nil && f.hasPhrase(n.Tokens, n.Slop) {
			fields = append(fields, i)
		}
	}
	if len(fields) > 0 && s.req.Combine == store.CombineBM25F {
		fields = n.Fields
	}
	for _, t := range n.Tokens {
		s.term(out, t.Text, fields, n.Factor, c)
	}
	return len(fields) > 0
}

// hasPhrase reports whether the field contains the phrase. The shift of a token is its position in the field minus its
// position in the phrase. The shifts of all tokens may differ by at most slop.
func (f *field) hasPhrase(tokens []storekit.Token, slop int) bool {
	for _, token := range tokens {
		for _, low := range f.terms[token.Text] {
			if f.hasShiftsWithin(tokens, low-token.Position, slop) {
				return true
			}
		}
	}
	return false
}

// hasShiftsWithin reports whether every token occurs with a shift from low to low+slop; see hasPhrase.
func (f *field) hasShiftsWithin(tokens []storekit.Token, low, slop int) bool {
	for _, token := range tokens {
		if !slices.ContainsFunc(f.terms[token.Text], func(at int) bool {
			d := at - token.Position - low
			return d >= 0 && d <= slop
		}) {
			return false
		}
	}
	return true
}

// expand adds to out, in each field, the highest score of the terms that e accepts. Of terms with equal scores, it
// takes the first in byte order. It returns false if no field has a term that e accepts.
func (s *scorer) expand(out *parts, e storekit.Expand, c *chunk) bool {
	accepted := map[string]float64{}
	for _, i := range e.Fields {
		f := c.field(s.plan.Fields[i].Name)
		if f == nil {
			continue
		}
		for term := range f.terms {
			if w := e.Weight(term); w > 0 {
				accepted[term] = w
			}
		}
		if !e.Forms {
			continue
		}
		for form := range f.forms {
			if w := e.Weight(form); w > 0 {
				accepted[storekit.FormMark+form] = w
			}
		}
	}
	best := s.parts()
	for _, term := range slices.Sorted(maps.Keys(accepted)) {
		one := s.parts()
		s.term(one, term, e.Fields, e.Factor*accepted[term], c)
		for i, v := range one.scores {
			if v > best.scores[i] {
				best.scores[i] = v
				if best.labels != nil {
					best.labels[i] = one.labels[i]
				}
			}
		}
	}
	out.addAll(best)
	return len(accepted) > 0
}
