package dataset_test

import (
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheaf"
	"sheaf/eval/dataset"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// write creates files in a new folder, from texts "name\ncontent".
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(full), 0o755))
		must.Do(t, os.WriteFile(full, []byte(content), 0o644))
	}
	return dir
}

const (
	corpus  = "{\"_id\": \"a\", \"title\": \"A\", \"text\": \"alpha\"}\n\n{\"_id\": \"b\", \"text\": \"beta\"}\n"
	queries = "{\"_id\": \"q\", \"text\": \"what\", \"metadata\": {\"class\": \"low\", \"n\": 3}}\n{\"_id\": " +
		"\"unjudged\", \"text\": \"\"}\n"
	qrels = "query-id\tcorpus-id\tscore\nq\ta\t2\nq\tb\t0\n"
)

func TestBEIR(t *testing.T) {
	dir := write(t, map[string]string{"corpus.jsonl": corpus, "queries.jsonl": queries, "qrels/test.tsv": qrels})
	d := must.Get(dataset.BEIR(dir, ""))
	check.That(t, len(d.Documents) == 2 && d.Documents[0] == (dataset.Document{ID: "a", Title: "A", Text: "alpha"}) &&
		d.Judgements() == 2, "%+v", d)
	check.That(t, len(d.Queries) == 1 && d.Queries[0].Class["class"] == "low" && d.Qrels["q"]["a"] == 2 &&
		len(d.Warnings) == 0, "%+v", d)
	again, err := dataset.BEIR(dir, "test")
	check.That(t, err == nil && again.Hash == d.Hash && again.QueryHash == d.QueryHash && d.Hash != d.QueryHash,
		"hashes %s %s, %v", again.Hash, d.Hash, err)
}

// TestOwnDocument checks that the document whose text a query is does not answer it, unless it is judged so.
func TestOwnDocument(t *testing.T) {
	const corpus = `{"_id": "a", "title": "One", "text": "alpha  beta"}` + "\n" + `{"_id": "b", "text": "beta"}` + "\n" +
		`{"_id": "c", "text": "gamma"}` + "\n" + `{"_id": "d", "text": "delta"}` + "\n"
	const queries = `{"_id": "a", "text": "One alpha\nbeta"}` + "\n" + `{"_id": "b", "text": "what"}` + "\n" +
		`{"_id": "c", "text": "gamma"}` + "\n" + `{"_id": "d", "text": "delta"}` + "\n"
	dir := write(t, map[string]string{"corpus.jsonl": corpus, "queries.jsonl": queries,
		"qrels/test.tsv": "query-id\tcorpus-id\tscore\na\tb\t1\nb\ta\t1\nc\tb\t1\nd\td\t1\n"})
	d := must.Get(dataset.BEIR(dir, ""))
	for i, own := range []bool{true, false, true, false} {
		q := d.Queries[i]
		check.That(t, q.Own == own && (q.Filter != nil) == own, "%+v", q)
	}
	check.That(t, len(d.Warnings) == 1 && strings.HasPrefix(d.Warnings[0], "2 of 4 queries"), "%q", d.Warnings)
}

// TestFaults checks that a fault is an error with its position, and a minor fault is a warning.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		file, content string
		kind          error
		say           string // part of the error, or of a warning when kind is nil
	}{
		"no corpus":     {"corpus.jsonl", "-", sheaf.ErrNotFound, "corpus.jsonl"},
		"no queries":    {"queries.jsonl", "-", sheaf.ErrNotFound, "queries.jsonl"},
		"no judgements": {"qrels/test.tsv", "-", sheaf.ErrNotFound, "qrels"},
		"not JSON":      {"corpus.jsonl", corpus + "{\"_id\": ", sheaf.ErrInvalid, "corpus.jsonl:4: no valid JSON"},
		"a number as text": {"corpus.jsonl", `{"_id": "a", "text": 3}`, sheaf.ErrInvalid, `corpus.jsonl:1: "text" ` +
			`must be a text`},
		"a number as ID": {"corpus.jsonl", `{"_id": 1, "text": "x"}`, sheaf.ErrInvalid,
			`corpus.jsonl:1: "_id" must be a text`},
		"a list": {"corpus.jsonl", "[1]", sheaf.ErrInvalid, "corpus.jsonl:1: the line must be a JSON object"},
		"no text": {"corpus.jsonl", `{"_id": "a"}`, sheaf.ErrInvalid,
			`corpus.jsonl:1: document "a" needs a "text"`},
		"a document twice": {"corpus.jsonl", corpus + `{"_id": "a", "text": "x"}`, sheaf.ErrInvalid,
			`corpus.jsonl:4: document "a" stands in line 1 already`},
		"no documents": {"corpus.jsonl", "\n\n", sheaf.ErrInvalid, "has no documents"},
		"a query twice": {"queries.jsonl", queries + `{"_id": "q", "text": "x"}`, sheaf.ErrInvalid,
			`queries.jsonl:3: query "q" occurs twice`},
		"an empty query": {"queries.jsonl", `{"_id": "q", "text": " "}`, sheaf.ErrInvalid, `queries.jsonl:1: query "q" ` +
			`has no text`},
		"an unknown query": {"qrels/test.tsv", qrels + "z\ta\t1\n", sheaf.ErrInvalid, `test.tsv:4: judges query "z"`},
		"no such documents": {"qrels/test.tsv", "query-id\tcorpus-id\tscore\nq\tx\t1\n", sheaf.ErrInvalid,
			"none of the 1 judged documents"},
		"a gain of words": {"qrels/test.tsv", qrels + "q\tc\thigh\n", sheaf.ErrInvalid, `test.tsv:4: the gain is "high"`},
		"two gains":       {"qrels/test.tsv", qrels + "q\ta\t1\n", sheaf.ErrInvalid, "has gain 1 here and 2 before"},
		"a short line":    {"qrels/test.tsv", qrels + "q\ta\n", sheaf.ErrInvalid, "test.tsv:4: want 3 columns"},
		"an empty file":   {"qrels/test.tsv", "\n", sheaf.ErrInvalid, "has no judgements"},
		"no header":       {"qrels/test.tsv", "this is prose\n", sheaf.ErrInvalid, "test.tsv:1: want judgements as"},
		"an unknown one": {"qrels/test.tsv", qrels + "q\tzz\t1\n", nil, `1 of 3 judged documents are not in the ` +
			`collection and count as not found, such as "zz" of query "q"`},
		"a negative gain": {"qrels/test.tsv", qrels + "q\tb\t0\nq\ta\t2\n", nil, "written twice, with the same gain: 2"},
		"TREC":            {"qrels/test.tsv", "q 0 a -2\nq 0 b 1\n", nil, "not relevant: 1"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"corpus.jsonl": corpus, "queries.jsonl": queries, "qrels/test.tsv": qrels}
			if files[c.file] = c.content; c.content == "-" {
				delete(files, c.file)
			}
			d, err := dataset.BEIR(write(t, files), "")
			if c.kind == nil {
				check.That(t, err == nil && strings.Contains(strings.Join(d.Warnings, "\n"), c.say), "%v, warnings %q, want %q",
					err, d.Warnings, c.say)
			} else if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) {
				t.Errorf("%v, want %v with %q", err, c.kind, c.say)
			}
		})
	}
}

func TestSplits(t *testing.T) {
	dir := write(t, map[string]string{"corpus.jsonl": corpus, "queries.jsonl": queries, "qrels/test.tsv": qrels,
		"qrels/sections.tsv": "query-id\tcorpus-id\theading-slug\theading-index\theading\nq\ta\tsetup\t3\tSetup\n"})
	d, err := dataset.BEIR(dir, "sections")
	check.That(t, err == nil && d.Sections && d.Qrels["q"][dataset.Section("a", "setup")] == 1, "%+v, %v", d, err)
	zipped := write(t, map[string]string{"corpus.jsonl": corpus, "queries.jsonl": queries, "qrels/train.tsv": qrels,
		"qrels/test.tsv.gz": gzipped(t, qrels)})
	d, err = dataset.BEIR(zipped, "")
	check.That(t, err == nil && d.Judgements() == 2, "judgements that are compressed: %+v, %v", d, err)
	check.Fails(t, must.Err(dataset.BEIR(dir, "dev")), sheaf.ErrNotFound, "it has sections, test", "no section dev")
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	w := gzip.NewWriter(&b)
	must.Get(w.Write([]byte(text)))
	must.Do(t, w.Close())
	return b.String()
}
