package memory_test

import (
	"os"
	"path/filepath"
	"testing"

	"sheaf"
	"sheaf/eval/dataset"
	"sheaf/eval/metric"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/store/storetest"
)

// collection is a judged set with the known nDCG@10 of BM25 (k1 1.2, b 0.75, title and text together). The figures
// come with the sets; they used Porter's stemmer, 33 stop words, and pairs of characters.
type collection struct {
	name     string
	language string // of the analyzer
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
			check.That(t, got >= c.want-0.01, "nDCG@10 %.4f, want at least %.4f - 0.01", got, c.want)
		})
	}
}

func ndcg(t *testing.T, dir, language string) float64 {
	t.Helper()
	set := must.Get(dataset.BEIR(dir, "test"))
	st := memory.New(storetest.Analyzer(t, language))
	var batch store.Batch
	for _, d := range set.Documents {
		batch.Chunks = append(batch.Chunks, store.Chunk{ID: sheaf.ID(d.ID), Doc: sheaf.ID(d.ID),
			Fields: []store.Field{{Name: sheaf.FieldBody, Text: d.Title + "\n" + d.Text}}})
	}
	must.Do(t, st.Write(t.Context(), batch))
	measure := must.Get(metric.Parse("nDCG@10"))
	sum := 0.0
	for _, q := range set.Queries {
		found := must.Get(st.Retrieve(t.Context(), store.Request{Limit: 10, Text: &store.TextRequest{
			Query: sheaf.Match{Text: q.Text}, Fields: []store.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}},
			K1: store.DefaultK1, B: store.DefaultB}}))
		var ranking []string
		for _, h := range found {
			ranking = append(ranking, string(h.ID))
		}
		sum += measure.Of(ranking, set.Qrels[q.ID])
	}
	return sum / float64(len(set.Queries))
}
