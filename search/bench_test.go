package search_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sheaf/analysis"
	"sheaf/backend"
	"sheaf/backend/embedded"
	"sheaf/catalog"
	"sheaf/inference"
	"sheaf/inference/hashed"
	"sheaf/ingest"
	"sheaf/profile"
	words "sheaf/query"
	"sheaf/search"
	"sheaf/vfs"
)

// How much of a query is not retrieval: stages, fusion and look-ups, as a share of
// what the store takes, on the folder that SHEAF_TEST_DIR names; at most a tenth
// is promised at 100,000 chunks.
func BenchmarkShareOfStages(b *testing.B) {
	root := os.Getenv("SHEAF_TEST_DIR")
	if root == "" {
		b.Skip("no SHEAF_TEST_DIR: it names a folder of documents")
	}
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		b.Fatal(err)
	}
	model := hashed.New(256)
	c, err := catalog.Open(vfs.Disk{}, b.TempDir(), catalog.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	store, err := embedded.Open(embedded.Options{Dir: b.TempDir(), Analyzer: a, Vectors: []backend.VectorField{
		{Name: backend.VectorBody, Model: model.Model(), Dims: 256}, {Name: backend.VectorTitle, Model: model.Model(), Dims: 256}}})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	if _, err := ingest.Run(context.Background(), ingest.Options{Catalog: c, Backend: store, Trees: []catalog.Tree{{Name: "t", Root: root}}, Embedder: model, CommitBytes: 256 << 20}); err != nil {
		b.Fatal(err)
	}
	view := c.View()
	defer view.Close()
	s := &search.Searcher{Backend: store, Facts: view, Embed: func(ctx context.Context, text string) ([]float32, error) {
		v, err := model.Embed(ctx, inference.Query, []string{text})
		return v[0], err
	}}
	queries := []string{"how do I install a module", "execution policy", "variable scope", "remote session"}
	for _, name := range []string{"sheaf", "sonar", "tree", "onyx-vespa", "rrf"} {
		b.Run(name, func(b *testing.B) {
			p := load(b, name)
			var shares []float64
			for i := 0; b.Loop(); i++ {
				shares = append(shares, share(b, s, p, queries[i%len(queries)]))
			}
			slices.Sort(shares)
			b.ReportMetric(shares[len(shares)/2], "%stages")
			b.ReportMetric(float64(view.Chunks()), "chunks")
		})
	}
}

// share is how long everything but retrieval took of one query, in percent of
// retrieval. Branches run together, so the longest of a phase counts.
func share(b *testing.B, s *search.Searcher, p *profile.Profile, text string) float64 {
	r, err := s.Search(context.Background(), words.Parse(text, words.Options{Limit: 10}), p, search.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var first, second, rest time.Duration
	for _, t := range r.Took {
		switch {
		case strings.HasPrefix(t.Step, "first phase") && strings.HasSuffix(t.Step, "retrieve"):
			first = max(first, t.Duration)
		case strings.HasSuffix(t.Step, "retrieve"):
			second = max(second, t.Duration)
		case t.Step != "embed":
			rest += t.Duration
		}
	}
	return 100 * float64(rest) / float64(first+second)
}
