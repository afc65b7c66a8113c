package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/store"
)

func load(t testing.TB, name string) *profile.Profile {
	t.Helper()
	return must.Get(profile.Load(name, profile.Builtin))
}

func mustSearch(t testing.TB, s *search.Searcher, q sheaf.Query, p *profile.Profile,
	opt search.Options) *search.Result {
	t.Helper()
	return must.Get(s.Search(context.Background(), q, p, opt))
}

// inTime searches with a deadline of 200 ms.
func inTime(t testing.TB, s *search.Searcher, q sheaf.Query, p *profile.Profile, opt search.Options) *search.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	return must.Get(s.Search(ctx, q, p, opt))
}

func found(r *search.Result) []string {
	out := []string{}
	for _, h := range r.Hits {
		out = append(out, strings.TrimPrefix(string(h.ID), "t:"))
	}
	return out
}

func TestSearch(t *testing.T) {
	r := mustSearch(t, searcher(animals()), query("cat", 3), load(t, "rrf"), search.Options{Trace: true})
	got := found(r)
	check.That(t, len(got) == 3 && (got[0] == "garden.md#Visitors" || got[0] == "cats.md#Food"), "found %v", got)
	h := r.Hits[0]
	if h.Rank != 1 || h.Title == "" || h.Path == "" || h.Doc == "" || h.Breadcrumb == "" || len(h.Hierarchy) != 2 ||
		len(h.Legs) != 2 || h.Depth != 1 {
		t.Errorf("the hit lacks something: %+v", h)
	}
	check.That(t, !r.Degraded && len(r.Warnings) == 0 && len(r.Notes) == 0,
		"faults without reason: %v %v", r.Warnings, r.Notes)
	check.That(t, fmt.Sprint(r.Legs) == "[vector text]" && r.Total != 0 && len(r.Took) != 0 && len(r.Trace) == 4,
		"legs %v, total %d, %d timings, %d snapshots", r.Legs, r.Total, len(r.Took), len(r.Trace))
}

func builtins(t *testing.T) []string {
	infos := must.Get(profile.List())
	var names []string
	for _, info := range infos {
		names = append(names, info.Name)
	}
	return names
}

// TestEveryProfileExplains checks that every profile explains every score, and that the parts add up to the score. An
// explanation changes nothing else. The same query gives an identical answer.
func TestEveryProfileExplains(t *testing.T) {
	s := searcher(animals())
	for _, name := range builtins(t) {
		p := load(t, name)
		for _, text := range []string{"cat", "a dog in a tree", "cats", "stone cat dog"} {
			what := name + ": " + text
			plain := mustSearch(t, s, query(text, 5), p, search.Options{})
			again := mustSearch(t, s, query(text, 5), p, search.Options{})
			plain.Took, again.Took = nil, nil
			must.That(t, reflect.DeepEqual(plain, again), "%s: the second answer differs", what)
			explained := mustSearch(t, s, query(text, 5), p, search.Options{Explain: true})
			must.That(t, len(plain.Hits) != 0 || name == "tree", "%s: nothing found", what)
			for i, h := range explained.Hits {
				must.That(t, h.ID == plain.Hits[i].ID && h.Score == plain.Hits[i].Score,
					"%s: explained, rank %d is %s with %v and not %s with %v", what, i+1, h.ID, h.Score, plain.Hits[i].ID,
					plain.Hits[i].Score)
				checkReason(t, what, h.Score, h.Explanation)
				text := fmt.Sprintf("%+v", *h.Explanation)
				check.That(t, strings.Contains(text, "Label:cosine") || strings.Contains(text, "Label:share"),
					"%s: the explanation of %s does not reach the store's parts: %s", what, h.ID, text)
			}
		}
	}
}

func checkReason(t *testing.T, what string, score float64, e *sheaf.Explanation) {
	t.Helper()
	must.That(t, e != nil, "%s: no explanation", what)
	for _, v := range []float64{e.Value, e.Recombine()} {
		must.That(t, math.Abs(v-score) <= 1e-9*max(1, math.Abs(score)), "%s: %q is %v and gives %v", what, e.Label, score, v)
	}
	for i := range e.Parts {
		checkReason(t, what, e.Parts[i].Value, &e.Parts[i])
	}
}

func vectors(req store.Request) bool { return req.Vector != nil }

// TestStepsLeadToTheFusion checks that the fusion gets every hit as the last step of its branch left it.
func TestStepsLeadToTheFusion(t *testing.T) {
	for _, name := range []string{"sheaf", "rrf", "bench", "sonar", "onyx-elastic", "onyx-vespa"} {
		r := mustSearch(t, searcher(animals()), query("cat dog", 9), load(t, name), search.Options{Trace: true})
		last := map[string]sheaf.Ranking{}
		for _, step := range r.Trace {
			if !step.First {
				last[step.Branch] = step.Ranking
			}
		}
		compared := 0
		for _, h := range r.Hits {
			if len(h.Constituents) > 0 { // its legs belong to its best section
				continue
			}
			for i, leg := range h.Legs {
				ranking := last[r.Legs[i]]
				at := slices.IndexFunc(ranking, func(s sheaf.Hit) bool { return s.ID == h.ID })
				check.That(t, at+1 == leg.Rank && (at < 0 || ranking[at].Score == leg.Score),
					"%s: %s in %s: rank %d with %g, and the last step has it at %d", name, h.ID, r.Legs[i], leg.Rank, leg.Score, at+1)
				compared++
			}
		}
		check.That(t, compared != 0, "%s: nothing was compared", name)
	}
}

func TestDegrades(t *testing.T) {
	shelf := animals()
	shelf.fail = func(req store.Request) error {
		if vectors(req) {
			return errDown
		}
		return nil
	}
	r := mustSearch(t, searcher(shelf), query("cat", 3), load(t, "sheaf"), search.Options{})
	check.That(t, r.Degraded && len(r.Warnings) == 1 &&
		strings.Contains(r.Warnings[0], "branch meaning on shelf: connection refused") && len(r.Hits) != 0,
		"got %v, %v, %d hits", r.Degraded, r.Warnings, len(r.Hits))
	shelf.fail = func(store.Request) error { return errDown }
	_, err := searcher(shelf).Search(context.Background(), query("cat", 3), load(t, "sheaf"), search.Options{})
	check.That(t, errors.Is(err, sheaf.ErrUnavailable) && errors.Is(err, errDown), "every branch down: %v", err)
	shelf.fail = func(store.Request) error { return fmt.Errorf("no such index: %w", sheaf.ErrNotFound) }
	_, err = searcher(shelf).Search(context.Background(), query("cat", 3), load(t, "sheaf"), search.Options{})
	check.That(t, errors.Is(err, sheaf.ErrUnavailable) && !errors.Is(err, sheaf.ErrNotFound) &&
		strings.Contains(fmt.Sprint(err), "fill it again with sheaf index --rebuild"), "what was filled is gone: %v", err)
	shelf.fail = func(req store.Request) error {
		if vectors(req) {
			return fmt.Errorf("vectors: %w", sheaf.ErrUnsupported)
		}
		return nil
	}
	_, err = searcher(shelf).Search(context.Background(), query("cat", 3), load(t, "sheaf"), search.Options{})
	check.That(t, errors.Is(err, sheaf.ErrUnsupported) && strings.Contains(err.Error(), "meaning on shelf"),
		"an unsupported request: %v", err)
}

func TestBadScoresNameTheStore(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		shelf := animals()
		shelf.spoil = func(r sheaf.Ranking) { r[0].Score = bad }
		_, err := searcher(shelf).Search(context.Background(), query("cat", 3), load(t, "rrf"), search.Options{})
		check.That(t, err != nil && strings.Contains(err.Error(), "shelf"), "%v: %v", bad, err)
	}
}

func TestWithoutAModel(t *testing.T) {
	s := searcher(animals())
	s.Embed = nil
	for _, name := range builtins(t) {
		r := mustSearch(t, s, query("cat", 3), load(t, name), search.Options{})
		if r.Degraded || len(r.Hits) == 0 || name != "tree" && name != "tiered" &&
			(len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "no embedding model")) {
			t.Errorf("%s: degraded %v, notes %v, %d hits", name, r.Degraded, r.Notes, len(r.Hits))
		}
	}
	only := parse(t, "name: only\nbranches: [{retrieve: vector}]\n")
	check.Is(t, must.Err(s.Search(context.Background(), query("cat", 3), only, search.Options{})), sheaf.ErrUnsupported,
		"only vectors and no model")
	s.Embed = func(context.Context, []string) ([][]float32, error) { return nil, errDown }
	r := mustSearch(t, s, query("cat", 3), load(t, "sheaf"), search.Options{})
	check.That(t, r.Degraded && strings.Contains(r.Warnings[0], "embed the query"), "a model that is down: %v %v",
		r.Degraded, r.Warnings)
	check.Is(t, must.Err(s.Search(context.Background(), query("cat", 3), only, search.Options{})), sheaf.ErrUnavailable,
		"only vectors and the model down")
}

// TestNoteOfWordsOnly checks that a note says that only words were searched when meaning has the
// weight 0. A query of filters alone has no meaning, so it gets no note.
func TestNoteOfWordsOnly(t *testing.T) {
	s := searcher(animals())
	for _, c := range []struct {
		q    sheaf.Query
		want []string
	}{
		{query("cat", 3), []string{"searched by words only: the weight of meaning is 0"}},
		{sheaf.Query{Filter: sheaf.Exists{Column: sheaf.ColumnPath}, Limit: 3}, nil},
		{sheaf.Query{Text: "path:cats", Words: sheaf.Match{Text: "cats", Field: sheaf.FieldPath}, Limit: 3}, nil},
		{sheaf.Query{Limit: 3}, []string{"the query is empty"}},
	} {
		opt := search.Options{Parameters: map[string]string{"meaning": "0"}}
		r := mustSearch(t, s, c.q, load(t, "sheaf"), opt)
		check.That(t, slices.Equal(r.Notes, c.want), "%+v: notes %q, want %q", c.q, r.Notes, c.want)
	}
}

// TestWeightZero checks that a branch of weight 0 does not run, and that its model is not called.
func TestWeightZero(t *testing.T) {
	shelf := animals()
	s := searcher(shelf)
	s.Embed = func(context.Context, []string) ([][]float32, error) {
		t.Error("embedded for nothing")
		return nil, errDown
	}
	r := mustSearch(t, s, query("cat", 3), load(t, "sheaf"), search.Options{Parameters: map[string]string{"meaning": "0"}})
	check.That(t, shelf.requests.Load() == 1 && len(r.Legs) == 1 && !r.Degraded, "%d requests, legs %v",
		shelf.requests.Load(), r.Legs)
	want := []string{"searched by words only: the weight of meaning is 0"}
	check.That(t, slices.Equal(r.Notes, want), "notes %q, want %q", r.Notes, want)
	shelf = animals()
	shelf.fail = func(req store.Request) error {
		check.That(t, vectors(req), "searched by words for nothing")
		return nil
	}
	if r := mustSearch(t, searcher(shelf), query("cat", 3), load(t, "rrf"),
		search.Options{Parameters: map[string]string{"vector_weight": "1"}}); !slices.Equal(r.Legs, []string{"vector"}) {
		t.Errorf("legs %v", r.Legs)
	}
	// Also check several vector branches, with and without a first phase.
	for _, trace := range []bool{false, true} {
		o := search.Options{Parameters: map[string]string{"title_content_ratio": "0", "rerank_count": "2"}, Trace: trace}
		r := mustSearch(t, searcher(animals()), query("cat", 5), load(t, "onyx-vespa"), o)
		check.That(t, slices.Equal(r.Legs, []string{"content-vector", "content-words"}) && len(r.Hits) == 2,
			"trace %v: legs %v, %d found, want 2", trace, r.Legs, len(r.Hits))
		check.That(t, !slices.ContainsFunc(r.Notes, func(note string) bool { return strings.Contains(note, "by meaning") }),
			"trace %v: notes %q, and it was searched by meaning", trace, r.Notes)
	}
}

func TestBranchesRunTogether(t *testing.T) {
	shelf := animals()
	var both sync.WaitGroup
	both.Add(2)
	shelf.fail = func(store.Request) error { // each request waits for the other request
		both.Done()
		both.Wait()
		return nil
	}
	r := mustSearch(t, searcher(shelf), query("cat", 3), load(t, "rrf"), search.Options{})
	check.That(t, !r.Degraded, "%v", r.Warnings)
}

func TestTimeoutAndCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shelf := animals()
		shelf.delay = func(req store.Request) time.Duration {
			if vectors(req) {
				return time.Hour
			}
			return 0
		}
		r := inTime(t, searcher(shelf), query("cat", 3), load(t, "rrf"), search.Options{})
		check.That(t, r.Degraded && len(r.Hits) != 0, "degraded %v, %d hits", r.Degraded, len(r.Hits))
		// Branches answer, but later scores of their hits do not. A warning says so.
		shelf.delay = func(req store.Request) time.Duration {
			if req.Within != nil {
				return time.Hour
			}
			return 0
		}
		r = inTime(t, searcher(shelf), query("cat tree", 3), narrow(t), search.Options{})
		if !r.Degraded || len(r.Hits) == 0 || !slices.ContainsFunc(r.Warnings, func(w string) bool {
			return strings.Contains(w, "timed out before all scores")
		}) {
			t.Errorf("degraded %v, %d hits, warnings %q", r.Degraded, len(r.Hits), r.Warnings)
		}
		shelf.delay = func(req store.Request) time.Duration {
			if vectors(req) {
				return time.Hour
			}
			return 0
		}
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(20*time.Millisecond, cancel)
		check.Is(t, must.Err(searcher(shelf).Search(ctx, query("cat", 3), load(t, "rrf"), search.Options{})),
			context.Canceled, "canceled")
	})
}

// TestCanceledAtAnyPoint checks that a canceled search returns no answer, at any point. A partial
// answer would look as if a server were slow.
func TestCanceledAtAnyPoint(t *testing.T) {
	shelf := animals()
	for at := int64(1); ; at++ {
		ctx, cancel := context.WithCancel(t.Context())
		var asked atomic.Int64
		shelf.delay = func(store.Request) time.Duration {
			if asked.Add(1) == at {
				cancel()
				return time.Hour
			}
			return 0
		}
		r, err := searcher(shelf).Search(ctx, query("cat tree", 3), narrow(t), search.Options{Explain: true})
		cancel()
		if asked.Load() < at { // all requests were canceled
			check.That(t, at >= 7, "the store is asked %d times", at-1)
			return
		}
		check.Is(t, err, context.Canceled, "canceled at request %d: %v", at, r)
	}
}

func TestDeadChunksAreDropped(t *testing.T) {
	shelf := animals()
	delete(shelf.chunks, "t:garden.md#Visitors")
	garden := shelf.docs["t:garden.md"]
	garden.Chunks = slices.DeleteFunc(garden.Chunks, func(c sheaf.Chunk) bool { return c.ID == "t:garden.md#Visitors" })
	for _, name := range builtins(t) {
		for _, h := range mustSearch(t, searcher(shelf), query("cat", 10), load(t, name), search.Options{}).Hits {
			check.That(t, h.ID != "t:garden.md#Visitors", "%s gives a chunk that does not exist", name)
		}
	}
}

func TestNothingFound(t *testing.T) {
	s := searcher(animals())
	s.Embed = nil
	r := mustSearch(t, s, query("zebra", 3), load(t, "sheaf"), search.Options{Explain: true})
	check.That(t, r.Hits != nil && len(r.Hits) == 0 && r.Total == 0, "got %v", r.Hits)
	r = mustSearch(t, s, sheaf.Query{Text: "", Limit: 3}, load(t, "sheaf"), search.Options{})
	check.That(t, len(r.Hits) == 0 && len(r.Notes) != 0, "no words: %v, notes %v", r.Hits, r.Notes)
	// A stage may drop every hit.
	p := parse(t, "name: p\nbranches: [{retrieve: text, fields: {body: 1}}]\nthen: [{adaptive: "+
		"{floor: 0, absolute: 1000}}]\n")
	if r = mustSearch(t, s, query("cat", 3), p, search.Options{}); len(r.Hits) != 0 ||
		!slices.Contains(r.Notes, "the stage adaptive: {floor: 0, absolute: 1000} drops every result") {
		t.Errorf("%v of %d, notes %v", found(r), r.Total, r.Notes)
	}
	// Punctuation alone has no meaning to search by.
	for _, name := range builtins(t) {
		r := mustSearch(t, searcher(animals()), query("!? \"", 3), load(t, name), search.Options{})
		check.That(t, len(r.Hits) == 0, "%s: marks find %v", name, found(r))
	}
}

func TestWrongRequests(t *testing.T) {
	s := searcher(animals())
	for _, limit := range []int{0, -3, 1 << 30} {
		check.Is(t, must.Err(s.Search(context.Background(), query("cat", limit), load(t, "sheaf"), search.Options{})),
			sheaf.ErrInvalid, "limit %d", limit)
	}
	check.Is(t, must.Err(s.Search(context.Background(), query("cat", 3), load(t, "sheaf"),
		search.Options{Parameters: map[string]string{"meaning": "7"}})), sheaf.ErrInvalid, "a parameter out of range")
	check.Is(t, must.Err((&search.Searcher{}).Search(context.Background(), query("cat", 3), load(t, "sheaf"),
		search.Options{})), sheaf.ErrInvalid, "no store")
}

// TestAnswersDoNotChange checks that an answer does not depend on earlier searches, and does not change during later
// searches.
func TestAnswersDoNotChange(t *testing.T) {
	s := searcher(animals())
	type asked struct {
		q   sheaf.Query
		p   *profile.Profile
		opt search.Options
	}
	var all []asked
	for _, name := range []string{"sheaf", "rrf", "tree", "onyx-vespa", "onyx-elastic", "sonar", "bench"} {
		for i, text := range []string{"cat dog", "stone", "a tree and a cat", "meat fish", "nothing"} {
			all = append(all, asked{query(text, 1+i%4), load(t, name), search.Options{Explain: i%2 == 0, Evidence: i%3 == 0}})
		}
	}
	written := func(r *search.Result) string {
		text, err := json.Marshal([]any{r.Profile, r.Parameters, r.Hits, r.Total, r.More, r.Answerable, r.Warnings, r.Notes,
			r.Legs})
		check.That(t, err == nil, "%v", err)
		return string(text)
	}
	results, want := make([]*search.Result, len(all)), make([]string, len(all))
	for i, a := range all {
		results[i] = mustSearch(t, s, a.q, a.p, a.opt)
		want[i] = written(results[i])
	}
	var wg sync.WaitGroup
	for n := range 6 {
		wg.Go(func() {
			for k := range all {
				i := (k*(2*n+3) + n) % len(all)
				r, err := s.Search(context.Background(), all[i].q, all[i].p, all[i].opt)
				if err != nil {
					t.Error(err)
				} else if got := written(r); got != want[i] {
					t.Errorf("%q by %s:\n got %s\nwant %s", all[i].q.Text, all[i].p.Name, got, want[i])
				}
			}
		})
	}
	wg.Wait()
	for i, r := range results {
		check.Equal(t, written(r), want[i], "%q by %s, after other queries", all[i].q.Text, all[i].p.Name)
	}
}

// narrow returns the default profile with branches that retrieve two chunks and one passage.
func narrow(t *testing.T) *profile.Profile {
	t.Helper()
	p := parse(t, "name: narrow\nextends: sheaf\nbranches:\n  words: {limit: 2}\n  "+
		"meaning: {limit: 1}\n")
	return p
}

// atLeast is a profile with a branch that sets at_least.
const atLeast = `
name: at-least
branches:
  - {name: meaning, retrieve: vector, field: body, limit: 20,
     then: [{adaptive: {floor: 0, relative: 0, absolute: 0.77}}]}
  - {name: titles, retrieve: vector, field: title, limit: 20, at_least: meaning,
     then: [{adaptive: {floor: 0, relative: 0, absolute: 0.77}}]}
fuse: {method: scores, norm: none, mean: sum}
then: [{top: limit}]
`

func TestWhyNot(t *testing.T) {
	s := searcher(animals())
	ctx := context.Background()
	filtered := query("cat", 2)
	filtered.Filter = sheaf.In{Column: sheaf.ColumnDoc, Values: []sheaf.Value{sheaf.TextValue("t:dogs.md")}}
	for _, test := range []struct {
		what    string
		q       sheaf.Query
		profile string
		set     map[string]string
		id      sheaf.ID
		want    string
	}{
		{"it is there", query("cat", 9), "rrf", nil, "t:cats.md#Food", "it is there: rank"},
		{"nothing is asked", sheaf.Query{Limit: 9}, "sheaf", nil, "t:cats.md#Food", "the query has no words to look for"},
		{"no word matches", query("meat", 9), "tree", nil, "t:cats.md#Food", "the words of the query do not match it"},
		{"which words it lacks", query("cat meat unicorn", 1), "tree", nil, "t:cats.md#Food", `it lacks "meat", "unicorn"`},
		{"filtered", filtered, "tree", nil, "t:cats.md#Food", "the filter leaves it out"},
		{"outside the window", query("cat dog", 2), "onyx-elastic", map[string]string{"rank_window_size": "1"},
			"t:cats.md#Sleep", "it lies outside the window"},
		{"lost at a stage", query("cat", 1), "rrf", nil, "t:cats.md#Sleep", "top: {n: 1}: lost it, from rank"},
		{"became part of another", query("cat", 3), "sonar", nil, "t:cats.md#Food", "it became part of t:cats.md"},
		{"a document by its sections", query("cat", 1), "rrf", nil, "t:garden.md", "of its sections, first " +
			"t:garden.md#Visitors at rank"},
		{"the section of a document is followed", query("cat", 1), "tree", map[string]string{"aggregation_threshold": "1"},
			"t:garden.md", "its section t:garden.md#Visitors: top: {n: 1}: lost it, from rank"},
		{"the section of a document that the first phase left out", query("cat", 1), "onyx-vespa",
			map[string]string{"rerank_count": "5"}, "t:garden.md", "its section t:garden.md#Visitors: top: {n: 1}: lost " +
				"it, from rank"},
		{"beyond what the first phase lets through", query("cat dog", 1), "onyx-vespa",
			map[string]string{"rerank_count": "1"}, "t:cats.md#Sleep", "and only the first goes on"},
		{"a document that it drops", query("cat", 1), "onyx-vespa", map[string]string{"rerank_count": "1"},
			"t:garden.md", "first phase: its best section, t:garden.md#Visitors, ranks "},
		{"what the first phase does not find", query("cat", 1), "onyx-vespa",
			map[string]string{"rerank_count": "1", "target_hits": "1"}, "t:garden.md", "first phase, branch content-words: " +
				"its best section, t:garden.md#Visitors, scores"},
		{"back in a branch that counts as another does", query("cat dog", 1), atLeast, nil, "t:cats.md#Food",
			"titles: at_least: meaning: it is back, at rank "},
		{"a document among documents", query("cat", 1), "bench", nil, "t:garden.md", "top: {n: 1}: lost it, from rank"},
		{"the best section of a document", query("cat dog", 2), "onyx-elastic", map[string]string{"rank_window_size": "1"},
			"t:garden.md", "its best section, t:garden.md#Visitors, scores"},
	} {
		t.Run(test.what, func(t *testing.T) {
			p := parse(t, atLeast)
			if test.profile != atLeast {
				p = load(t, test.profile)
			}
			a := must.Get(s.WhyNot(ctx, test.q, p, search.Options{Parameters: test.set}, test.id))
			got := strings.Join(a.Reasons, "\n")
			check.That(t, strings.Contains(got, test.want), "got\n%s\nwant %s", got, test.want)
			check.That(t, !strings.HasPrefix(got, "first phase") || !strings.Contains(got, "\nbranch "),
				"what the first phase lost was not lost later:\n%s", got)
		})
	}
	// A branch also scores hits of other branches. These scores are outside its window, so they are
	// lower than the last score inside.
	outside := regexp.MustCompile(`scores ([-.\d]+) and the last of the (\d+) retrieved has ([-.\d]+)`)
	compared := 0
	for _, id := range []sheaf.ID{"t:cats.md#Food", "t:cats.md#Sleep", "t:garden.md#Visitors", "t:dogs.md",
		"t:garden.md"} {
		a := must.Get(s.WhyNot(ctx, query("cat dog", 2), narrow(t), search.Options{}, id))
		for _, m := range outside.FindAllStringSubmatch(strings.Join(a.Reasons, "\n"), -1) {
			its, _ := strconv.ParseFloat(m[1], 64)
			last, _ := strconv.ParseFloat(m[3], 64)
			if compared++; m[2] != "2" && m[2] != "1" || its > last { // 1 passage for 2 chunks
				t.Errorf("%s: %s", id, m[0])
			}
		}
	}
	check.That(t, compared != 0, "nothing lies outside a window of 2")
	check.Is(t, must.Err(s.WhyNot(ctx, query("cat", 3), load(t, "rrf"), search.Options{}, "t:nowhere.md")),
		sheaf.ErrNotFound, "an unknown id")
}
