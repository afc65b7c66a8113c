package search_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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

// made is a folder of 10,000 notes of nine sections, which are 100,000 chunks with
// the notes themselves; words are as unevenly spread as in real text, and each note
// links to the one before it.
func made(b *testing.B) string {
	b.Helper()
	root := b.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 8, 30_000)
	for i := range 10_000 {
		var t strings.Builder
		fmt.Fprintf(&t, "---\ndate: 20%02d-0%d-11\nboost: %d\n---\n", 10+i%15, 1+i%9, i%7-3)
		for range 9 {
			fmt.Fprintf(&t, "# %s %s\n\nSee [[%05d]]. ", word(zipf.Uint64()), word(zipf.Uint64()), max(i-1, 0))
			for range 50 {
				t.WriteString(word(zipf.Uint64()))
				t.WriteByte(' ')
			}
			t.WriteString("\n\n")
		}
		name := filepath.Join(root, fmt.Sprintf("%02d", i/100), fmt.Sprintf("%05d.md", i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(t.String()), 0o644)); err != nil {
			b.Fatal(err)
		}
	}
	return root
}

// word is the nth word of a language that nobody speaks.
func word(n uint64) string {
	const syllables = "bacedifoguhajekilomunapeqirosutavewixoyuza"
	var text []byte
	for n++; n > 0; n /= 21 {
		text = append(text, syllables[2*(n%21):2*(n%21)+2]...)
	}
	return string(text)
}

// How much of a query is not retrieval: stages, fusion and look-ups, as a share of
// what the store takes, at 100,000 chunks, where at most a tenth is promised; or on
// the folder that SHEAF_TEST_DIR names, with the queries of SHEAF_TEST_QUERIES.
func BenchmarkShareOfStages(b *testing.B) {
	queries := []string{word(26) + " " + word(43), word(63) + " " + word(119) + " " + word(291), word(9) + " " + word(512), word(8191)}
	root := os.Getenv("SHEAF_TEST_DIR")
	if root == "" {
		root = made(b)
	} else {
		queries = []string{"how do I install a module", "execution policy", "variable scope", "remote session"}
	}
	if words := os.Getenv("SHEAF_TEST_QUERIES"); words != "" {
		queries = strings.Split(words, ",")
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
	for _, name := range []string{"sheaf", "sonar", "tree", "onyx-vespa", "rrf"} {
		b.Run(name, func(b *testing.B) {
			p := load(b, name)
			for _, text := range queries { // what a process reads once is not a query's
				share(b, s, p, text)
			}
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
