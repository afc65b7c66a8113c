package collection_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/search"
	"sheaf/store"
)

// answerText returns an answer as JSON. It masks the cursor, because cursors are random.
func answerText(t *testing.T, a *collection.Answer, err error) (text, next string) {
	t.Helper()
	if err != nil {
		return err.Error(), ""
	}
	shown := *a
	next = shown.Next
	if next != "" {
		shown.Next = "there is another page"
	}
	out := must.Get(json.Marshal(shown))
	return string(out), next
}

// twin is a collection with a cache, and the same collection without one.
type twin struct {
	*collectiontest.Fixture
	plain *collection.Collection
	clock *atomic.Int64
}

func newTwin(t *testing.T, files map[string]string) *twin {
	clock := &atomic.Int64{}
	clock.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixNano())
	f := collectiontest.Open(t, files, func(o *collection.Options) {
		o.Now = func() time.Time { return time.Unix(0, clock.Load()) }
	})
	o := f.Options
	o.CacheBytes = -1
	plain := must.Get(collection.New(o))
	t.Cleanup(func() { _ = plain.Close() })
	return &twin{f, plain, clock}
}

// same sends a query to both and compares all pages of the answers.
func (w *twin) same(t *testing.T, g access.Grant, q collection.SearchRequest) {
	t.Helper()
	ctx := context.Background()
	with := must.Get(w.For(g))
	defer with.Close()
	without := must.Get(w.plain.For(g))
	defer without.Close()
	fused := func(r *collection.Reader) string {
		out, err := r.Fused(ctx, q.Text, "rrf", 60, 5)
		if err != nil {
			return err.Error()
		}
		out.Timings = nil
		text := must.Get(json.Marshal(out))
		return string(text)
	}
	if got, want := fused(with), fused(without); got != want {
		t.Fatalf("%q fused, as %+v: with the cache\n%s\nwithout\n%s", q.Text, g, got, want)
	}
	a, err := with.Search(ctx, q)
	got, gotNext := answerText(t, a, err)
	a, err = without.Search(ctx, q)
	want, wantNext := answerText(t, a, err)
	for {
		must.Equal(t, got, want, "%+v as %+v: with the cache, and without", q, g)
		if gotNext == "" {
			return
		}
		a, err = with.Page(ctx, gotNext, q)
		got, gotNext = answerText(t, a, err)
		a, err = without.Page(ctx, wantNext, q)
		want, wantNext = answerText(t, a, err)
	}
}

// TestCacheChangesNoAnswer checks that cached answers equal answers without the cache, for random
// changes of the index and random callers.
func TestCacheChangesNoAnswer(t *testing.T) {
	must.Whole(t, "400 searches, one after another")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 9))
	w := newTwin(t, listed(40, random))
	grants := []access.Grant{access.Unrestricted()}
	for _, who := range []string{"user:ann", "user:bob", "group:staff"} {
		grants = append(grants, access.Grant{Access: []string{who}}, access.Grant{Tenant: "acme", Access: []string{who}},
			access.Grant{Tenant: access.All, Access: []string{who, "group:board"}, Sets: []string{"finance"}})
	}
	grants = append(grants, access.Grant{Tenant: access.All, Access: []string{access.All}, Baked: "path:f1/"},
		access.Grant{Tenant: access.All, Access: []string{access.All}, Baked: "path:f2/"})
	requests := []collection.SearchRequest{
		{Text: "budget"}, {Text: "budget "}, {Text: "budget", Filter: "path:f1/"}, {Text: "salary offer", Limit: 3},
		{Text: "salary offer", Limit: 3, Window: 30},
		{Text: "secret memo", Explain: true}, {Text: "secret memo"}, {Text: "contract", Facets: []string{"tag", "folder"}},
		{Text: "contract", Facets: []string{"folder", "tag"}},
		{Text: "launch", Sort: "-path"}, {Text: "launch", Sort: "path", Count: true}, {Text: "launch", Count: true},
		{Text: "merger", Profile: "onyx-vespa", Explain: true},
		{Text: "merger", Parameters: map[string]string{"meaning": "0"}},
		{Text: "merger", Parameters: map[string]string{"meaning": "0.5"}}, {Text: "bonus", Plain: true}, {Text: "bonus"},
		{Text: "date:<2026-04-01 payroll"}, {Text: "pay*"}, {Text: "memo", Profile: "rrf"}, {Text: "-budget memo"},
		{Filter: "tag:memo"},
	}
	const steps = 400
	for step := range steps {
		name := fmt.Sprintf("f%d/d%03d.md", random.IntN(5), random.IntN(45))
		switch random.IntN(40) {
		case 0: // saved and indexed
			w.Write(t, name, listed(1, random)["f0/d000.md"])
			w.Index(t)
		case 1: // saved, but not indexed
			w.Write(t, name, fmt.Sprintf("# Budget %d\n\nmemo memo\n", step))
		case 2:
			w.clock.Add(int64(random.IntN(100)) * int64(time.Hour))
		}
		w.same(t, grants[random.IntN(len(grants))], requests[random.IntN(len(requests))])
	}
	n := w.Cache()
	t.Logf("%+v", n)
	check.That(t, n.Found >= uint64(steps/20) && n.Missed != 0,
		"%d of %d searches were remembered: too few to tell", n.Found, steps)
}

// gated is a collection whose model calls wait first; calls counts the calls.
func gated(t *testing.T, wait func(ctx context.Context, call int64) error) (f *collectiontest.Fixture,
	calls *atomic.Int64) {
	return gatedOf(t, map[string]string{"a.md": "# Harbor\n\nShips and a lighthouse.\n"}, wait)
}

// gatedOf is like gated, with other files.
func gatedOf(t *testing.T, files map[string]string,
	wait func(ctx context.Context, call int64) error) (f *collectiontest.Fixture, calls *atomic.Int64) {
	calls = &atomic.Int64{}
	return collectiontest.Open(t, files, func(o *collection.Options) {
		embed := o.Embed
		o.Embed = func(ctx context.Context, texts []string) ([][]float32, error) {
			if err := wait(ctx, calls.Add(1)); err != nil {
				return nil, err
			}
			return embed(ctx, texts)
		}
	}), calls
}

func TestEqualConcurrentSearchesRunOnce(t *testing.T) {
	const callers = 20
	began, release := make(chan struct{}), make(chan struct{})
	f, calls := gated(t, func(_ context.Context, call int64) error {
		if call == 1 {
			close(began)
		}
		<-release
		return nil
	})
	texts := make([]string, callers)
	var wg sync.WaitGroup
	ask := func(i int) {
		a, err := reader(t, f, access.Unrestricted()).Search(context.Background(),
			collection.SearchRequest{Text: "lighthouse"})
		texts[i], _ = answerText(t, a, err)
	}
	wg.Go(func() { ask(0) })
	<-began
	for i := 1; i < callers; i++ {
		wg.Go(func() { ask(i) })
	}
	time.AfterFunc(20*time.Millisecond, func() { close(release) })
	wg.Wait()
	check.Equal(t, calls.Load(), 1, "searches for %d callers", callers)
	for i, text := range texts {
		check.Equal(t, text, texts[0], "text of caller %d, and of the first", i)
	}
	n := f.Cache()
	check.That(t, n.Missed == 1 && n.Found+n.Shared == callers-1, "counts: %+v", n)
}

// TestCancelDoesNotFailOtherCallers checks that canceling a search does not fail other callers that wait for it.
func TestCancelDoesNotFailOtherCallers(t *testing.T) {
	began := make(chan struct{})
	f, _ := gated(t, func(ctx context.Context, call int64) error {
		if call > 1 {
			return nil
		}
		close(began)
		<-ctx.Done()
		return ctx.Err()
	})
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		check.Is(t, must.Err(reader(t, f, access.Unrestricted()).Search(ctx,
			collection.SearchRequest{Text: "lighthouse"})), context.Canceled, "who gave up")
	})
	<-began
	for range 5 {
		wg.Go(func() {
			a, err := reader(t, f, access.Unrestricted()).Search(context.Background(),
				collection.SearchRequest{Text: "lighthouse"})
			check.That(t, err == nil && len(a.Results) != 0 && !a.Degraded, "who waited: %+v, %v", a, err)
		})
	}
	time.AfterFunc(10*time.Millisecond, cancel)
	wg.Wait()
}

func TestCacheIsBounded(t *testing.T) {
	must.Whole(t, "it measures memory")
	const limit = 1 << 20
	f := collectiontest.Open(t, listed(60, rand.New(rand.NewPCG(3, 3))), func(o *collection.Options) {
		o.CacheBytes = limit
	})
	r := reader(t, f, access.Unrestricted())
	find(t, r, collection.SearchRequest{Text: "budget", Limit: 20})
	before := heap()
	for i := range 300 {
		find(t, r, collection.SearchRequest{Text: fmt.Sprintf("budget memo%d", i), Limit: 20, Explain: i%3 == 0})
	}
	n := f.Cache()
	check.That(t, n.Bytes <= limit && n.Bytes >= limit/2 && n.Entries >= 5 && n.Missed == 301,
		"%+v: want a cache that is nearly full", n)
	grown := heap() - before
	check.That(t, grown <= 2*limit, "the heap has grown by %d bytes with %d remembered", grown, n.Bytes)
	find(t, r, collection.SearchRequest{Text: "budget memo299", Limit: 20})
	find(t, r, collection.SearchRequest{Text: "budget memo0", Limit: 20, Explain: true})
	m := f.Cache()
	check.That(t, m.Found == n.Found+1 && m.Missed == n.Missed+1, "the newest and the oldest: %+v after %+v", m, n)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestCachedSimilarHasNoSourceText checks that cached answers of Similar do not keep the text of the source
// document.
func TestCachedSimilarHasNoSourceText(t *testing.T) {
	must.Whole(t, "it measures memory")
	const size = 1 << 20
	docs := map[string]string{"big.md": "# Big\n\n" + strings.Repeat("zebra giraffe lion pasture ", size/27)}
	for i := range 10 {
		docs[fmt.Sprintf("s%d.md", i)] = fmt.Sprintf("# S%d\n\nzebra giraffe lion number %d of the pasture\n", i, i)
	}
	f := collectiontest.Open(t, docs, nil)
	f.Index(t)
	r := reader(t, f, access.Unrestricted())
	ask := func(times int) int64 {
		for range times {
			a, err := r.Similar(t.Context(), sheaf.DocumentID(collectiontest.Tree, "big.md"), collection.SearchRequest{Limit: 1})
			must.That(t, err == nil && a.Next != "", "%+v, %v", a, err)
		}
		return heap()
	}
	few := ask(3)
	many := ask(20)
	check.That(t, many <= few+8*size, "20 rankings more hold %d bytes", many-few)
}

// TestPages checks that pages equal one long page, even for answers that are not cached, as of scanned files.
func TestPages(t *testing.T) {
	notes := map[string]string{}
	for i := range 40 {
		notes[fmt.Sprintf("n%d.md", i)] = fmt.Sprintf("---\ntags: [t%d]\n---\n# Note %d\n\nUndo a commit.\n", i, i)
	}
	f := scanning(t, notes)
	r := reader(t, f, access.Unrestricted())
	for _, profile := range []string{"sheaf", "tiered"} { // tiered scans files, and its answers are not cached
		q := collection.SearchRequest{Text: "undo commit", Profile: profile, Limit: 4}
		all := q
		all.Limit = 8
		want := find(t, r, all)
		for name, ask := range map[string]func() (*collection.Answer, error){
			"search": func() (*collection.Answer, error) { return r.Search(t.Context(), q) },
			"explain": func() (*collection.Answer, error) {
				q.Brief = true
				e, err := r.Explain(t.Context(), q)
				if err != nil {
					return nil, err
				}
				return e.Answer, nil
			},
		} {
			first := must.Get(ask())
			second := must.Get(r.Page(t.Context(), first.Next, collection.SearchRequest{}))
			var ids []sheaf.ID
			for i, shown := range append(first.Results[:4:4], second.Results...) {
				ids = append(ids, shown.ID)
				w := want.Results[i]
				check.That(t, shown.ID == w.ID && shown.Title == w.Title && fmt.Sprint(shown.Tags) == fmt.Sprint(w.Tags) &&
					shown.Score == w.Score, "%s of %s: result %d is %+v, want %+v", name, profile, i+1, shown, w)
			}
			check.Equal(t, len(ids), 8, "%s of %s: hits of two pages %q", name, profile, ids)
		}
	}
}

// TestAnswerWithMissingDataIsNotCached checks that an answer without data that the store failed to return is not
// cached. An answer without data that the store never supports is cached.
func TestAnswerWithMissingDataIsNotCached(t *testing.T) {
	for what, q := range map[string]collection.SearchRequest{
		"an explanation":   {Text: "undo a commit", Explain: true},
		"values there are": {Text: "undo tag:nothing-has-it"},
	} {
		var fault error
		f := collectiontest.Open(t, notes, hookStore(func(_ context.Context, verb string, _ *store.Request) error {
			if verb == "explain" || verb == "facets" {
				return fault
			}
			return nil
		}))
		r := reader(t, f, access.Unrestricted())
		said := func(a *collection.Answer) (string, bool) {
			text := must.Get(json.Marshal([]any{a.Notes, a.Results}))
			return string(text), slices.ContainsFunc(a.Timings, func(s search.Timing) bool { return s.Step == "cache" })
		}
		fault = errors.New("connection refused")
		short, _ := said(find(t, r, q))
		fault = nil
		if got, remembered := said(find(t, r, q)); got == short || strings.Contains(got, "refused") || remembered {
			t.Errorf("%s, asked again: %s, remembered %v", what, got, remembered)
		}
		_, remembered := said(find(t, r, q))
		check.That(t, remembered, "%s: a whole answer is not remembered", what)
		fault, q.Limit = sheaf.ErrUnsupported, 3
		find(t, r, q)
		got, remembered := said(find(t, r, q))
		check.That(t, remembered, "%s: what the store never tells is asked for again: %s", what, got)
	}
}

// TestConcurrentAnswers checks that concurrent answers never mix documents and never show hidden ones. The index
// changes, and some callers cancel.
func TestConcurrentAnswers(t *testing.T) {
	words := []string{"apple", "bread", "cheese", "dates", "eggs"}
	mark := regexp.MustCompile(`mark-?(\d+)`)
	marked := func(i, round int) (path, text string) { // title, tag and lines have the mark of the document
		m := fmt.Sprintf("mark%d", i)
		text = fmt.Sprintf("---\ntags: [%s]\nhidden: %v\n---\n# Note %s\n\n", m, i%2 == 1, m)
		for k, word := range words {
			text += strings.Repeat("The "+word+" of "+m+". ", k+1+round) + "\n\n## Part " + word + " " + m + "\n\nMore.\n\n"
		}
		return m + ".md", text
	}
	files := map[string]string{}
	for i := range 30 {
		path, text := marked(i, 0)
		files[path] = text
	}
	f := collectiontest.Open(t, files, nil)
	check := func(a *collection.Answer, hides bool) {
		for i := range a.Results {
			text, err := json.Marshal(a.Results[i])
			if err != nil {
				t.Error(err)
			}
			is := mark.FindStringSubmatch(string(a.Results[i].ID))[1]
			for _, m := range mark.FindAllStringSubmatch(string(text), -1) {
				if m[1] != is {
					t.Errorf("document %s has %s: %s", is, m[0], text)
				}
			}
			if hides && strings.Contains("13579", is[len(is)-1:]) {
				t.Errorf("%s is hidden", is)
			}
		}
	}
	var all sync.WaitGroup
	for k := range uint64(4) {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(3, k))
			for range 15 {
				g := access.Unrestricted()
				if rng.IntN(2) == 0 {
					g.Baked = "-prop.hidden:true"
				}
				r, err := f.For(g)
				if err != nil {
					t.Error(err)
					return
				}
				ctx, cancel := t.Context(), func() {}
				if rng.IntN(3) == 0 {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(4000))*time.Microsecond)
				}
				q := collection.SearchRequest{Text: words[rng.IntN(len(words))], Limit: 1 + rng.IntN(30), Window: 80,
					Explain: rng.IntN(4) == 0, Profile: []string{"", "rrf", "tree", "sonar"}[rng.IntN(4)]}
				a, err := r.Search(ctx, q)
				for err == nil {
					if check(a, g.Baked != ""); a.Next == "" {
						break
					}
					a, err = r.Page(ctx, a.Next, collection.SearchRequest{})
				}
				cancel()
				r.Close()
			}
		})
	}
	for round := range 3 {
		for i := round; i < 30; i += 7 {
			path, text := marked(i, round+1)
			f.Write(t, path, text)
		}
		f.Index(t)
	}
	all.Wait()
}
