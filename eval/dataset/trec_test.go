package dataset_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sheaf"
	"sheaf/eval/dataset"
	"sheaf/eval/metric"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

func TestTREC(t *testing.T) {
	topics := "<top>\n<num> Number: 301\n<title> International Organized\nCrime\n<desc> Description:\nIdentify " +
		"them.\n</top>\n<top>\n<num>302</num><title>Poliomyelitis</title>\n</top>\n"
	dir := write(t, map[string]string{"c/corpus.jsonl": corpus, "tops": topics, "lines.tsv": "301\twhat\n302\twhere\n",
		"qrels": "301 0 a 1\n301 0 b 0\n302 0 b 2\n", "notes/x.md": "x", "none.txt": "301 without a tab\n",
		"open": "<top>\n<num> 301\n", "inner": "<top>\n<top>\n", "unnamed": "<top>\n<title> x\n</top>\n"})
	in := func(name string) string { return filepath.Join(dir, name) }
	d, err := dataset.TREC(in("c"), in("tops"), in("qrels"))
	must.Do(t, err)
	check.That(t, len(d.Queries) == 2 && d.Queries[0].ID == "301" &&
		d.Queries[0].Text == "International Organized Crime" && d.Queries[1].Text == "Poliomyelitis" &&
		d.Qrels["302"]["b"] == 2, "%+v", d)
	d, err = dataset.TREC(in("notes"), in("lines.tsv"), in("qrels"))
	check.That(t, err == nil && d.Folder != "" && d.Queries[1].Text == "where", "%+v, %v", d, err)
	for file, say := range map[string]string{"none.txt": "none.txt:1: want an ID, a tab", "nothing": "not found",
		"open":  "open:1: a <top> has no </top>",
		"inner": "inner:2: a <top> begins inside", "unnamed": "unnamed:3: the topic has no <num>"} {
		_, err := dataset.TREC(in("c"), in(file), in("qrels"))
		check.That(t, err != nil && strings.Contains(err.Error(), say), "%s: %v", file, err)
	}
	check.Is(t, must.Err(dataset.TREC(in("nowhere"), in("tops"), in("qrels"))), sheaf.ErrNotFound, "a missing file")
}

// TestRunFaults checks a run file with NaN, with too few words, and with a repeated document.
func TestRunFaults(t *testing.T) {
	d := &dataset.Dataset{}
	for content, say := range map[string]string{
		"q Q0 a 1 2 x\nq Q0 b 2 NaN x\n": `run:2: the score of "b" is NaN`,
		"q Q0 a 1 inf x\n":               "must be a finite number",
		"q Q0 a 1\n":                     "run:1: ",
		"q Q0 a 1 2 x\nq Q0 a 2 1 x\n":   `:2: query "q" lists "a" twice`,
	} {
		dir := write(t, map[string]string{"run": content})
		_, _, err := d.ReadRun(filepath.Join(dir, "run"))
		check.That(t, errors.Is(err, sheaf.ErrInvalid) && strings.Contains(err.Error(), say), "%q: %v, want %q", content, err,
			say)
	}
}

// TestRunOrder checks that ranks do not count, and that equal scores are in the order of trec_eval.
func TestRunOrder(t *testing.T) {
	dir := write(t, map[string]string{"run": "q Q0 a 1 0.5 x\nq Q0 c 2 0.5 x\nq Q0 b 3 0.5 x\nq Q0 z 9 7e-1 x\n"})
	got, name, err := (&dataset.Dataset{}).ReadRun(filepath.Join(dir, "run"))
	must.That(t, err == nil && name == "x", "%v", err)
	order := ""
	for _, s := range got["q"] {
		order += s.ID
	}
	check.Equal(t, order, "zcba", "order")
}

// TestRunsReadBack checks that a written run reads back in the same order, for any scores and names.
func TestRunsReadBack(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		d := &dataset.Dataset{Queries: []dataset.Query{{ID: "q 1"}}, Qrels: map[string]metric.Judgements{"q 1": {}}}
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c /%　]{1,6}(\x00[a-z-]{1,4})?`), 0, 20, func(s string) string {
			return strings.NewReplacer(" ", "%20", "　", "%E3%80%80", "\x00", "#").Replace(s)
		}).Draw(t, "ids")
		var list []metric.Scored
		score := 1e3
		for _, id := range ids {
			score -= rapid.SampledFrom([]float64{0, 1e-12, 0.5, 1e-5}).Draw(t, "step")
			list = append(list, metric.Scored{ID: id, Score: score})
			d.Qrels["q 1"][id] = 1
		}
		file := filepath.Join(dir, "run")
		f := must.Get(os.Create(file))
		must.Do(t, d.WriteRun(f, map[string][]metric.Scored{"q 1": list}, "my run"))
		must.Do(t, f.Close())
		got, _, err := d.ReadRun(file)
		must.Do(t, err)
		back := got["q 1"]
		must.That(t, len(back) == len(list), "%d of %d", len(back), len(list))
		for i := range list {
			must.That(t, back[i].ID == list[i].ID && math.Abs(back[i].Score-list[i].Score) <= 1e-2, "%d: %+v, want %+v", i,
				back[i], list[i])
		}
	})
}

// TestNotesFaults checks that each error names the fault and its position.
func TestNotesFaults(t *testing.T) {
	const first = "folder: notes\nqueries:\n  - "
	for content, say := range map[string]string{
		"queries: []\n":                                                                  "names no folder",
		first + "query: x\n":                                                             "expects nothing",
		first + "query: ''\n    expect: a.md\n":                                          "has no text",
		first + "qury: x\n    expect: a.md\n":                                            "qury",
		first + "query: x\n    expect: [a.md, a.md]\n":                                   "twice",
		first + "query: x\n    expect: {a.md: best}\n":                                   "line 4: the gain is \"best\"",
		first + "query: x\n    expect: [[a.md]]\n":                                       "line 4: an expectation is a path",
		first + "{id: a, query: x, expect: a.md}\n  - {id: a, query: y, expect: b.md}\n": "occurs twice",
		"folder: elsewhere\nqueries:\n  - query: x\n    expect: a.md\n":                  "not found",
		"folder: notes\nqueries: " + strings.Repeat("[", 400) +
			"\n": "line 2, column 29: nested deeper than 20 levels",
		"folder: notes\nqueries:\n   !:\n":                           "cannot be read",
		"folder: notes\nqueries: [\n":                                "q.yaml",
		"folder: q.yaml\nqueries:\n  - query: x\n    expect: a.md\n": "is no folder",
	} {
		dir := write(t, map[string]string{"q.yaml": content, "notes/a.md": "a"})
		_, err := dataset.Notes(filepath.Join(dir, "q.yaml"), "")
		check.That(t, err != nil && strings.Contains(err.Error(), say), "%q: %v, want %q", content, err, say)
	}
}

// FuzzReaders checks that no file makes a reader panic or hang.
func FuzzReaders(f *testing.F) {
	for _, seed := range []string{corpus, queries, qrels, "q 0 a 1\n", "<top><num>1<title>x</top>", "<", "q Q0 a 1 2 x\n",
		"folder: .\nqueries:\n  - query: x\n    expect: [a.md#b, {c.md: 2}]\n", "- - -\n  {"} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	for name, content := range map[string]string{"corpus.jsonl": corpus, "queries.jsonl": queries} {
		must.Do(f, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		odd := filepath.Join(dir, "odd")
		must.Do(t, os.WriteFile(odd, content, 0o644))
		_, _ = dataset.TREC(dir, odd, odd)
		_, _ = dataset.TREC(dir, filepath.Join(dir, "queries.jsonl"), odd)
		_, _ = dataset.Notes(odd, dir)
		_, _, _ = (&dataset.Dataset{}).ReadRun(odd)
	})
}
