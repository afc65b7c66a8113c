package self_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sheaf"
	"sheaf/collection"
	"sheaf/eval"
	"sheaf/eval/dataset"
	"sheaf/eval/indexing"
	"sheaf/eval/self"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model/hashed"
	"sheaf/profile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// subjects are the subjects of the notes in the test collection.
var subjects = strings.Fields("amber birch cedar delta ember fjord glade heath islet jetty knoll ledge marsh niche " +
	"ocean plain quarry ridge shoal tundra")

// notes returns a folder of notes with aliases, headings, links and prose.
func notes(t *testing.T) *eval.Collection {
	t.Helper()
	dir := t.TempDir()
	for i, s := range subjects {
		next := subjects[(i+1)%len(subjects)]
		text := fmt.Sprintf(`---
aliases: [the %[1]s handbook]
---
# About %[1]s

A visitor who walks past the old %[1]s in autumn will notice how quietly the colours change there.
See [what walkers say of %[2]s](%[2]s.md).

## Keeping %[1]s safe

A fence of hazel around every %[1]s keeps the deer away, and costs little more than an afternoon of work each spring.

## Visiting %[1]s early

Before sunrise no visitor comes to %[1]s, so the warden leaves the northern gate open for painters and their dogs.
`, s, next)
		must.Do(t, os.WriteFile(filepath.Join(dir, s+".md"), []byte(text), 0o644))
	}
	return open(t, dir)
}

// open indexes a folder.
func open(t *testing.T, dir string) *eval.Collection {
	t.Helper()
	c := must.Get(indexing.Open(context.Background(), &dataset.Dataset{Name: "notes", Folder: dir},
		indexing.Options{Cache: t.TempDir(), Making: collection.Making{Language: "en"}, Embedder: hashed.New(64)}))
	t.Cleanup(c.Close)
	return c
}

func columns(t *testing.T, names ...string) []eval.Column {
	t.Helper()
	var out []eval.Column
	for _, name := range names {
		p := must.Get(profile.Load(name, profile.Builtin))
		out = append(out, eval.Column{Name: name, Profile: p})
	}
	return out
}

// TestQueriesFitTheDocuments checks that each query comes from its answer, and that the same seed
// gives the same queries.
func TestQueriesFitTheDocuments(t *testing.T) {
	c := notes(t)
	ctx := context.Background()
	o := self.Wanted{PerKind: 15, Impossible: 10, Seed: 3}
	items := must.Get(self.Make(ctx, c, o))
	count := map[self.Kind]int{}
	for _, item := range items {
		count[item.Kind]++
		if item.Kind.Impossible() {
			check.That(t, item.Doc == "" && item.Target == "" && (item.Kind != self.Absent || len(item.Without) != 0), "%+v",
				item)
			continue
		}
		ch, ok := c.View.Chunk(item.Target)
		if !ok || ch.Doc != item.Doc || slices.Contains(item.Without, item.Doc) {
			t.Errorf("%+v", item)
			continue
		}
		doc, _ := c.View.Document(item.Doc)
		text := must.Get(c.View.Text(item.Doc))
		body := string(text[ch.Body.Start:ch.Body.End])
		switch item.Kind {
		case self.Heading:
			ok = ch.Title == item.Text
		case self.Alias:
			ok = slices.Contains(doc.Aliases, item.Text)
		case self.Phrase:
			var words []string
			c.Searcher.Analyzer.Words(body, func(start, end int) bool { words = append(words, body[start:end]); return true })
			ok = strings.Contains(strings.Join(words, " "), item.Text)
		case self.Paraphrase:
			ok = inOrder(strings.Fields(item.Text), strings.ToLower(body)) && !strings.Contains(strings.ToLower(body), item.Text)
		case self.Anchor:
			for _, id := range item.Without {
				source, err := c.View.Text(id)
				ok = ok && err == nil && strings.Contains(string(source), "["+item.Text+"]")
			}
			ok = ok && len(item.Without) == 1
		}
		check.That(t, ok, "%s: %q does not stand in %q", item.Kind, item.Text, body)
	}
	for _, k := range self.Kinds {
		check.That(t, count[k] >= 10, "%d queries of kind %s", count[k], k)
	}
	check.That(t, count[self.Absent] == 10 && count[self.Foreign] == 10, "%v", count)
	again, err := self.Make(ctx, c, o)
	check.That(t, err == nil && reflect.DeepEqual(again, items), "the same seed makes other queries, %v", err)
	o.Seed++
	other, err := self.Make(ctx, c, o)
	check.That(t, err == nil && !reflect.DeepEqual(other, items), "another seed makes the same queries, %v", err)
}

// inOrder reports whether words occur in text in this order.
func inOrder(words []string, text string) bool {
	for _, w := range words {
		i := strings.Index(text, w)
		if i < 0 {
			return false
		}
		text = text[i+len(w):]
	}
	return true
}

// TestEvaluate checks that words find their source, and that a ranking of whole documents finds
// clearly fewer places in them.
func TestEvaluate(t *testing.T) {
	c := notes(t)
	cols := columns(t, "sheaf", "rrf", "bench", "sonar")
	cols[0].Parameters = map[string]string{"meaning": "0"}
	ctx := context.Background()
	wanted := self.Wanted{PerKind: 15, Seed: 3}
	r, err := self.Evaluate(ctx, c, wanted, cols, nil)
	must.Do(t, err)
	must.That(t, len(r.Kinds) == 5 && len(r.Columns) == 4 && r.CorpusHash != "", "%+v", r)
	for _, col := range r.Columns {
		check.That(t, len(col.Kinds) == 5 && col.Range.Contains(col.Mean) && col.Range.High <= 1+1e-9, "%+v", col)
		var sum float64
		for _, v := range col.Kinds {
			sum += v / 5
		}
		check.That(t, math.Abs(sum-col.Mean) <= 1e-9, "%s: the kinds have mean %v, the column %v", col.Name, sum, col.Mean)
	}
	check.That(t, r.Columns[0].Kinds[0] >= 0.9, "headings are found at %v by words", r.Columns[0].Kinds[0])
	worst := r.Columns[3]
	check.That(t, worst.Difference < 0 && worst.P < 0.05, "%+v", worst)
	check.That(t, !r.Better && r.Verdict != "", "%q", r.Verdict)
	var b strings.Builder
	if err := r.Text(&b); err != nil || !strings.Contains(b.String(), r.Verdict) ||
		!strings.Contains(b.String(), "anchor (") {
		t.Errorf("%s, %v", b.String(), err)
	}

	same := []eval.Column{cols[0], cols[0]}
	r, err = self.Evaluate(ctx, c, wanted, same, nil)
	check.That(t, err == nil && strings.Contains(r.Verdict, "no significant difference"), "the same ranking twice: %q, %v",
		r.Verdict, err)
	same = []eval.Column{cols[1], cols[0], cols[2]} // the second is hardly better, the third much worse
	r, err = self.Evaluate(ctx, c, wanted, same, nil)
	check.That(t, err == nil && strings.HasPrefix(r.Verdict,
		"no column is significantly better than rrf: keep it (sheaf is +"), "a worse column: %q, %v", r.Verdict, err)

	// Now the first column is worse, so the report must call another column better.
	cols[0], cols[3] = cols[3], cols[0]
	r, err = self.Evaluate(ctx, c, wanted, cols, nil)
	check.That(t, err == nil && r.Better && r.Best != 0 && strings.Contains(r.Verdict, "better than"), "%+v, %v", r, err)
}

// TestCachedLegs checks that a search over cached legs answers like a search without a cache.
func TestCachedLegs(t *testing.T) {
	c := notes(t)
	now := time.Now()
	c.Searcher.Now = func() time.Time { return now }
	cached := must.Get(self.Judged(t.Context(), c, self.Wanted{PerKind: 8, Seed: 1}))
	c.Dataset = cached.Dataset
	names := []string{"sheaf", "rrf", "bench", "tree", "onyx-vespa", "sheaf"}
	if testing.Short() {
		names = []string{"sheaf", "onyx-vespa", "sheaf"}
	}
	for _, col := range columns(t, names...) {
		want := must.Get(c.Run(context.Background(), col, eval.Options{Depth: 10, Plain: true}))
		got := must.Get(cached.Run(context.Background(), col, eval.Options{Depth: 10, Plain: true, Workers: 3}))
		check.That(t, reflect.DeepEqual(got.Rankings, want.Rankings), "%s: the cache changes rankings", col.Name)
	}
}

// TestFolderTooSmall checks that an empty folder is an error.
func TestFolderTooSmall(t *testing.T) {
	_, err := self.Evaluate(context.Background(), open(t, t.TempDir()), self.Wanted{PerKind: 10}, columns(t, "sheaf"),
		nil)
	check.That(t, errors.Is(err, sheaf.ErrInvalid) && strings.Contains(err.Error(), "too small"), "%v", err)
}
