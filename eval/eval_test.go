package eval_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"sheaf"
	"sheaf/collection"
	"sheaf/eval"
	"sheaf/eval/dataset"
	"sheaf/eval/indexing"
	"sheaf/eval/metric"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model"
	"sheaf/model/hashed"
	"sheaf/profile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// write creates files below a new folder.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(full), 0o755))
		must.Do(t, os.WriteFile(full, []byte(content), 0o644))
	}
	return dir
}

// detected detects the language of the documents.
var detected = collection.Making{Language: "auto"}

// tiny is a data set of forty documents about one word each. Every query searches one of them.
func tiny(t testing.TB) *dataset.Dataset {
	t.Helper()
	words := strings.Fields("amber birch cedar delta ember fjord glade heath islet jetty knoll ledge marsh niche ocean " +
		"plain quarry ridge shoal tundra")
	var corpus, queries, qrels strings.Builder
	qrels.WriteString("query-id\tcorpus-id\tscore\n")
	for i, w := range words {
		fmt.Fprintf(&corpus, "{\"_id\": \"d%02d\", \"title\": \"\", \"text\": \"A page that tells of %s and of %s too.\"}\n",
			i, w, words[(i+1)%len(words)])
		fmt.Fprintf(&corpus, "{\"_id\": \"e%02d\", \"title\": \"%s\", \"text\": \"Another page, with little in it.\"}\n", i,
			w)
		fmt.Fprintf(&queries, "{\"_id\": \"q%02d\", \"text\": \"what about %s\", \"metadata\": {\"class\": \"%s\"}}\n", i, w,
			[]string{"even", "odd"}[i%2])
		fmt.Fprintf(&qrels, "q%02d\te%02d\t2\nq%02d\td%02d\t1\n", i, i, i, i)
	}
	d, err := dataset.BEIR(write(t, map[string]string{"corpus.jsonl": corpus.String(), "queries.jsonl": queries.String(),
		"qrels/test.tsv": qrels.String()}), "")
	must.Do(t, err)
	return d
}

func builtin(t testing.TB, name string) *profile.Profile {
	t.Helper()
	p := must.Get(profile.Load(name, profile.Builtin))
	return p
}

func measures(t testing.TB, list string) []metric.Measure {
	t.Helper()
	out := must.Get(metric.ParseList(list))
	return out
}

func open(t testing.TB, d *dataset.Dataset, in indexing.Options) *eval.Collection {
	t.Helper()
	c := must.Get(indexing.Open(context.Background(), d, in))
	t.Cleanup(c.Close)
	return c
}

// openNotes indexes a folder of notes with queries in a new YAML file in the folder dir.
func openNotes(t *testing.T, dir, queries string, in indexing.Options) (*eval.Collection, error) {
	t.Helper()
	file := filepath.Join(dir, "queries.yaml")
	must.Do(t, os.WriteFile(file, []byte("folder: notes\nqueries:\n"+queries), 0o600))
	d := must.Get(dataset.Notes(file, ""))
	c, err := indexing.Open(t.Context(), d, in)
	if err == nil {
		t.Cleanup(c.Close)
	}
	return c, err
}

// TestEvaluate checks that the engine, the store in memory and a run file are judged the same. Classes, comparisons
// and equal hashes exist.
func TestEvaluate(t *testing.T) {
	d := tiny(t)
	ctx := context.Background()
	in := indexing.Options{Cache: t.TempDir(), Making: detected, Embedder: hashed.New(32)}
	var cs []*eval.Collection
	for _, in.Memory = range []bool{false, true} {
		cs = append(cs, open(t, d, in))
	}
	e := eval.Evaluation{Measures: measures(t, "nDCG@10, RR, R@100, Success@1"), Class: "class",
		Columns: []eval.Column{{Name: "words", Profile: builtin(t, "sheaf"), Parameters: map[string]string{"meaning": "0"}},
			{Name: "rrf", Profile: builtin(t, "rrf")}},
		Options: eval.Options{Depth: 50, Workers: 2}}
	r, runs, err := eval.Evaluate(ctx, cs, e)
	must.Do(t, err)
	must.That(t, len(r.Columns) == 4 && r.Documents == 40 && r.Queries == 20 && r.CorpusHash != "" &&
		r.Columns[0].ProfileHash != r.Columns[1].ProfileHash, "%+v", r)
	for i := range 2 {
		for q, want := range r.Columns[i].PerQuery {
			got := r.Columns[i+2].PerQuery[q]
			check.That(t, slices.Equal(got, want), "%s of %s: %v, and %v in memory", r.Columns[i].Name, q, want, got)
		}
	}
	if s := r.Columns[0].Scores; s[3].Mean < 0.9 || !s[0].Range.Contains(s[0].Mean) {
		t.Errorf("words alone find what is asked for by its name in %+v", s)
	}
	k := r.Columns[0].Classes
	check.That(t, len(k) == 2 && k[0].Class == "even" && k[0].Queries == 10 &&
		math.Abs((k[0].Means[0]+k[1].Means[0])/2-r.Columns[0].Scores[0].Mean) <= 1e-12, "%+v", k)
	check.That(t, len(r.Comparisons) == 3*4 && r.Comparisons[0].Baseline == "embedded: words" &&
		r.Comparisons[0].Better+r.Comparisons[0].Worse+r.Comparisons[0].Equal == 20, "%+v", r.Comparisons)

	file := filepath.Join(t.TempDir(), "words.run")
	var b strings.Builder
	must.Do(t, d.WriteRun(&b, runs[0].Rankings, "words"))
	must.Do(t, os.WriteFile(file, []byte(b.String()), 0o644))
	given := must.Get(eval.Given(d, file))
	e.Columns, e.Given = e.Columns[:1], []*eval.Run{given}
	again, _, err := eval.Evaluate(ctx, cs[:1], e)
	must.Do(t, err)
	check.That(t, again.Columns[0].ProfileHash == r.Columns[0].ProfileHash && again.CorpusHash == r.CorpusHash &&
		again.Columns[1].Latency == nil, "%+v", again.Columns)
	for q, want := range r.Columns[0].PerQuery {
		got := again.Columns[1].PerQuery[q]
		check.That(t, slices.Equal(got, want), "the run file gives %v for %s, the search %v", got, q, want)
	}
	e.Options.Depth = 5
	if shallow, _, err := eval.Evaluate(ctx, cs[:1], e); err != nil || !slices.Equal(shallow.Warnings, []string{
		"nDCG@10 looks deeper than the 5 answers that each query is asked for: it counts no others",
		"R@100 looks deeper than the 5 answers that each query is asked for: it counts no others"}) {
		t.Errorf("%v, warnings %q", err, shallow.Warnings)
	}
	check.That(t, len(again.Changes(1, 0)) == 0, "%+v", again.Changes(1, 0))
}

// TestIndexIsReused checks that a later run uses a complete index, unless it is damaged or of another program.
func TestIndexIsReused(t *testing.T) {
	d := tiny(t)
	d.Documents = append(d.Documents, dataset.Document{ID: "empty"})
	in := indexing.Options{Cache: t.TempDir(), Program: "1"}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, must.Err(indexing.Open(canceled, d, in)), context.Canceled, "canceled")
	c := open(t, d, in)
	check.That(t, c.Indexed != 0 && c.Bytes != 0 && c.View.Docs() == 41, "%+v", c)
	check.Equal(t, open(t, d, in).Indexed, 0, "indexed again")
	in.Fresh = true
	c = open(t, d, in)
	check.That(t, c.Indexed != 0, "not indexed again")
	in.Fresh = false
	files, err := filepath.Glob(filepath.Join(in.Cache, "*", "*", "MANIFEST*"))
	must.That(t, err == nil && len(files) != 0, "manifests %v, %v", files, err)
	for _, file := range files {
		must.Do(t, os.WriteFile(file, []byte("damaged"), 0o600))
	}
	c = open(t, d, in)
	check.That(t, c.Indexed != 0 && c.View.Docs() == 41, "a damaged index was used")
	for _, in.Program = range []string{"2", "3", "4", "5"} {
		c := open(t, d, in)
		check.That(t, c.Indexed != 0, "an index of another program was used")
	}
	entries, err := os.ReadDir(in.Cache)
	check.That(t, err == nil && len(entries) <= 4, "%d indexes are kept, %v", len(entries), err)
}

// downable is a model on a server that may be down.
type downable struct {
	hashed.Embedder
	down bool
}

func (e *downable) Embed(ctx context.Context, p model.Purpose, texts []string) ([][]float32, error) {
	if e.down {
		return nil, sheaf.ErrUnavailable
	}
	return e.Embedder.Embed(ctx, p, texts)
}

// TestModelIsDown checks that a later run embeds documents that have no vectors yet.
func TestModelIsDown(t *testing.T) {
	e := &downable{hashed.New(8), true}
	d, in := tiny(t), indexing.Options{Cache: t.TempDir(), Embedder: e}
	check.Is(t, must.Err(indexing.Open(t.Context(), d, in)), sheaf.ErrUnavailable, "open")
	e.down = false
	if c := open(t, d, in); c.Indexed == 0 || len(c.View.Pending()) > 0 || c.View.Settings().Embedder != e.Model() {
		t.Errorf("%+v, pending %v", c.View.Settings(), c.View.Pending())
	}
}

// TestNotes checks that a folder of notes with a YAML file of queries is judged by document and by
// section. A changed note is indexed again.
func TestNotes(t *testing.T) {
	dir := write(t, map[string]string{
		"notes/git/undo.md": "# Undo\n\nHow to take things back.\n\n## Amend a message\n\nUse commit with amend.\n\n## " +
			"Drop a change\n\nUse restore.\n",
		"notes/git/share.md": "# Share\n\nPush to the server.\n",
	})
	queries := `
  - query: change the message of a commit with amend
    expect: git/undo#Amend a message
    class: section
  - id: push
    query: push to the server
    expect: [git/share.md]
  - query: undo
    expect: {git/undo.md: 2, git/share.md: 1}
`
	in := indexing.Options{Cache: t.TempDir()}
	c := must.Get(openNotes(t, dir, queries, in))
	target := dataset.Section("git/undo.md", "amend-a-message")
	must.That(t, c.Dataset.Qrels["1"][target] == 1 && c.Dataset.Qrels["3"]["git/undo.md"] == 2 && c.View.Docs() == 2,
		"%v, %d documents", c.Dataset.Qrels, c.View.Docs())
	e := eval.Evaluation{Measures: measures(t, "RR"), Options: eval.Options{Depth: 10},
		Columns: []eval.Column{{Name: "words", Profile: builtin(t, "sheaf"), Parameters: map[string]string{"meaning": "0"}}}}
	r, runs, err := eval.Evaluate(context.Background(), []*eval.Collection{c}, e)
	must.Do(t, err)
	got := r.Columns[0].Scores[0].Mean
	check.That(t, got == 1, "RR %v: %v", got, runs[0].Rankings)
	check.That(t, runs[0].Rankings["1"][0].ID == target, "%v", runs[0].Rankings["1"])
	c.Close()
	must.Do(t, os.WriteFile(filepath.Join(dir, "notes/git/share.md"), []byte("# Share\n\nNothing more.\n"),
		0o644))
	next, err := openNotes(t, dir, queries, in)
	check.That(t, err == nil && next.Hash != c.Hash, "a changed note leaves the hash as it was, %v", err)
	in.Cache = t.TempDir()
	for expect, say := range map[string]string{"git/undo.md#Missing": "has no heading",
		"git/nothing.md": `no note "git/nothing.md"`} {
		_, err := openNotes(t, dir, "  - query: x\n    expect: "+expect+"\n", in)
		check.That(t, err != nil && strings.Contains(err.Error(), say) && strings.Contains(err.Error(), "queries.yaml:4"),
			"%s: %v", expect, err)
	}
}

// TestNotesLanguage checks that a folder of notes has the language of its own index.
func TestNotesLanguage(t *testing.T) {
	german := "Die Katze schläft auf dem Sofa, und der Hund liegt neben ihr auf dem Boden; am Abend gehen wir mit ihm " +
		"in den Wald.\n"
	english := "The cat sleeps on the sofa, and the dog lies beside her on the floor; in the evening we walk with him " +
		"to the woods.\n"
	files := map[string]string{"notes/.gitignore": "packages/\n"}
	for i := range 5 {
		files[fmt.Sprintf("notes/a%d.md", i)] = "# Tiere\n\n" + strings.Repeat(german, 5)
	}
	for i := range 40 {
		files[fmt.Sprintf("notes/packages/p%02d.md", i)] = "# Animals\n\n" + strings.Repeat(english, 20)
	}
	c, err := openNotes(t, write(t, files), "  - query: katze\n    expect: [a0.md]\n",
		indexing.Options{Cache: t.TempDir(), Making: detected})
	check.That(t, err == nil && strings.Contains(c.Searcher.Analyzer.Name(), "=de"), "the analyzer of %+v, %v", c, err)
}

// TestNotesWithHashInName checks that the name of a note may contain "#".
func TestNotesWithHashInName(t *testing.T) {
	dir := write(t, map[string]string{
		"notes/C.md":             "# C\n\nA language.\n",
		"notes/C# and F#.md":     "# Sharp\n\nTwo languages.\n\n## Types\n\nOf both.\n",
		"notes/#1 of the day.md": "# One\n\nThe first.\n"})
	in := indexing.Options{Cache: t.TempDir()}
	c := must.Get(openNotes(t, dir, `  - query: languages
    expect: ["C# and F#", "C# and F#.md#types", "#1 of the day.md#One", "#1 of the day", C.md#c]
`, in))
	want := metric.Judgements{"C# and F#.md": 1, dataset.Section("C# and F#.md", "types"): 1,
		dataset.Section("#1 of the day.md", "one"): 1, "#1 of the day.md": 1, dataset.Section("C.md", "c"): 1}
	got := c.Dataset.Qrels["1"]
	check.That(t, maps.Equal(got, want), "%v, want %v", got, want)
	for _, expect := range []string{"C# and F#", "C# and F##types"} {
		c, err := openNotes(t, dir, "  - {query: x, expect: ['"+expect+"']}\n", in)
		sections := expect != "C# and F#"
		check.That(t, err == nil && c.Dataset.Sections == sections, "%s: sections %v, %v", expect, !sections, err)
	}
}

// TestFaultsOfRuns checks wrong parameters, a canceled context, and an evaluation of nothing.
func TestFaultsOfRuns(t *testing.T) {
	c := open(t, tiny(t), indexing.Options{Cache: t.TempDir()})
	ctx := context.Background()
	if _, err := c.Run(ctx, eval.Column{Profile: builtin(t, "sheaf"), Parameters: map[string]string{"nothing": "1"}},
		eval.Options{Depth: 10}); !errors.Is(err, sheaf.ErrInvalid) {
		t.Errorf("%v", err)
	}
	check.Is(t, must.Err(c.Run(ctx, eval.Column{Profile: builtin(t, "sheaf")}, eval.Options{})), sheaf.ErrInvalid,
		"depth 0")
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := c.Run(canceled, eval.Column{Profile: builtin(t, "sheaf")}, eval.Options{Depth: 10}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("%v", err)
	}
	for range 20 { // the cancel comes between two queries or within a query
		canceled, cancel = context.WithCancel(ctx)
		stop := func(done, _ int) {
			if done == 3 {
				cancel()
			}
		}
		r, err := c.Run(canceled, eval.Column{Profile: builtin(t, "sheaf")},
			eval.Options{Depth: 10, Progress: stop})
		check.That(t, errors.Is(err, context.Canceled), "canceled after three queries: %v, %v", r, err)
	}
	_, _, err := eval.Evaluate(ctx, nil, eval.Evaluation{})
	check.That(t, errors.Is(err, sheaf.ErrInvalid), "%v", err)
}
