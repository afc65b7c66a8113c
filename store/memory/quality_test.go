package memory_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sheaf"
	"sheaf/eval/metric"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/text/analysis"
)

// collection is a judged set with the known nDCG@10 of BM25 (k1 1.2, b 0.75, title and text as one
// field). The figures come with the sets; they used Porter's stemmer, 33 stop words, and pairs of
// characters.
type collection struct {
	name     string
	language string // of the analyzer; "detect" means the result of Detect
	want     float64
	large    bool // runs only with SHEAF_TEST_LONG
}

var collections = []collection{
	{"adi", "en", 0.4814, false},
	{"medline", "en", 0.6897, false},
	{"cranfield", "en", 0.3585, false},
	{"product-docs-chunks", "en", 0.7044, false},
	{"anchors-dendron", "en", 0.4950, false},
	{"xquad/en", "en", 0.962, false},
	{"xquad/de", "de", 0.922, false},
	{"xquad/ar", "ar", 0.889, false},
	{"xquad/th", "", 0.867, false},
	{"xquad/zh", "", 0.963, false},
	{"scifact", "en", 0.6827, true},
	{"npl-vaswani", "en", 0.4318, true},
	{"cosqa", "en", 0.3857, true},
	{"cmrc2018-zh", "", 0.9843, true},
	{"anchors-react-en", "en", 0.6113, true},
	{"anchors-react-ja", "", 0.5873, true},
	{"anchors-powershell", "en", 0.8530, true},
}

// TestQuality checks that nDCG@10 is at most 0.01 below the known figure.
func TestQuality(t *testing.T) {
	root := filepath.Join("..", "..", "..", "shared", "data")
	if from := os.Getenv("SHEAF_DATA"); from != "" {
		root = from
	}
	for _, c := range collections {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(root, filepath.FromSlash(c.name))
			if _, err := os.Stat(dir); err != nil {
				t.Skipf("no %s: set SHEAF_DATA to a folder of judged sets in BEIR layout", dir)
			}
			if os.Getenv("SHEAF_TEST_LONG") == "" && (c.large || testing.Short()) {
				t.Skip("a large set: set SHEAF_TEST_LONG")
			}
			got := ndcg(t, dir, c.language)
			t.Logf("nDCG@10 %.4f, known %.4f", got, c.want)
			if got < c.want-0.01 {
				t.Errorf("nDCG@10 %.4f, want at least %.4f - 0.01", got, c.want)
			}
		})
	}
}

func ndcg(t *testing.T, dir, language string) float64 {
	t.Helper()
	ctx := t.Context()
	a, err := analysis.New(analysis.Options{Language: language})
	if err != nil {
		t.Fatal(err)
	}
	st := memory.New(a)
	var batch store.Batch
	lines(t, dir, "corpus.jsonl", func(line []byte) error {
		d, err := decode(line)
		if err != nil {
			return err
		}
		batch.Chunks = append(batch.Chunks, store.Chunk{ID: sheaf.ID(d.ID), Doc: sheaf.ID(d.ID),
			Fields: []store.Field{{Name: sheaf.FieldBody, Text: d.Title + "\n" + d.Text}}})
		return nil
	})
	if err := st.Write(ctx, batch); err != nil {
		t.Fatal(err)
	}
	measure, err := metric.Parse("nDCG@10")
	if err != nil {
		t.Fatal(err)
	}
	qrels := judgements(t, dir)
	sum, n := 0.0, 0
	lines(t, dir, "queries.jsonl", func(line []byte) error {
		q, err := decode(line)
		if err != nil || qrels[q.ID] == nil {
			return err
		}
		found, err := st.Retrieve(ctx, store.Request{Limit: 10, Text: &store.TextRequest{Query: sheaf.Match{Text: q.Text},
			Fields: []store.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}}, K1: store.DefaultK1, B: store.DefaultB}})
		if err != nil {
			return err
		}
		var ranking []string
		for _, h := range found {
			ranking = append(ranking, string(h.ID))
		}
		sum += measure.Of(ranking, qrels[q.ID])
		n++
		return nil
	})
	if n == 0 {
		t.Fatalf("%s: no query has judgements", dir)
	}
	return sum / float64(n)
}

// record is a line of the documents or of the queries.
type record struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

func decode(line []byte) (record, error) {
	var r record
	err := json.Unmarshal(line, &r)
	return r, err
}

// lines calls f for every line of a file of the set, which may be compressed.
func lines(t *testing.T, dir, name string, f func(line []byte) error) {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		if file, err = os.Open(filepath.Join(dir, name+".gz")); err != nil {
			t.Fatal(err)
		}
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(file.Name(), ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<26)
	for n := 1; s.Scan(); n++ {
		if err := f(s.Bytes()); err != nil {
			t.Fatalf("%s:%d: %v", file.Name(), n, err)
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}

// judgements returns the judgements of the test split, by query.
func judgements(t *testing.T, dir string) map[string]metric.Judgements {
	t.Helper()
	out := map[string]metric.Judgements{}
	lines(t, filepath.Join(dir, "qrels"), "test.tsv", func(line []byte) error {
		parts := strings.Split(string(line), "\t")
		if len(parts) != 3 {
			return fmt.Errorf("%d columns", len(parts))
		}
		gain, err := strconv.Atoi(parts[2])
		if err != nil {
			if parts[0] == "query-id" {
				return nil // the heading
			}
			return err
		}
		if out[parts[0]] == nil {
			out[parts[0]] = metric.Judgements{}
		}
		out[parts[0]][parts[1]] = gain
		return nil
	})
	return out
}
