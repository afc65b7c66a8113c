package confidence_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"sheaf"
	"sheaf/collection"
	"sheaf/eval"
	"sheaf/eval/confidence"
	"sheaf/eval/dataset"
	"sheaf/eval/indexing"
	"sheaf/eval/metric"
	"sheaf/eval/self"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model/static/english"
	"sheaf/profile"
	"sheaf/search"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open indexes a data set with the built-in model.
func open(t *testing.T, d *dataset.Dataset) *eval.Collection {
	t.Helper()
	e := must.Get(english.New())
	c := must.Get(indexing.Open(context.Background(), d, indexing.Options{Cache: t.TempDir(),
		Making: collection.Making{Language: "en"}, Embedder: e, Memory: true}))
	t.Cleanup(c.Close)
	return c
}

func openFolder(t *testing.T, folder string) *eval.Collection {
	t.Helper()
	return open(t, &dataset.Dataset{Name: "notes", Folder: folder})
}

func load(t *testing.T, name string) *profile.Profile {
	t.Helper()
	p := must.Get(profile.Load(name, profile.Builtin))
	return p
}

// ask runs questions that are made from the documents of a folder.
func ask(t *testing.T, folder, name string, each int) *confidence.Answers {
	t.Helper()
	c := openFolder(t, folder)
	items := must.Get(self.Make(t.Context(), c, self.Wanted{PerKind: each, Impossible: each, Seed: 1}))
	told := 0
	a, err := confidence.Ask(t.Context(), c.Searcher, load(t, name), confidence.KnownItems(items), func(done, all int) {
		if told++; done != told || all != len(items) {
			t.Errorf("progress %d of %d, want %d of %d", done, all, told, len(items))
		}
	})
	must.That(t, err == nil && told == len(items), "progress reports %d questions of %d: %v", told, len(items), err)
	return a
}

var pages = filepath.Join("..", "..", "doc")

// never returns a calibration that calls every result wrong and every query answerable.
func never() *search.Calibration {
	c := &search.Calibration{}
	c.Right.Weights = make([]float64, len(new(search.Evidence).Features()))
	c.Answered.Weights = c.Right.Weights
	c.Right.Bias = -20
	return c
}

// TestLearn learns from the documentation of this repository. It checks that the learned calibration separates right
// and wrong results, and that it beats a bad calibration.
func TestLearn(t *testing.T) {
	must.Whole(t, "it asks hundreds of questions")
	answers := ask(t, pages, "sheaf", 60)
	r := must.Get(confidence.Learn(answers, never(), 1))
	q := r.Learned
	p := load(t, "sheaf")
	must.That(t, r.Profile == "sheaf" && r.Digest == p.Digest() && r.Fit.Valid(), "%+v", r)
	check.That(t, q.Questions >= 100 && q.Right != 0 && q.Right <= q.Questions && q.Found.Queries >= q.Right &&
		q.Unanswerable.Queries >= 40 && q.RefusedRight <= q.Refused, "%+v", q)
	firsts, low, lowRight, high, highRight := 0, 0, 0.0, 0, 0.0
	for _, b := range q.Bins {
		firsts += b.Count
		if b.To <= 0.5 {
			low, lowRight = low+b.Count, lowRight+b.Right*float64(b.Count)
		} else {
			high, highRight = high+b.Count, highRight+b.Right*float64(b.Count)
		}
	}
	check.That(t, firsts != 0 && firsts <= q.Questions, "%d first results of %d questions", firsts, q.Questions)
	check.That(t, low != 0 && high != 0 && highRight/float64(high) >= lowRight/float64(low)+0.1,
		"%v of %d confident first results are right, and %v of %d others", highRight, high, lowRight, low)
	check.That(t, q.First <= 0.2 && q.FirstFive <= 0.1 && q.Brier <= 0.15,
		"error %v of first results, %v of five, Brier score %v", q.First, q.FirstFive, q.Brier)
	if f, n := q.Found, q.Unanswerable; f.Answerable*10 < f.Queries*9 || n.Answerable*2 > n.Queries {
		t.Errorf("answerable: %+v of those found, %+v of those without an answer", f, n)
	}
	shipped := *r.Shipped
	check.That(t, r.Better() && shipped.Brier > q.Brier && shipped.Questions == q.Questions &&
		shipped.Found.Answerable == shipped.Found.Queries && shipped.Refused == 0, "learned %+v is no better than %+v", q,
		shipped)
	again, err := confidence.Learn(ask(t, pages, "sheaf", 60), never(), 1)
	check.That(t, err == nil && reflect.DeepEqual(r, again), "another run learned something else: %v", err)
	// On its own answers, a learned calibration is never better than a shipped one with the same fit.
	same, err := confidence.Learn(answers, &r.Fit, 1)
	check.That(t, err == nil && !same.Better() && same.Learned.Brier > same.Shipped.Brier,
		"better than the fit of the same answers: %v", err)
	if alone, err := confidence.Learn(answers, nil, 1); err != nil || alone.Shipped != nil || !alone.Better() {
		t.Errorf("without a shipped calibration: %+v, %v", alone, err)
	}
}

func TestTooLittleToLearnFrom(t *testing.T) {
	check.Fails(t, must.Err(confidence.Learn(ask(t, t.TempDir(), "sheaf", 10), nil, 1)), sheaf.ErrInvalid,
		"at least 40", "of no documents")
	check.Fails(t, must.Err(confidence.Fit(nil)), sheaf.ErrInvalid, "at least 8", "of no answers")
}

// subject creates a judged data set: a note for each thing, and questions about the things.
func subject(t *testing.T, name, about string, things []string) *dataset.Dataset {
	t.Helper()
	folder := filepath.Join(t.TempDir(), name)
	must.Do(t, os.Mkdir(folder, 0o755))
	d := &dataset.Dataset{Name: name, Folder: folder, Qrels: map[string]metric.Judgements{}}
	for i, thing := range things {
		file := fmt.Sprintf("%s%d.md", name, i)
		text := fmt.Sprintf("# %s\n\nEverything about %s and %s. Ask here first.\n", thing, thing, about)
		must.Do(t, os.WriteFile(filepath.Join(folder, file), []byte(text), 0o644))
		for k, question := range []string{"what is said about %s in the notes", "who knows something of %s here", "%s"} {
			id := fmt.Sprintf("%s-%d-%d", name, i, k)
			d.Queries = append(d.Queries, dataset.Query{ID: id, Text: fmt.Sprintf(question, thing)})
			d.Qrels[id] = metric.Judgements{file: 1}
		}
	}
	return d
}

func different(int, int) bool { return false }

// TestLeaveOneOut judges three data sets. Each is judged by the fit of the two others.
func TestLeaveOneOut(t *testing.T) {
	sets := []*eval.Collection{
		open(t, subject(t, "kitchen", "cooking",
			strings.Fields(
				"carrots onions garlic vinegar saffron noodles dumplings lentils pancakes walnuts cinnamon mustard"))),
		open(t, subject(t, "harbor", "sailing",
			strings.Fields("anchors rudders masts lanterns compasses buoys ropes pilots lighthouses tides keels harpoons"))),
		open(t, subject(t, "office", "accounting",
			strings.Fields("invoices receipts salaries ledgers auditors dividends pensions mortgages tariffs budgets "+
				"creditors vouchers"))),
	}
	var all []*confidence.Answers
	for i, c := range sets {
		questions := confidence.Judged(sets, i, different, 1)
		own, others := 0, 0
		for _, q := range questions {
			switch {
			case q.Right != nil:
				own++
			case len(strings.Fields(q.Text)) < 4:
				t.Errorf("the question %q of another data set may have an answer here", q.Text)
			default:
				others++
			}
		}
		check.That(t, own == len(c.Dataset.Queries) && others != 0 && others <= 80,
			"%s: %d questions of its own, %d of others", c.Dataset.Name, own, others)
		check.That(t, reflect.DeepEqual(texts(questions), texts(confidence.Judged(sets, i, different, 1))) &&
			!reflect.DeepEqual(texts(questions), texts(confidence.Judged(sets, i, different, 2))), "%s: the seed decides",
			c.Dataset.Name)
		a := must.Get(confidence.Ask(t.Context(), c.Searcher, load(t, "sheaf"), questions, nil))
		all = append(all, a)
	}
	qualities, fit, err := confidence.LeaveOneOut(all, different)
	must.Do(t, err)
	must.That(t, len(qualities) == 3 && fit.Valid(), "%+v, %+v", qualities, fit)
	for i, q := range qualities {
		c, err := confidence.Fit(slices.Delete(slices.Clone(all), i, i+1))
		check.That(t, err == nil && reflect.DeepEqual(q, confidence.Judge(all[i], c)),
			"data set %d is not judged by the fit of the others: %v", i, err)
		check.That(t, q.Questions == 36 && q.Right >= 30 && q.Found.Answerable >= 30 &&
			q.Unanswerable.Answerable*2 <= q.Unanswerable.Queries, "data set %d: %+v", i, q)
	}
	// Data sets with the same documents are excluded together.
	same := func(i, j int) bool { return i != j && i+j == 1 }
	alone, _, err := confidence.LeaveOneOut(all, same)
	must.Do(t, err)
	c, err := confidence.Fit(all[2:])
	check.That(t, err == nil && reflect.DeepEqual(alone[0], confidence.Judge(all[0], c)) &&
		reflect.DeepEqual(alone[2], qualities[2]),
		"the fit of data set 1 has seen data set 2, which holds the same documents: %v", err)
	if _, _, err := confidence.LeaveOneOut(all[:1], different); !errors.Is(err, sheaf.ErrInvalid) {
		t.Errorf("one data set: %v", err)
	}
	if _, _, err := confidence.LeaveOneOut(all[:2], same); !errors.Is(err, sheaf.ErrInvalid) ||
		!strings.Contains(err.Error(), "same documents") {
		t.Errorf("two data sets of the same documents: %v", err)
	}
	other, err := confidence.Ask(t.Context(), sets[0].Searcher, load(t, "rrf"), confidence.Judged(sets, 0, different, 1),
		nil)
	must.Do(t, err)
	_, _, err = confidence.LeaveOneOut([]*confidence.Answers{all[0], other}, different)
	check.That(t, errors.Is(err, sheaf.ErrInvalid) && strings.Contains(err.Error(), "rrf"), "two profiles: %v", err)
}

func texts(questions []confidence.Question) []string {
	var out []string
	for _, q := range questions {
		out = append(out, q.Text)
	}
	return out
}
