package search_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	words "sheaf/text/query"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/search"
	"sheaf/store"
	"sheaf/text/analysis"
)

// inEngine returns a searcher of notes in the embedded engine, which can count words.
func inEngine(t testing.TB, notes *shelf, language string) *search.Searcher {
	t.Helper()
	a := must.Get(analysis.New(analysis.Options{Language: language}))
	st := openEngine(t, a, []store.VectorField{{Name: store.VectorBody, Model: "four words", Dims: 4},
		{Name: store.VectorTitle, Model: "four words", Dims: 4}})
	t.Cleanup(func() { _ = st.Close() })
	for all := range slices.Chunk(notes.stored, 1000) {
		must.Do(t, st.Write(t.Context(), store.Batch{Chunks: all}))
	}
	s := searcher(notes)
	s.Backend, s.Store, s.Analyzer = st, "the engine", a
	return s
}

// bounds holds the largest value of each part of the default ranking, by the start of its label.
var bounds = map[string]float64{
	"words / all that was asked for": 1, "similarity": 1.00001, "share of the query in the name": 1,
	"share of the name in the query": 1, "share of the query's pairs": 1,
	"words side by side": 0.13, "name of the document": 0.35, "own heading": 0.21, "the title equals": 0.65,
	"an alias equals": 0.585, "the file name equals": 0.585, "the heading equals": 0.26,
}

// checkBounds fails when a part of an explanation is NaN, negative or above its bound.
func checkBounds(t *testing.T, what string, e *sheaf.Explanation) {
	t.Helper()
	for begin, most := range bounds {
		if strings.HasPrefix(e.Label, begin) && !(e.Value >= -1e-9 && e.Value <= most+1e-9) { // also for NaN
			t.Fatalf("%s: %q is %v, at most %v is possible", what, e.Label, e.Value, most)
		}
	}
	for i := range e.Parts {
		checkBounds(t, what, &e.Parts[i])
	}
}

// checkShares searches twice with the default profile. It checks that the answers are equal, and that parts add up to
// the scores and stay within bounds.
func checkShares(t *testing.T, s *search.Searcher, what string, q sheaf.Query) *search.Result {
	t.Helper()
	p := load(t, "sheaf")
	r := mustSearch(t, s, q, p, search.Options{Explain: true})
	again := mustSearch(t, s, q, p, search.Options{Explain: true})
	must.That(t, reflect.DeepEqual(r.Hits, again.Hits), "%s: %v, and then %v", what, found(r), found(again))
	must.That(t, !r.Degraded, "%s: %q", what, r.Warnings)
	for _, h := range r.Hits {
		must.That(t, !math.IsNaN(h.Score) && !math.IsInf(h.Score, 0), "%s: %s scores %v", what, h.ID, h.Score)
		checkReason(t, what, h.Score, h.Explanation)
		checkBounds(t, what, h.Explanation)
	}
	return r
}

// labeled returns the values of the parts of an explanation whose labels start with begin.
func labeled(e *sheaf.Explanation, begin string) (out []float64) {
	if strings.HasPrefix(e.Label, begin) {
		out = append(out, e.Value)
	}
	for i := range e.Parts {
		out = append(out, labeled(&e.Parts[i], begin)...)
	}
	return out
}

// oddQueries are unusual queries.
func oddQueries() map[string]string {
	many, rare := make([]string, 1000), make([]string, 1000)
	for i := range many {
		many[i] = []string{"cat", "dog", "tree", "stone", "the"}[i%5] + fmt.Sprint(i%7)
		rare[i] = fmt.Sprint("common", i)
		if i >= 256 {
			rare[i] = fmt.Sprint("unique", i)
		}
	}
	return map[string]string{
		"function words": "the a of and in", "one letter": "a", "another letter": "x", "1,000 words": strings.Join(many, " "),
		"one word 1,000 times":            strings.Repeat("cat ", 1000),
		"1,000 words, the rare ones last": strings.Join(rare, " "),
		"source code": "func (r *Row) add(stage string) error {\n\tif err := r.valid(stage); err != " +
			"nil {\n\t\treturn err // cat.dog()\n\t}\n}", "another language": "кошка ест рыбу",
		"another script": "猫が魚を食べる", "marks": "?!… \"", "a very long word": strings.Repeat("abc", 5000),
		"numbers": "1 2 3 10.5", "a compound": "cat.dog cat_tree catDog",
		"a question": "how does the cat eat the fish?", "a name": "cats", "a heading": "Sleep", "white space": " \t\n",
	}
}

// TestOddQueries checks that no part leaves its bounds, for unusual queries and documents.
func TestOddQueries(t *testing.T) {
	must.Whole(t, "thousands of searches")
	titled := func(n int, title func(i int) string) map[string][]string {
		docs := map[string][]string{}
		for i := range n {
			docs[fmt.Sprintf("%03d.md", i)] = []string{title(i) + ": the cat eats fish beside dog " + fmt.Sprint(i%5)}
		}
		return docs
	}
	unique, common, rare := titled(8, func(i int) string { return "Food" }), "", ""
	for i := range 256 {
		common += fmt.Sprint(" common", i)
	}
	for i := 256; i < 1000; i++ {
		rare += fmt.Sprint(" unique", i)
	}
	for name := range unique {
		unique[name] = []string{"Food: " + common}
	}
	unique["007.md"] = []string{"Food: " + common, "Rare: " + rare}
	shelves := map[string]*shelf{
		"animals": newShelf(map[string][]string{"cats.md": {"Food: a cat eats fish", "Sleep: the cat " +
			"sleeps on a stone"}, "dogs.md": {"Food: a dog eats meat", "Walk: the dog runs"}}),
		"two documents":     newShelf(map[string][]string{"cats.md": {"Food: a cat eats fish"}, "dogs.md": nil}),
		"one title for all": newShelf(titled(60, func(int) string { return "Food" })),
		"without titles":    newShelf(titled(20, func(int) string { return "" })),
		"long titles": newShelf(titled(20, func(i int) string {
			return strings.Repeat("cat dog eats x"+fmt.Sprint(i)+" ", 125)
		})),
		"unique words": newShelf(unique),
		"nothing":      newShelf(nil),
	}
	for _, d := range shelves["without titles"].docs {
		for i := range d.Chunks {
			d.Chunks[i].Title = ""
		}
	}
	for name, notes := range shelves {
		s := inEngine(t, notes, "en")
		for what, text := range oddQueries() {
			start := time.Now()
			r := checkShares(t, s, name+", "+what, words.Parse(text, words.Options{Limit: 10, Now: s.Now()}))
			took := time.Since(start)
			check.That(t, took <= 20*time.Second, "%s, %s: two searches took %v", name, what, took)
			check.That(t, what != "a heading" || name != "animals" || found(r)[0] == "cats.md#Sleep",
				"%s: found %v", what, found(r))
			check.That(t, what != "a name" || name != "animals" || found(r)[0] == "cats.md", "%s: found %v", what, found(r))
		}
	}
}

// TestManyEqualHeadings checks that 10,000 sections with the same heading are ranked fast, in the same order each
// time.
func TestManyEqualHeadings(t *testing.T) {
	must.Whole(t, "thousands of searches")
	docs := map[string][]string{}
	for i := range 10_000 {
		docs[fmt.Sprintf("%05d.md", i)] = []string{"Food: cat eats " + []string{"fish", "fish and meat"}[i%2]}
	}
	s := inEngine(t, newShelf(docs), "en")
	start := time.Now()
	for _, text := range []string{"food", "cat eats fish", "what food does the cat eat"} {
		r := checkShares(t, s, text, words.Parse(text, words.Options{Limit: 10, Now: s.Now()}))
		check.Equal(t, len(r.Hits), 10, "%s: hits", text)
	}
	took := time.Since(start)
	check.That(t, took <= 30*time.Second, "six searches took %v", took)
}

// TestWordsShareOfCompounds checks that the words part is at most 1 for plain words and compounds.
func TestWordsShareOfCompounds(t *testing.T) {
	must.Whole(t, "thousands of searches")
	list := []string{"ref", "current", "ref.current", "git", "hub", "GitHub", "git_hub", "x.y.z", "useState", "state",
		"use", "the", "a.the", "e-mail", "mail", "C++", "10.5", "foo/bar", "bar", "naïve", "日本語", "日本", "ab12"}
	text := func(rng *rand.Rand, n int) string {
		out := make([]string, 1+rng.IntN(n))
		for i := range out {
			out[i] = list[rng.IntN(len(list))]
		}
		return strings.Join(out, " ")
	}
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 23))
		docs := map[string][]string{}
		for i := range 1 + rng.IntN(30) {
			docs[fmt.Sprintf("%02d.md", i)] = []string{text(rng, 3) + ": " + text(rng, 12), "More: " +
				strings.Repeat(text(rng, 3)+" ", 1+rng.IntN(20))}
		}
		s := inEngine(t, newShelf(docs), "en")
		for range 25 {
			q := text(rng, 5)
			checkShares(t, s, fmt.Sprintf("seed %d, %q", seed, q), query(q, 20))
		}
	}
}

// TestPairsOfOverlappingTerms checks pairs in a script without spaces, where terms overlap. Their
// pairs count in the total of the query, but add nothing to a hit.
func TestPairsOfOverlappingTerms(t *testing.T) {
	notes := newShelf(map[string][]string{"a.md": {"A: 東京都庁 tall building", "B: 京都 old town"},
		"b.md": {"C: building tall"}})
	s := inEngine(t, notes, "en")
	for text, want := range map[string]float64{"東京都庁": 0, "tall building": 1} {
		r := checkShares(t, s, text, query(text, 5))
		at := slices.IndexFunc(r.Hits, func(h search.Hit) bool { return h.ID == "t:a.md#A" })
		must.That(t, at >= 0, "%s: found %v", text, found(r))
		got := 0.0
		for _, v := range labeled(r.Hits[at].Explanation, "share of the query's pairs") {
			got += v
		}
		check.Equal(t, got, want, "%s: the share of pairs", text)
	}
	// The pair of the two other words is less than the total, which includes the overlapping pairs.
	r := checkShares(t, s, "both", query("東京都庁 tall building", 5))
	at := slices.IndexFunc(r.Hits, func(h search.Hit) bool { return h.ID == "t:a.md#A" })
	must.That(t, at >= 0, "found %v", found(r))
	got := labeled(r.Hits[at].Explanation, "share of the query's pairs")
	check.That(t, len(got) == 1 && got[0] > 0 && got[0] < 1, "shares of pairs are %v, want one within 0..1", got)
}

// retriever is a store that can count. It gives scores only by Retrieve.
type retriever struct {
	store.Backend
	store.Counter
	explainer
}

type explainer = store.Explainer

// TestPairsWithoutScorer checks that a store that cannot score given chunks gives the same answers.
func TestPairsWithoutScorer(t *testing.T) {
	notes := newShelf(map[string][]string{
		"a.md": {"A: undo a commit that was pushed", "B: commit what was undone"},
		"b.md": {"C: a pushed commit, undo", "D: undo commit undo a commit"}, "c.md": {"E: nothing"},
	})
	s := inEngine(t, notes, "en")
	_, ok := s.Backend.(store.Scorer)
	must.That(t, ok, "the engine tells no scores")
	there := *s
	there.Backend = retriever{s.Backend, s.Backend.(store.Counter), s.Backend.(store.Explainer)}
	_, ok = there.Backend.(store.Scorer)
	must.That(t, !ok, "the store tells scores")
	for _, text := range []string{"undo a commit", "pushed commit", "undo", "the commit"} {
		want, got := checkShares(t, s, text, query(text, 10)), checkShares(t, &there, text, query(text, 10))
		check.That(t, reflect.DeepEqual(want.Hits, got.Hits) && reflect.DeepEqual(want.Legs, got.Legs),
			"%s:\n got %+v\nwant %+v", text, got.Hits, want.Hits)
	}
}

// slow is a store that counts or finds phrases only after the request has timed out.
type slow struct {
	store.Backend
	store.Counter
	counts, phrases bool
	cancel          func()
}

func (s *slow) wait(ctx context.Context) error {
	if s.cancel != nil {
		s.cancel()
	}
	<-ctx.Done()
	return ctx.Err()
}

func (s *slow) Count(ctx context.Context, req store.Request) (int, error) {
	if s.counts {
		return 0, s.wait(ctx)
	}
	return s.Counter.Count(ctx, req)
}

func (s *slow) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	if req.Text != nil && s.phrases {
		if _, ok := req.Text.Query.(sheaf.Phrase); ok {
			return nil, s.wait(ctx)
		}
	}
	return s.Backend.Retrieve(ctx, req)
}

// TestPairsInTime checks that a timeout during the lookup of pairs causes a warning and keeps the
// other scores. A canceled search returns no answer.
func TestPairsInTime(t *testing.T) {
	notes := newShelf(map[string][]string{"a.md": {"A: undo a commit"}, "b.md": {"B: commit undo"}})
	s := inEngine(t, notes, "en")
	for _, name := range []string{"sheaf", "pairs"} {
		p := load(t, "sheaf")
		if name == "pairs" {
			p = parse(t, "name: pairs\nbranches: [{retrieve: text, fields: {body: 1}, limit: 9}]\n"+
				"then: [names, word_pairs, {top: limit}]\n")
		}
		there := *s
		there.Backend = &slow{Backend: s.Backend, Counter: s.Backend.(store.Counter), phrases: true}
		r := inTime(t, &there, query("undo a commit", 5), p, search.Options{Explain: true})
		if !r.Degraded || len(r.Hits) == 0 || !slices.ContainsFunc(r.Warnings, func(w string) bool {
			return strings.Contains(w, "words side by side")
		}) {
			t.Errorf("%s: degraded %t, found %v, warnings %q", name, r.Degraded, found(r), r.Warnings)
		}
		ctx, cancel := context.WithCancel(t.Context())
		there.Backend = &slow{Backend: s.Backend, Counter: s.Backend.(store.Counter), phrases: true, cancel: cancel}
		if r, err := there.Search(ctx, query("undo a commit", 5), p, search.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: canceled: %v, %v", name, r, err)
		}
		cancel()
		// A timeout while the store counts words causes a warning, too.
		there.Backend = &slow{Backend: s.Backend, Counter: s.Backend.(store.Counter), counts: true}
		r = inTime(t, &there, query("undo a commit", 5), p, search.Options{Explain: true})
		if !r.Degraded || len(r.Hits) == 0 || !slices.ContainsFunc(r.Warnings, func(w string) bool {
			return strings.Contains(w, "timed out before the words of the query were counted")
		}) {
			t.Errorf("%s: counting takes too long: %+v", name, r)
		}
		ctx, cancel = context.WithCancel(t.Context())
		there.Backend = &slow{Backend: s.Backend, Counter: s.Backend.(store.Counter), counts: true, cancel: cancel}
		r, err := there.Search(ctx, query("undo a commit", 5), p, search.Options{})
		check.That(t, errors.Is(err, context.Canceled), "%s: canceled while counting: %v, %v", name, r, err)
		cancel()
	}
}

// TestStagesOfAStoreThatCannotCount checks that equal names still count, and that a fault is an error.
func TestStagesOfAStoreThatCannotCount(t *testing.T) {
	notes := newShelf(map[string][]string{"a.md": {"Undo a commit: how", "B: undo"},
		"b.md": {"C: undo a commit, undo a commit, undo a commit"}})
	s := inEngine(t, notes, "en")
	there := *s
	for name, st := range map[string]store.Backend{
		"not at all":       struct{ store.Backend }{s.Backend},
		"not this request": &uncounted{Backend: s.Backend, fault: fmt.Errorf("count: %w", sheaf.ErrUnsupported)},
	} {
		there.Backend = st
		r := checkShares(t, &there, name, query("Undo a commit", 5))
		check.That(t, len(r.Hits) != 0 && found(r)[0] == "a.md#Undo a commit" &&
			len(labeled(r.Hits[0].Explanation, "the heading equals")) == 1, "%s: found %v", name, found(r))
	}
	there.Backend = &uncounted{Backend: s.Backend, fault: errDown}
	r, err := there.Search(t.Context(), query("undo a commit", 5), load(t, "sheaf"), search.Options{})
	check.That(t, errors.Is(err, errDown), "a store that is down: %v, %v", r, err)
}
