package storetest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/store"
)

// RandomHistory makes the same random changes to two stores. After each change, it compares their answers to random
// requests: both must find the same chunks with equal scores. Scores of words may differ by 1e-9, or by the tolerance
// that [Limited] sets. Similarities may differ by vectorTolerance. The vectors have 8 dimensions. If reopen is not
// nil, RandomHistory sometimes calls it to close the first store and open it again. A failure names the seed.
func RandomHistory(t *testing.T, seed uint64, steps int, a, oracle store.Backend,
	reopen func(store.Backend) store.Backend) {
	t.Helper()
	h := &history{r: rand.New(rand.NewPCG(seed, 11)), passages: map[sheaf.ID][]store.Vectors{}}
	ctx := context.Background()
	for step := range steps {
		h.where = fmt.Sprintf("seed %d, step %d", seed, step)
		batch := h.batch()
		for _, b := range []store.Backend{a, oracle} {
			if err := b.Write(ctx, batch); err != nil {
				t.Fatalf("%s: write: %v", h.where, err)
			}
		}
		if h.r.IntN(5) == 0 {
			docs := []sheaf.ID{h.doc(), h.doc()}
			for _, b := range []store.Backend{a, oracle} {
				if err := b.Write(ctx, store.Batch{Replace: docs}); err != nil {
					t.Fatalf("%s: delete: %v", h.where, err)
				}
			}
		}
		if reopen != nil && h.r.IntN(6) == 0 {
			a = reopen(a)
		}
		var answered []store.Request
		for i := range 7 {
			req := h.request()
			if i >= 4 {
				req = h.nearest(req, store.Matches(a))
			} else if shape := optionsOf(a).Shape; shape != nil {
				shape(&req)
			}
			if !refused(t, a, req) {
				answered = append(answered, req)
				h.check(t, req, a, oracle)
			}
		}
		agree(t, a, answered)
	}
}

// vectorTolerance is the largest allowed difference between similarities of a store and of the oracle. A store may
// round vectors.
const vectorTolerance = 0.01

// history makes random changes and requests.
type history struct {
	r        *rand.Rand
	where    string                       // the step, for messages
	passages map[sheaf.ID][]store.Vectors // written last, by chunk
}

// check compares the answers of two stores to a request.
func (h *history) check(t *testing.T, req store.Request, a, oracle store.Backend) {
	t.Helper()
	if req.Vector == nil {
		got, _ := compare(t, h.where, req, a, oracle, func(x, y float64) bool { return near(a, x, y) })
		checkColumns(t, h.where, req, a, oracle)
		h.checkScores(t, req, a)
		if len(got) > 0 {
			checkExplanation(t, h.where, req, a, got[0])
		}
		return
	}
	equal := func(x, y float64) bool { return math.Abs(x-y) <= vectorTolerance }
	got, scores := compare(t, h.where, req, a, oracle, equal)
	for _, hit := range got {
		if dot, ok := h.dot(hit, req.Vector); !ok || !equal(dot, scores[hit.ID]) {
			t.Fatalf("%s: passage %d of %s has similarity %v, the best one %v", h.where, hit.Passage, hit.ID, dot,
				scores[hit.ID])
		}
	}
	if len(got) > 0 {
		checkExplanation(t, h.where, req, a, got[len(got)-1])
	}
}

// checkScores checks that a [store.Scorer] returns the same scores as a ranking of only the given chunks.
func (h *history) checkScores(t *testing.T, req store.Request, a store.Backend) {
	t.Helper()
	scorer, ok := a.(store.Scorer)
	if !ok || req.Text.Statistics != store.StatisticsCorpus {
		return
	}
	ids := []sheaf.ID{"t:none"}
	for id := range h.passages {
		if h.r.IntN(3) == 0 {
			ids = append(ids, id)
		}
	}
	got, err := scorer.Scores(context.Background(), []store.Request{req, req}, ids)
	must.That(t, err == nil, "%s: scores: %v", h.where, err)
	req.Within, req.Limit = ids, len(ids)
	want := map[sheaf.ID]float64{}
	for _, hit := range retrieve(t, a, req) {
		want[hit.ID] = hit.Score
	}
	for k, id := range ids {
		if got[0][k] != want[id] || got[1][k] != want[id] {
			t.Fatalf("%s: %+v %+v: %s scores %v and %v, want %v", h.where, req.Text, req.Filter, id, got[0][k], got[1][k],
				want[id])
		}
	}
}

// dot returns the similarity of a hit's passage and the query. ok is false if the chunk has no such passage.
func (h *history) dot(hit sheaf.Hit, req *store.VectorRequest) (dot float64, ok bool) {
	for _, v := range h.passages[hit.ID] {
		if v.Name == req.Field && hit.Passage < len(v.Passages) {
			for i, x := range v.Passages[hit.Passage] {
				dot += float64(x) * float64(req.Vector[i])
			}
			return dot, true
		}
	}
	return 0, false
}

// compare fails the test unless store a and the oracle find equally many hits, with the oracle's scores in order.
// Hits with nearly equal scores may have another order; near says which scores are nearly equal. compare returns the
// hits of store a and the oracle's scores.
func compare(t *testing.T, where string, req store.Request, a, oracle store.Backend,
	near func(x, y float64) bool) (got sheaf.Ranking, scores map[sheaf.ID]float64) {
	t.Helper()
	ctx := context.Background()
	got, err := a.Retrieve(ctx, req)
	must.That(t, err == nil, "%s: %v", where, err)
	all := req
	all.Limit = store.MaxLimit
	want, err := oracle.Retrieve(ctx, all)
	must.Do(t, err)
	if c, ok := a.(store.Counter); ok {
		if n, err := c.Count(ctx, req); n != len(want) || err != nil {
			t.Fatalf("%s: %+v %+v: counts %d, the oracle finds %d, %v", where, req.Text, req.Filter, n, len(want), err)
		}
	}
	scores = map[sheaf.ID]float64{}
	for _, h := range want {
		scores[h.ID] = h.Score
	}
	want = want[:min(len(want), req.Limit)]
	if len(got) != len(want) || !slices.IsSortedFunc(got, sheaf.Compare) {
		t.Fatalf("%s: %+v %+v: found, perhaps out of order:\n%s\nthe oracle finds\n%s", where, req.Text, req.Filter, ids(got),
			ids(want))
	}
	seen := map[sheaf.ID]bool{}
	for i, h := range got {
		if score, ok := scores[h.ID]; !ok || seen[h.ID] || !near(h.Score, score) || !near(h.Score, want[i].Score) {
			t.Fatalf("%s: %+v %+v: place %d is %s %.17g, the oracle has %s %.17g there", where, req.Text, req.Filter, i+1, h.ID,
				h.Score, want[i].ID, want[i].Score)
		}
		seen[h.ID] = true
	}
	return got, scores
}

func checkExplanation(t *testing.T, where string, req store.Request, a store.Backend, h sheaf.Hit) {
	t.Helper()
	e, ok := a.(store.Explainer)
	if !ok {
		return
	}
	x, err := e.Explain(context.Background(), req, []sheaf.ID{h.ID})
	if err != nil || len(x) != 1 || x[0] == nil || !near(a, x[0].Value, h.Score) || !near(a, x[0].Recombine(), h.Score) {
		t.Fatalf("%s: %+v: %s scores %.17g, explained as %+v, %v", where, req.Text, h.ID, h.Score, x, err)
	}
}

var vocabulary = strings.Fields("apple apples pie pies token tokens refresh running run runs getUserName snake_case " +
	"東京都 猫 naïve café v1.2.3 C++ Get-Item well-known utf-8 2024年 한국어 John's #tag what how is alpha beta gamma delta " +
	"the of and search engine index")

func (h *history) words(most int) string {
	var out []string
	for range h.r.IntN(most + 1) {
		// Some words are much more frequent than others.
		out = append(out, vocabulary[min(h.r.IntN(len(vocabulary)), h.r.IntN(len(vocabulary)))])
	}
	return strings.Join(out, " ")
}

func (h *history) doc() sheaf.ID { return sheaf.ID(fmt.Sprintf("t:d%d", h.r.IntN(30))) }

func (h *history) batch() store.Batch {
	var b store.Batch
	for range 1 + h.r.IntN(4) {
		doc := h.doc()
		b.Replace = append(b.Replace, doc)
		for i := range h.r.IntN(5) {
			c := Chunk(fmt.Sprintf("%s#%d", doc, i), "title", h.words(3), "body", h.words(60), "tags", h.words(1))
			c = withColumns(c, column("n", sheaf.NumberValue(float64(h.r.IntN(5)))),
				column("c", sheaf.TextValue(string(rune('a'+h.r.IntN(3))))), h.many())
			c.Vectors = h.vectors()
			h.passages[c.ID] = c.Vectors
			b.Chunks = append(b.Chunks, c)
		}
	}
	return b
}

// many returns a column with no value, or with one or more values of several kinds.
func (h *history) many() store.Column {
	c := store.Column{Name: "many"}
	for _, v := range []sheaf.Value{sheaf.NumberValue(float64(h.r.IntN(40)) - 20), sheaf.TextValue(h.words(1)),
		sheaf.BoolValue(h.r.IntN(2) == 0),
		sheaf.DateValue(time.UnixMilli(int64(h.r.IntN(9)) - 4)), sheaf.TextValue("")} {
		if h.r.IntN(3) == 0 && !slices.Contains(c.Values, v) {
			c.Values = append(c.Values, v)
		}
	}
	return c
}

func (h *history) request() store.Request {
	req := Words(h.query(2))
	req.Limit = []int{1, 3, 10, 1000}[h.r.IntN(4)]
	req.Text.Combine = store.Combine(h.r.IntN(3))
	req.Text.Statistics = store.Statistics(h.r.IntN(2))
	req.Text.TieBreaker = float64(h.r.IntN(3)) / 2
	req.Text.K1 = []float64{0, 0.9, 1.2, 3}[h.r.IntN(4)]
	req.Text.B = []float64{0, 0.4, 0.75, 1}[h.r.IntN(4)]
	if h.r.IntN(3) == 0 {
		req.Text.Fields = append(req.Text.Fields, store.FieldWeight{Name: "tags", Weight: 0.5})
	}
	switch h.r.IntN(4) {
	case 0:
		req.Filter = h.filter(3)
	case 1:
		req.Within = []sheaf.ID{}
		for i := range 10 {
			req.Within = append(req.Within, sheaf.ID(fmt.Sprintf("%s#%d", h.doc(), i%5)))
		}
	}
	if h.r.IntN(3) == 0 {
		req.Text.Among = h.filter(2)
		req.Filter = sheaf.Both(req.Text.Among, req.Filter)
	}
	return req
}

// nearest converts a request by words to a request by vector. If matches is true, it keeps the words as Matching in
// half of the cases, chosen at random. Otherwise it drops them.
func (h *history) nearest(req store.Request, matches bool) store.Request {
	words := req.Text
	req.Text, req.Vector = nil, &store.VectorRequest{Field: []string{"body", "body", "title", "none"}[h.r.IntN(4)],
		Vector: h.vector(), Candidates: h.r.IntN(30)}
	if matches && h.r.IntN(2) == 0 {
		req.Vector.Matching = words
	}
	return req
}

// vector returns a random unit vector near one of a few directions.
func (h *history) vector() []float32 {
	v := make([]float32, 8)
	v[h.r.IntN(8)], v[h.r.IntN(8)] = 1, 1
	if h.r.IntN(3) > 0 {
		for i := range v {
			v[i] += float32(h.r.NormFloat64()) * 0.2
		}
	}
	return unit(v...)
}

func (h *history) vectors() []store.Vectors {
	var out []store.Vectors
	for _, name := range []string{"body", "title"} {
		v := store.Vectors{Name: name}
		for range h.r.IntN(4) {
			v.Passages = append(v.Passages, h.vector())
		}
		if len(v.Passages) > 0 {
			out = append(out, v)
		}
	}
	return out
}

// filter returns a random filter. It uses the columns that the method batch writes, and a missing column.
func (h *history) filter(depth int) sheaf.Filter {
	column := []string{"n", "c", "many", "none"}[h.r.IntN(4)]
	value := func() sheaf.Value {
		switch h.r.IntN(6) {
		case 0:
			return sheaf.BoolValue(h.r.IntN(2) == 0)
		case 1:
			return sheaf.DateValue(time.UnixMilli(int64(h.r.IntN(9)) - 4))
		case 2, 3:
			return sheaf.NumberValue(float64(h.r.IntN(5)))
		}
		return sheaf.TextValue(string(rune('a' + h.r.IntN(4))))
	}
	n := h.r.IntN(7)
	if depth == 0 {
		n = 3 + h.r.IntN(4)
	}
	list := make([]sheaf.Filter, h.r.IntN(3))
	switch n {
	case 0, 1:
		for i := range list {
			list[i] = h.filter(depth - 1)
		}
		if n == 0 {
			return sheaf.And(list)
		}
		return sheaf.Or(list)
	case 2:
		return sheaf.Not{Filter: h.filter(depth - 1)}
	case 3:
		return sheaf.In{Column: column, Values: []sheaf.Value{value(), value()}}
	case 4:
		r := sheaf.Range{Column: column, Min: value(), MinOpen: h.r.IntN(2) == 0, MaxOpen: h.r.IntN(2) == 0}
		if h.r.IntN(2) == 0 {
			r.Max = value()
		}
		return r
	case 5:
		return sheaf.Exists{Column: column}
	}
	return sheaf.HasPrefix{Column: column, Prefix: value().Text}
}

func (h *history) query(depth int) sheaf.TextQuery {
	field := []string{"", "", "", "title", "tags"}[h.r.IntN(5)]
	word := vocabulary[h.r.IntN(len(vocabulary))]
	switch n := h.r.IntN(10); {
	case n < 4 || depth == 0:
		return sheaf.Match{Text: h.words([]int{4, 4, 12}[h.r.IntN(3)]) + " " + word, Field: field}
	case n == 4:
		return sheaf.Phrase{Text: word + " " + h.words(2), Field: field, Slop: h.r.IntN(3)}
	case n == 5:
		runes := []rune(word)
		return sheaf.Prefix{Text: string(runes[:1+h.r.IntN(len(runes))]), Field: field}
	case n == 6:
		return sheaf.Fuzzy{Text: word, Field: field, Distance: 1 + h.r.IntN(2), Same: h.r.IntN(3)}
	case n == 7:
		return sheaf.Boost{Query: h.query(depth - 1), Factor: 0.5 + h.r.Float64()}
	}
	var b sheaf.Bool
	for range h.r.IntN(3) {
		b.Must = append(b.Must, h.query(depth-1))
	}
	for range h.r.IntN(3) {
		b.Should = append(b.Should, h.query(depth-1))
	}
	for range h.r.IntN(2) {
		b.MustNot = append(b.MustNot, h.query(depth-1))
	}
	return b
}

// checkColumns compares facets and sorted hits of a store and the oracle, as far as the store supports them.
func checkColumns(t *testing.T, where string, req store.Request, a, oracle store.Backend) {
	t.Helper()
	ctx := context.Background()
	names := []string{"n", "c", "many", "none"}
	if f, ok := a.(store.Faceter); ok {
		got, err := f.Facets(ctx, req, names, 3)
		want, err2 := oracle.(store.Faceter).Facets(ctx, req, names, 3)
		must.That(t, err == nil && err2 == nil && reflect.DeepEqual(got, want),
			"%s: %+v %+v: facets are\n%+v, %v\nthe oracle's\n%+v, %v", where, req.Text, req.Filter, got, err, want, err2)
	}
	s, ok := a.(store.Sorter)
	if !ok {
		return
	}
	for _, name := range names {
		for _, descending := range []bool{false, true} {
			by := store.Order{Column: name, Descending: descending}
			got, err := s.Sorted(ctx, req, by)
			want, err2 := oracle.(store.Sorter).Sorted(ctx, req, by)
			if err != nil || err2 != nil || ids(got) != ids(want) {
				t.Fatalf("%s: %+v %+v by %+v:\n%s, %v\nthe oracle's\n%s, %v", where, req.Text, req.Filter, by, ids(got), err,
					ids(want), err2)
			}
			for i := range got {
				if !near(a, got[i].Score, want[i].Score) {
					t.Fatalf("%s: %+v by %+v: %s scores %v, the oracle gives %v", where, req.Text, by, got[i].ID, got[i].Score,
						want[i].Score)
				}
			}
		}
	}
}
