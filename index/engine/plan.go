package engine

import (
	"slices"

	"sheaf"
	"sheaf/index/engine/bm25"
	"sheaf/index/engine/postings"
	"sheaf/index/engine/segment"
	"sheaf/text/analysis"
)

// model says how one request scores one field.
type model struct {
	name    string
	weight  float64
	stats   bm25.Field
	average float64
	norms   *norms
}

// longField is a length in terms. Norms of shorter fields are in a table; others are computed on demand.
const longField = 1024

// plan is a word request that was prepared for one snapshot: it has the terms and their weights. The parts of a plan
// make a node for each segment.
type plan struct {
	words         *Words
	analyzer      *analysis.Analyzer
	snapshot      *Snapshot
	allowed       []segment.Bitset // by view; nil allows every live chunk
	countedChunks []segment.Bitset // by view, the chunks over which statistics are counted; nil for every live one
	filtered      *filterResult    // the filter result with countedChunks; nil if no filter selects these chunks
	chunks        int              // number of chunks over which statistics are counted
	params        bm25.Parameters
	fields        []*model
	listed        int // how many of fields the request lists; they come first
	root          part
	cursor        *postings.Cursor // for counting
	union         segment.Bitset   // memory of unionDF
	all           []int            // what inFields returns for every field; nil before the first time
}

// part is a part of the query in a plan. It makes a node for each segment.
type part interface {
	node(p *plan, v int) (node, error)
	// flat returns the terms whose scores add up to the score of the part. It returns false if the score is no such
	// sum.
	flat() ([]*planTerm, bool)
}

// newPlan prepares a word request for a snapshot. The parameter allowed has the allowed chunks of each view.
func newPlan(s *Snapshot, req *Request, allowed []segment.Bitset) (*plan, error) {
	words := req.Words
	p := &plan{words: words, analyzer: s.index.options.Analyzer, snapshot: s, allowed: allowed,
		countedChunks: make([]segment.Bitset, len(s.views)), cursor: takeCursor(),
		fields: make([]*model, 0, len(words.Fields)),
		params: bm25.Parameters{K1: words.K1, B: words.B, Lengths: words.Lengths}}
	defer releaseCursor(p.cursor)
	models := make([]model, len(words.Fields))
	for i, f := range words.Fields {
		models[i] = model{name: f.Name, weight: f.Weight}
		p.fields = append(p.fields, &models[i])
	}
	p.listed = len(p.fields)
	p.addFields(words.Query)
	among := words.Among
	if words.Candidates {
		p.countedChunks, among = allowed, nil
		if req.Within == nil {
			among = req.Filter
		}
	}
	if among != nil {
		var err error
		if p.filtered, err = s.filterChunks(among); err != nil {
			return nil, err
		}
		p.countedChunks = p.filtered.sets
	}
	if err := p.count(); err != nil {
		return nil, err
	}
	var err error
	p.root, err = p.resolve(words.Query, 1)
	return p, err
}

// addFields adds to the plan the fields that q names and that the request does not search.
func (p *plan) addFields(q sheaf.TextQuery) {
	name := ""
	switch q := q.(type) {
	case sheaf.Match:
		name = q.Field
	case sheaf.Phrase:
		name = q.Field
	case sheaf.Prefix:
		name = q.Field
	case sheaf.Fuzzy:
		name = q.Field
	case sheaf.Boost:
		p.addFields(q.Query)
	case sheaf.Bool:
		for _, list := range [][]sheaf.TextQuery{q.Must, q.Should, q.MustNot} {
			for _, part := range list {
				p.addFields(part)
			}
		}
	}
	if name != "" && !slices.ContainsFunc(p.fields, func(m *model) bool { return m.name == name }) {
		p.fields = append(p.fields, &model{name: name, weight: 1})
	}
}

// count collects the statistics of the fields, over the chunks that count for idf and average lengths.
func (p *plan) count() error {
	for i, v := range p.snapshot.views {
		over := v.live
		if p.countedChunks[i] != nil {
			over = p.countedChunks[i].Count()
		}
		p.chunks += over
		for _, m := range p.fields {
			f := v.reader.Field(m.name)
			switch {
			case f < 0:
			case over == v.live:
				stats, err := v.field(f, p.params.Lengths)
				if err != nil {
					return err
				}
				m.stats.Add(stats)
			default:
				stats, err := p.fieldOver(i, f)
				if err != nil {
					return err
				}
				m.stats.Add(stats)
			}
		}
	}
	for _, m := range p.fields {
		m.average = m.stats.Average()
		m.norms = p.snapshot.normsFor(p.params, m.average)
	}
	return nil
}

// fieldOver returns the statistics of a field of a view, over the chunks that count for idf. If a filter selects these
// chunks, fieldOver caches the statistics, because a caller often sends the same filter again.
func (p *plan) fieldOver(view, field int) (stats bm25.Field, err error) {
	of := fieldOf{view, field, p.params.Lengths}
	if p.filtered != nil {
		if known, ok := p.filtered.stats.Get(of); ok {
			return known, nil
		}
	}
	lengths, err := p.snapshot.views[view].reader.Lengths(field)
	if err != nil {
		return stats, err
	}
	over := p.countedChunks[view]
	for o := over.Next(0); o >= 0; o = over.Next(o + 1) {
		if n := lengths.Of(uint32(o)); n > 0 {
			stats.Add(bm25.Field{Chunks: 1, Tokens: p.params.Lengths.Sum(n)})
		}
	}
	if p.filtered != nil {
		p.filtered.stats.Put(of, stats, 1)
	}
	return stats, nil
}

// norm returns BM25's norm of a field with this length.
func (p *plan) norm(m *model, length uint32) float64 {
	if length < longField {
		return m.norms[length]
	}
	return p.params.Norm(float64(p.params.Lengths.Of(length)), m.average)
}

// inFields returns the indices of the fields to search: only the field with this name. If name is "", it returns all
// fields of the request.
func (p *plan) inFields(name string) []int {
	if name != "" {
		return []int{slices.IndexFunc(p.fields, func(m *model) bool { return m.name == name })}
	}
	if p.all == nil {
		p.all = make([]int, p.listed)
		for i := range p.all {
			p.all[i] = i
		}
	}
	return p.all
}

func (p *plan) resolve(q sheaf.TextQuery, factor float64) (part, error) {
	switch q := q.(type) {
	case sheaf.Match:
		return p.resolveMatch(q, factor)
	case sheaf.Phrase:
		return p.resolvePhrase(q, factor)
	case sheaf.Prefix:
		return p.resolvePrefix(q, factor)
	case sheaf.Fuzzy:
		return p.resolveFuzzy(q, factor)
	case sheaf.Boost:
		return p.resolve(q.Query, factor*q.Factor)
	case sheaf.Bool:
		return p.resolveBool(q, factor)
	case nil:
		return planNothing{}, nil
	}
	return nil, sheaf.Invalidf("a query of unknown kind %T", q)
}

func (p *plan) resolveMatch(q sheaf.Match, factor float64) (part, error) {
	return p.resolveTokens(p.analyzer.MatchTokens(q.Text), q.Field, factor)
}

// resolveTokens returns a part that matches chunks with at least one of tokens.
func (p *plan) resolveTokens(tokens []analysis.Token, field string, factor float64) (part, error) {
	fields := p.inFields(field)
	var parts []part // one part for each term, when a token is the beginning of terms
	known := knownTerms{list: make([]*planTerm, 0, len(tokens))}
	expands := slices.ContainsFunc(tokens, func(t analysis.Token) bool { return t.Prefix })
	for _, t := range tokens {
		if t.Prefix {
			expand, err := p.expandPrefix(t.Term, fields, factor, false)
			if err != nil {
				return nil, err
			}
			parts = append(parts, expand)
			continue
		}
		at, again, err := known.term(p, t.Term, fields, factor)
		switch {
		case err != nil:
			return nil, err
		case expands:
			parts = append(parts, &planMatch{terms: []*planTerm{known.list[at]}})
		case again:
			known.list[at].more++
		}
	}
	if expands {
		return &planBool{should: parts}, nil
	}
	return &planMatch{terms: known.list}, nil
}

// planTerm is a term and its weights: one weight for each field, or with BM25F one for all fields.
type planTerm struct {
	key    string
	fields []int
	idf    []float64 // by index in fields
	df     []int     // by index in fields; with BM25F the first counts for all
	factor float64
	refs   []segment.Term // by view; empty where the term is missing
	more   int            // repetitions beyond the first
	only   *planTerm      // the instance that stands for all repetitions
	expand *planExpand    // the term stands for this expansion and has nothing else
}

func (t *planTerm) repeats() float64 { return float64(1 + t.more) }

// mergeRepeats merges repeated terms, and counts the repetitions. The caller must use the same pointer for all
// repetitions of a term.
func mergeRepeats(terms []*planTerm) []*planTerm {
	out := make([]*planTerm, 0, len(terms))
	for _, t := range terms {
		if t.only != nil {
			t.only.more++
			continue
		}
		only := *t
		t.only = &only
		out = append(out, &only)
	}
	return out
}

// knownTerms are the terms of one part of a query. Each is looked up only once.
type knownTerms struct {
	list []*planTerm
	by   map[string]int // indices in list, when there are more than fewTerms
}

// fewTerms is the largest number of terms for which comparing with each term is faster than a map.
const fewTerms = 24

// find returns the index of a term in the list, or -1 if the term is new.
func (k *knownTerms) find(key string) int {
	if k.by != nil {
		if at, ok := k.by[key]; ok {
			return at
		}
		return -1
	}
	return slices.IndexFunc(k.list, func(t *planTerm) bool { return t.key == key })
}

// term returns the index of the term with this key in the list. again reports whether the list already had the term. If
// not, the method looks up the term and adds it to the list, with fields and factor.
func (k *knownTerms) term(p *plan, key string, fields []int, factor float64) (at int, again bool, err error) {
	if at = k.find(key); at >= 0 {
		return at, true, nil
	}
	t, err := p.term(key, fields, factor)
	if err != nil {
		return 0, false, err
	}
	at = len(k.list)
	if k.list = append(k.list, t); len(k.list) > fewTerms {
		if k.by == nil {
			k.by = make(map[string]int, 2*len(k.list))
			for i, t := range k.list {
				k.by[t.key] = i
			}
		}
		k.by[key] = at
	}
	return at, false, nil
}

// term looks up a term in every segment, and counts the chunks with the term.
func (p *plan) term(text string, fields []int, factor float64) (*planTerm, error) {
	t := &planTerm{key: text, fields: fields, factor: factor, refs: make([]segment.Term, len(p.snapshot.views)),
		df: make([]int, len(fields))}
	for i, v := range p.snapshot.views {
		ref := &t.refs[i]
		var err error
		if *ref, err = v.term(t.key); err != nil {
			return nil, err
		}
		if ref.None() {
			continue
		}
		if err := p.addDF(t.df, i, ref, fields); err != nil {
			return nil, err
		}
	}
	t.idf = p.idfs(t.df, fields)
	return t, nil
}

// addDF adds to df[i] the number of a view's chunks that have a term in fields[i]. With BM25F, it adds only to df[0],
// and counts the chunks that have the term in at least one field.
func (p *plan) addDF(df []int, view int, t *segment.Term, fields []int) error {
	v := p.snapshot.views[view]
	over := p.countedChunks[view]
	if p.words.Combine == CombineBM25F && len(fields) > 1 {
		n, err := p.unionDF(v, t, fields, over)
		df[0] += n
		return err
	}
	for i, f := range fields {
		local := v.reader.Field(p.fields[f].name)
		if local < 0 {
			continue
		}
		var n int
		var err error
		if over == nil {
			n, err = v.liveDF(t, local, p.cursor)
		} else {
			n, err = p.countIn(v, t, local, over)
		}
		if err != nil {
			return err
		}
		df[i] += n
	}
	return nil
}

func (p *plan) countIn(v *view, t *segment.Term, field int, over segment.Bitset) (n int, err error) {
	list, err := v.reader.List(t, field, false)
	if err != nil {
		return 0, err
	}
	c := p.cursor
	c.Reset(list, uint32(v.reader.Chunks()))
	for docs := c.Block(); len(docs) > 0; docs = c.Block() {
		for _, o := range docs {
			if over.Has(o) {
				n++
			}
		}
		c.NextBlock()
	}
	if c.Err() != nil {
		return 0, v.reader.Corrupt(c.Err())
	}
	return n, nil
}

// unionDF counts the chunks of a view that have a term in at least one of the fields. It counts only chunks in the set
// over. If over is nil, unionDF counts all chunks except deleted ones.
func (p *plan) unionDF(v *view, t *segment.Term, fields []int, over segment.Bitset) (int, error) {
	mask, only := uint64(0), -1
	for _, f := range fields {
		if local := v.reader.Field(p.fields[f].name); local >= 0 && t.DF(local) > 0 {
			mask |= 1 << local
			only = local
		}
	}
	place, counted := t.Place(mask)
	of := termIn{place, mask}
	switch {
	case mask == 0:
		return 0, nil
	case mask == 1<<only && over == nil:
		return v.liveDF(t, only, p.cursor)
	case over == nil && counted:
		if n, ok := v.counts.Get(of); ok {
			return n, nil
		}
	}
	words := (v.reader.Chunks() + 63) / 64
	p.union = slices.Grow(p.union[:0], words)[:words]
	set := p.union
	clear(set)
	for local := range segment.MaxFields {
		if mask&(1<<local) == 0 {
			continue
		}
		list, err := v.reader.List(t, local, false)
		if err != nil {
			return 0, err
		}
		p.cursor.Reset(list, uint32(v.reader.Chunks()))
		for docs := p.cursor.Block(); len(docs) > 0; docs = p.cursor.Block() {
			for _, o := range docs {
				set.Set(o)
			}
			p.cursor.NextBlock()
		}
		if err := p.cursor.Err(); err != nil {
			return 0, v.reader.Corrupt(err)
		}
	}
	if over != nil {
		set.And(over)
		return set.Count(), nil
	}
	if v.deleted != nil {
		set.AndNot(v.deleted)
	}
	n := set.Count()
	if counted {
		v.counts.Put(of, n, 1)
	}
	return n, nil
}

// idfs returns the idf of a term in each field. df[i] is the number of chunks with the term in fields[i]. With BM25F,
// df[0] and the first value are for all fields together.
func (p *plan) idfs(df []int, fields []int) []float64 {
	idf := make([]float64, len(fields))
	for i, f := range fields {
		n := int(p.fields[f].stats.Chunks)
		if p.words.Combine == CombineBM25F || p.words.AllChunks {
			n = p.chunks
		}
		if df[i] > 0 {
			idf[i] = bm25.IDF(df[i], n)
		}
	}
	return idf
}
