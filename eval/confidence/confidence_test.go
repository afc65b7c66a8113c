package confidence_test

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"sheaf"
	"sheaf/analysis"
	"sheaf/backend"
	"sheaf/backend/memory"
	"sheaf/eval"
	"sheaf/eval/confidence"
	"sheaf/eval/dataset"
	"sheaf/eval/knownitem"
	"sheaf/eval/self"
	"sheaf/inference"
	"sheaf/inference/static/english"
	"sheaf/profile"
	"sheaf/search"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, folder string) *eval.Collection {
	t.Helper()
	e, err := english.New()
	if err != nil {
		t.Fatal(err)
	}
	c, err := eval.Open(context.Background(), &dataset.Dataset{Name: "notes", Folder: folder}, eval.Indexing{Cache: t.TempDir(), Language: "en", Embedder: e,
		Store: eval.Store{Name: "memory", Fleeting: true, Open: func(_ string, a *analysis.Analyzer, _ inference.Embedder) (backend.Backend, error) {
			return memory.New(a), nil
		}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func asked(t *testing.T, folder, name string, queries int) *confidence.Answers {
	t.Helper()
	c := open(t, folder)
	source, err := self.Source(c)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(name, profile.Builtin)
	if err != nil {
		t.Fatal(err)
	}
	a, err := confidence.Ask(context.Background(), c.Searcher(), source, p, confidence.Options{Queries: knownitem.Options{PerKind: queries, Impossible: queries, Seed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestTogether learns from two folders of this repository: each is judged by the
// other, what holds for both tells questions that have an answer from others, and
// the order of the folders changes nothing but the order of what is said of them.
func TestTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("it asks hundreds of questions")
	}
	pages, decisions := asked(t, filepath.Join("..", "..", "doc"), "sheaf", 60), asked(t, filepath.Join("..", "..", "doc", "decisions"), "sheaf", 60)
	r, err := confidence.Together([]*confidence.Answers{pages, decisions})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Collections) != 2 || len(r.Fit.Weights) != len(search.Evidence{}.Features()) {
		t.Fatalf("%+v", r)
	}
	for i, c := range r.Collections {
		if c.Error <= 0 || c.Error > 0.3 || c.Found.Queries < 30 || c.Found.Answerable*10 < c.Found.Queries*8 || c.Foreign.Queries < 10 || c.Foreign.Answerable*3 > c.Foreign.Queries {
			t.Errorf("collection %d by the fit of the other: %+v", i, c)
		}
	}
	if all := (search.Evidence{Words: 1, Meaning: 0.5}); !r.Rule.Holds(all) || r.Rule.Holds(search.Evidence{Words: 0.1, Meaning: 0.1}) {
		t.Errorf("the rule is %+v", r.Rule)
	}
	turned, err := confidence.Together([]*confidence.Answers{decisions, pages})
	if err != nil || turned.Rule != r.Rule || !reflect.DeepEqual(turned.Collections[0], r.Collections[1]) {
		t.Errorf("in another order: %+v, %v", turned, err)
	}
	if _, err := confidence.Together([]*confidence.Answers{pages}); !errors.Is(err, sheaf.ErrInvalid) {
		t.Errorf("one collection: %v", err)
	}
	if _, err := confidence.Together([]*confidence.Answers{pages, asked(t, filepath.Join("..", "..", "doc", "decisions"), "rrf", 10)}); !errors.Is(err, sheaf.ErrInvalid) {
		t.Errorf("two profiles: %v", err)
	}
}

func calibrated(t *testing.T, folder string, queries int) (*confidence.Report, error) {
	t.Helper()
	c := open(t, folder)
	source, err := self.Source(c)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load("sheaf", profile.Builtin)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	r, err := confidence.Calibrate(context.Background(), c.Searcher(), source, p, confidence.Options{
		Queries: knownitem.Options{PerKind: queries, Impossible: queries, Seed: 1}, Progress: func(done, all int) { asked = done }})
	if err == nil && asked != r.Queries {
		t.Errorf("told of %d questions of %d", asked, r.Queries)
	}
	return r, err
}

// TestOwnDocuments learns from this repository's documentation: what was learned
// must tell right answers from wrong ones that it has not seen, and mean what it
// says.
func TestOwnDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("it asks hundreds of questions")
	}
	docs := filepath.Join("..", "..", "doc")
	r, err := calibrated(t, docs, 60)
	if err != nil {
		t.Fatal(err)
	}
	if r.Impossible == 0 || r.Right == 0 || r.Right > r.Queries-r.Impossible || r.Profile != "sheaf" {
		t.Fatalf("%+v", r)
	}
	answers, low, lowRight, high, highRight := 0, 0, 0.0, 0, 0.0
	for _, b := range r.Bins {
		answers += b.Count
		if b.To <= 0.5 {
			low, lowRight = low+b.Count, lowRight+b.Right*float64(b.Count)
		} else {
			high, highRight = high+b.Count, highRight+b.Right*float64(b.Count)
		}
	}
	if answers == 0 || answers > r.Queries {
		t.Errorf("%d first answers to %d questions", answers, r.Queries)
	}
	if low == 0 || high == 0 || highRight/float64(high) < lowRight/float64(low)+0.2 {
		t.Errorf("%v of %d confident answers are right, and %v of %d others", highRight, high, lowRight, low)
	}
	if r.Error > 0.2 || r.Brier > 0.24 {
		t.Errorf("calibration error %v, Brier score %v", r.Error, r.Brier)
	}
	if f := r.Found; f.Queries < r.Right || f.Answerable*10 < f.Queries*9 {
		t.Errorf("%d of %d questions with an answer are called answerable", f.Answerable, f.Queries)
	}
	if f := r.Foreign; f.Queries < 20 || f.Answerable*10 > f.Queries {
		t.Errorf("%d of %d questions of other subjects are called answerable", f.Answerable, f.Queries)
	}
	again, err := calibrated(t, docs, 60)
	if err != nil || !reflect.DeepEqual(r, again) {
		t.Errorf("another run learned something else: %v", err)
	}
}

func TestTooLittleToLearnFrom(t *testing.T) {
	_, err := calibrated(t, t.TempDir(), 10)
	if !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(err.Error(), "fewer than 40") {
		t.Errorf("of no documents: %v", err)
	}
}
