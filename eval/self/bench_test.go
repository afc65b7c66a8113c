package self_test

import (
	"context"
	"os"
	"testing"

	"sheaf/collection"
	"sheaf/eval"
	"sheaf/eval/dataset"
	"sheaf/eval/indexing"
	"sheaf/eval/self"
	"sheaf/model/static/english"
)

// folder returns the index of the folder SHEAF_TEST_DIR.
func folder(b *testing.B) *eval.Collection {
	b.Helper()
	dir := os.Getenv("SHEAF_TEST_DIR")
	if dir == "" {
		b.Skip("no SHEAF_TEST_DIR: it names a folder of documents")
	}
	embedder, err := english.New()
	if err != nil {
		b.Fatal(err)
	}
	c, err := indexing.Open(context.Background(), &dataset.Dataset{Name: "folder", Folder: dir},
		indexing.Options{Cache: b.TempDir(), Making: collection.Making{Language: "auto"},
			Embedder: embedder})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	return c
}

// BenchmarkQueries makes 300 queries from the documents in SHEAF_TEST_DIR.
func BenchmarkQueries(b *testing.B) {
	c := folder(b)
	for b.Loop() {
		items, err := self.Make(context.Background(), c, self.Wanted{PerKind: 60, Impossible: 60, Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(items)), "queries")
	}
}

// BenchmarkSelf compares two rankings on the documents in SHEAF_TEST_DIR.
func BenchmarkSelf(b *testing.B) {
	c := folder(b)
	p := builtinProfile(b, "sheaf")
	o := self.Options{Queries: self.Wanted{PerKind: 60, Seed: 1}, Statistics: eval.DefaultStatistics,
		Columns: []eval.Column{{Name: "sheaf", Profile: p},
			{Name: "words", Profile: p, Parameters: map[string]string{"meaning": "0"}}}}
	for b.Loop() {
		if _, err := self.Evaluate(context.Background(), c, o); err != nil {
			b.Fatal(err)
		}
	}
}
