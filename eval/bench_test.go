package eval_test

import (
	"context"
	"os"
	"testing"

	"sheaf/eval"
	"sheaf/eval/dataset"
	"sheaf/eval/indexing"
	"sheaf/model/static/english"
)

// BenchmarkEvaluate evaluates a data set with the built-in model, from its files to the report. The data
// set is in the folder SHEAF_TEST_DATASET, or a small one. The first run of each measurement indexes.
func BenchmarkEvaluate(b *testing.B) {
	d := tiny(b)
	if dir := os.Getenv("SHEAF_TEST_DATASET"); dir != "" {
		var err error
		if d, err = dataset.BEIR(dir, ""); err != nil {
			b.Fatal(err)
		}
	}
	model, err := english.New()
	if err != nil {
		b.Fatal(err)
	}
	e := eval.Evaluation{Measures: measures(b, "nDCG@10", "R@100"), Statistics: eval.DefaultStatistics,
		Options: eval.Options{Depth: 100},
		Columns: []eval.Column{{Name: "sheaf", Profile: builtin(b, "sheaf")}}}
	for b.Loop() {
		c, err := indexing.Open(context.Background(), d,
			indexing.Options{Cache: b.TempDir(), Making: detected, Embedder: model})
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := eval.Evaluate(context.Background(), []*eval.Collection{c}, e); err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
	b.ReportMetric(float64(len(d.Documents)*b.N)/b.Elapsed().Seconds(), "docs/s")
	b.ReportMetric(float64(len(d.Queries)*b.N)/b.Elapsed().Seconds(), "queries/s")
}

// BenchmarkCachedLegs measures one setting of a search for parameters: the stages of every query on
// cached legs.
func BenchmarkCachedLegs(b *testing.B) {
	c := open(b, tiny(b), indexing.Options{Cache: b.TempDir(), Making: detected}).Cached()
	col := eval.Column{Name: "sheaf", Profile: builtin(b, "sheaf"), Parameters: map[string]string{"meaning": "0"}}
	for b.Loop() {
		if _, err := c.Run(context.Background(), col, eval.Options{Depth: 10, Plain: true}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(c.Dataset.Queries)), "µs/query")
}
