package rank

import (
	"math"
	"slices"
	"sync"

	"sheaf"
)

// Row is a ranking on its way through several stages that change the scores of its
// hits and which of them are left, not the hits themselves. Of each hit, which is
// large, a row moves a score and a place; what hits are left in the end is made once, and
// so are chunks and documents looked up and hits put in order: boosts that look at each
// hit by itself do not ask for the order. What comes out is what the stages give one
// after another, to the last bit. A row is used by one goroutine.
type Row struct {
	hits sheaf.Ranking // as they came
	keys []rowKey      // what is left of them
	// finite says that all scores were finite numbers as they came.
	finite bool
	// loose says that scores have changed since the keys were put in order.
	loose bool
	// why are the explanations, by hit; nil when hits carry none.
	why []*sheaf.Explanation
	// nodes are the chunks of hits, and docs the numbers of their documents, of which there
	// are documents, -1 for unknown ones; each is found when a stage first asks. Both by hit.
	nodes     []*sheaf.Node
	docs      []int32
	documents int
	// What follows is memory alone, in which nothing is kept from one stage to the next.
	spare   []rowKey
	reasons []*sheaf.Explanation
	met     []*sheaf.Node
	numbers []int32
	table   Numbering
	marks   []bool
	counts  []int32
	factors []docFactor
	read    byte
	// connections are counts of candidates.
	candidates  []candidate
	connections []int
}

// rowKey is what is moved while hits are put in order.
type rowKey struct {
	score float64
	at    int32 // in hits
	moved bool  // its score has changed since keys were put in order
}

// rowStage is a stage that works on rows.
type rowStage interface {
	Stage
	work(r *Row, env Env) error
}

// rows are those that are done with, whose memory serves again.
var rows = sync.Pool{New: func() any { return new(Row) }}

// NewRow begins a row with the hits of in, which must not be changed afterwards.
func NewRow(in sheaf.Ranking) *Row {
	r := rows.Get().(*Row)
	r.hits, r.loose, r.finite = in, false, true
	r.keys = slices.Grow(r.keys[:0], len(in))[:len(in)]
	for i := range in {
		r.keys[i] = rowKey{in[i].Score, int32(i), false}
		r.finite = r.finite && finite(in[i].Score)
	}
	if explained(in) {
		r.reasons = sized(r.reasons, len(in))
		r.why = r.reasons
		for i := range in {
			r.why[i] = in[i].Explanation
		}
	}
	return r
}

// Len is the number of hits that are left.
func (r *Row) Len() int { return len(r.keys) }

// Apply applies a stage; false says that this one asks for the hits themselves, and
// that nothing was done. Errors are those of the stage; the row is for Release then.
func (r *Row) Apply(s Stage, env Env) (applied bool, err error) {
	if s, ok := s.(rowStage); ok {
		return true, s.work(r, env)
	}
	return false, nil
}

// Ranking is what is left, in order. It shares the memory of the ranking that the row
// began with when that has its scores and order still. The row serves no more.
func (r *Row) Ranking() sheaf.Ranking { return r.RankingIn(nil) }

// RankingIn is Ranking in memory, which holds no other ranking.
func (r *Row) RankingIn(memory *Memory) sheaf.Ranking {
	r.settle(len(r.keys))
	out := prefix(r.hits, len(r.keys))
	if !r.asTheyCame() {
		out, _ = memory.ranking(len(r.keys), 0)
		for i, k := range r.keys {
			out[i] = r.hits[k.at]
			out[i].Score = k.score
			if r.why != nil {
				out[i].Explanation = r.why[k.at]
			}
		}
	}
	r.Release()
	return out
}

// asTheyCame reports whether what is left are the first hits as they came.
func (r *Row) asTheyCame() bool {
	for i, k := range r.keys {
		if int(k.at) != i || math.Float64bits(k.score) != math.Float64bits(r.hits[i].Score) || r.why != nil && r.why[i] != r.hits[i].Explanation {
			return false
		}
	}
	return true
}

// Release ends a row whose ranking nobody asks for; its memory serves again.
func (r *Row) Release() {
	clear(r.met)
	clear(r.reasons)
	clear(r.factors)
	clear(r.candidates[:cap(r.candidates)])
	r.hits, r.why, r.nodes, r.docs = nil, nil, nil, nil
	if cap(r.keys) <= maxKeptHits {
		rows.Put(r)
	}
}

// alone is Apply of a stage that works on rows.
func alone(s rowStage, in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	r := NewRow(in)
	if err := s.work(r, env); err != nil {
		r.Release()
		return nil, err
	}
	return r.Ranking(), nil
}

// valid is an error when a score that the row began with is no finite number. Stages
// see to those that they change, by gives.
func (r *Row) valid(stage string) error {
	if r.finite {
		return nil
	}
	return r.hits.Valid(stage)
}

func finite(score float64) bool { return !math.IsNaN(score) && !math.IsInf(score, 0) }

// gives is an error unless a stage gave a hit a finite score.
func (r *Row) gives(stage string, k *rowKey) error {
	if !finite(k.score) {
		return sheaf.Invalidf("%s: the score of %q becomes %v: must be a finite number", stage, r.hits[k.at].ID, k.score)
	}
	return nil
}

func (r *Row) compare(a, b rowKey) int {
	switch {
	case a.score > b.score:
		return -1
	case a.score < b.score:
		return 1
	}
	return r.tied(a, b)
}

// tied is the order of two keys of equal score.
func (r *Row) tied(a, b rowKey) int {
	if c := sheaf.CompareTied(&r.hits[a.at], &r.hits[b.at]); c != 0 {
		return c
	}
	return int(a.at) - int(b.at)
}

// settle puts the first n keys in order when scores have changed, and the others
// behind them.
func (r *Row) settle(n int) {
	if !r.loose {
		return
	}
	r.loose = false
	// Hits that keep their scores are in order among themselves, as a rule.
	moved, last, sorted := 0, -1, true
	for i := range r.keys {
		if r.keys[i].moved {
			moved++
		} else if sorted {
			sorted = last < 0 || r.compare(r.keys[last], r.keys[i]) < 0
			last = i
		}
	}
	switch {
	case !sorted:
		for i := range r.keys {
			r.keys[i].moved = false
		}
		if n < len(r.keys) {
			sortFirst(r.keys, n, r.compare)
		} else {
			sortKeys(r.keys, r.tied)
		}
	case moved > 0:
		r.merge()
	}
}

// merge puts keys in order of which only those that moved are not.
func (r *Row) merge() {
	kept, moved := r.keys[:0], r.spare[:0]
	for _, k := range r.keys {
		if k.moved {
			k.moved = false
			moved = append(moved, k)
		} else {
			kept = append(kept, k)
		}
	}
	sortKeys(moved, r.tied)
	r.spare = moved
	for at, i := len(r.keys)-1, len(kept)-1; len(moved) > 0; at-- { // from the end on: kept lies in keys
		last := moved[len(moved)-1]
		if i >= 0 && r.compare(kept[i], last) > 0 {
			last = kept[i]
			i--
		} else {
			moved = moved[:len(moved)-1]
		}
		r.keys[at] = last
	}
}

// Arrange gives what is left, in its order, of numbers, one for each hit that the row
// began with; nil, and what are not as many, give nil.
func (r *Row) Arrange(numbers []int32) []int32 {
	if len(numbers) != len(r.hits) {
		return nil
	}
	keys, same := r.inOrder(), true
	for i := 0; i < len(keys) && same; i++ {
		same = int(keys[i].at) == i
	}
	if same {
		return numbers[:len(keys):len(keys)]
	}
	out := make([]int32, len(keys))
	for i, k := range keys {
		out[i] = numbers[k.at]
	}
	return out
}

// inOrder is what is left, in order.
func (r *Row) inOrder() []rowKey {
	r.settle(len(r.keys))
	return r.keys
}

// find looks up the chunks of the hits that are left, nil for those that nobody knows.
func (r *Row) find(facts Facts) {
	if r.nodes != nil {
		return
	}
	r.met = sized(r.met, len(r.hits))
	r.nodes = r.met
	short, ok := facts.(Outliner)
	for i := range r.keys {
		at := r.keys[i].at
		if ok {
			r.nodes[at] = short.Node(r.hits[at].ID)
		} else {
			r.nodes[at] = nodeOf(facts, r.hits[at].ID)
		}
	}
	r.fetch()
}

// fetch reads a little of what the chunks hold. Most of it lies in no cache of the
// processor: read one after another, with nothing that depends on it, it comes in the
// time of a few, where work on each in turn waits for each.
func (r *Row) fetch() {
	read := byte(0)
	for _, k := range r.keys {
		n := r.nodes[k.at]
		if n == nil {
			continue
		}
		if len(n.Title) > 0 {
			read += n.Title[0]
		}
		if n.Number == 0 && len(n.Doc) > 0 { // it is told by its ID then
			read += n.Doc[len(n.Doc)-1]
		}
	}
	r.read = read
}

// findDocuments numbers the documents of the hits that are left, in the order in which
// they are met.
func (r *Row) findDocuments(facts Facts) {
	if r.docs != nil {
		return
	}
	r.find(facts)
	r.numbers = sized(r.numbers, len(r.hits))
	r.docs = r.numbers
	for _, k := range r.keys {
		if n := r.nodes[k.at]; n == nil || n.Number == 0 {
			r.findDocumentsByID()
			return
		}
	}
	r.table.Reset(len(r.keys))
	for _, k := range r.keys {
		doc, _ := r.table.Add(r.nodes[k.at].Number)
		r.docs[k.at] = int32(doc)
	}
	r.documents = r.table.Len()
}

// findDocumentsByID is findDocuments where they have no numbers.
func (r *Row) findDocumentsByID() {
	index := NewOrdinals(len(r.keys))
	defer index.Release()
	for i := range r.docs { // hits that were cut before have none
		r.docs[i] = -1
	}
	for _, k := range r.keys {
		if n := r.nodes[k.at]; n != nil {
			doc, _ := index.Add(n.Doc)
			r.docs[k.at] = int32(doc)
		}
	}
	r.documents = index.Len()
}

// documentsByID are the numbers of the documents of all hits that are known, where
// findDocumentsByID found them.
func (r *Row) documentsByID() map[sheaf.ID]int32 {
	byID := make(map[sheaf.ID]int32, r.documents)
	for at, doc := range r.docs {
		if n := r.nodes[at]; n != nil && doc >= 0 {
			byID[n.Doc] = doc
		}
	}
	return byID
}

// unmarked is a mark for each document, none set.
func (r *Row) unmarked() []bool {
	r.marks = sized(r.marks, r.documents)
	return r.marks
}

// zeros is a count for each document, 0.
func (r *Row) zeros() []int32 {
	r.counts = sized(r.counts, r.documents)
	return r.counts
}

// noFactors is a factor for each document, that of nothing.
func (r *Row) noFactors() []docFactor {
	r.factors = sized(r.factors, r.documents)
	return r.factors
}

// EachDocument gives each the best hit of every document that is known, best first, and
// its score.
func (r *Row) EachDocument(facts Facts, each func(best *sheaf.Node, score float64)) {
	r.findDocuments(facts)
	seen := r.unmarked()
	for _, k := range r.inOrder() {
		if doc := r.docs[k.at]; doc >= 0 && !seen[doc] {
			seen[doc] = true
			each(r.nodes[k.at], k.score)
		}
	}
}

// boost blends factors into the hits.
func (r *Row) boost(b *boosting) error {
	if err := firstError(b.valid(), r.valid(b.stage)); err != nil {
		return err
	}
	if b.facts != nil {
		r.find(b.facts)
	}
	for i := range r.keys {
		k := &r.keys[i]
		var c *sheaf.Node
		if b.facts != nil {
			c = r.nodes[k.at]
		}
		f, ok := b.factor(&r.hits[k.at], c)
		if !ok {
			continue
		}
		if err := r.blend(b.stage, b.blend, k, &f); err != nil {
			return err
		}
	}
	r.loose = true
	return nil
}

// blend blends a factor into one hit.
func (r *Row) blend(stage string, how Blend, k *rowKey, f *factor) error {
	before := k.score
	k.score = how.apply(before, f.value)
	if err := r.gives(stage, k); err != nil {
		return err
	}
	k.moved = k.moved || k.score != before
	if r.why != nil && r.why[k.at] != nil {
		r.why[k.at] = how.explain(stage, r.why[k.at], before, k.score, f)
	}
	return nil
}

// docFactor is what a boost does to all hits of a document; ok is false for nothing.
type docFactor struct {
	factor
	ok bool
}

// boostDocuments blends into every hit the factor that its document has, by number.
func (r *Row) boostDocuments(stage string, how Blend, factors []docFactor) error {
	if err := firstError((&boosting{stage: stage, blend: how}).valid(), r.valid(stage)); err != nil {
		return err
	}
	for i := 0; i < len(r.keys) && len(factors) > 0; i++ {
		k := &r.keys[i]
		if doc := r.docs[k.at]; doc >= 0 && factors[doc].ok {
			if err := r.blend(stage, how, k, &factors[doc].factor); err != nil {
				return err
			}
		}
	}
	r.loose = true
	return nil
}

// cut keeps the first n hits.
func (r *Row) cut(n int) {
	n = min(n, len(r.keys))
	r.settle(n)
	r.keys = r.keys[:n]
}

// add adds to the score of every hit that is left. facts give the chunk of a hit; nil
// gives no chunk.
func (r *Row) add(stage string, facts Facts, each func(h *sheaf.Hit, c *sheaf.Node) addition) error {
	if err := r.valid(stage); err != nil {
		return err
	}
	if facts != nil {
		r.find(facts)
	}
	for i := range r.keys {
		k := &r.keys[i]
		var c *sheaf.Node
		if facts != nil {
			c = r.nodes[k.at]
		}
		a := each(&r.hits[k.at], c)
		if a.value == 0 {
			continue
		}
		k.score += a.value
		k.moved = true
		if err := r.gives(stage, k); err != nil {
			return err
		}
		if r.why != nil && r.why[k.at] != nil {
			why := combined(stage, k.score, sheaf.CombineSum, append([]sheaf.Explanation{*r.why[k.at]}, a.parts...)...)
			r.why[k.at] = &why
		}
		r.loose = true
	}
	return nil
}
