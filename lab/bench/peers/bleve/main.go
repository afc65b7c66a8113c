// Command bleve runs Bleve as a peer of sheaf bench: a query is a disjunction over title and text.
package main

import (
	"context"
	"runtime/debug"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search/query"

	"sheaf/eval/benchmark"
)

func main() {
	benchmark.Main(func(task benchmark.Task, _ benchmark.Meta) benchmark.Engine {
		if task != benchmark.TaskWords {
			return nil
		}
		return &engine{}
	})
}

type engine struct{ index bleve.Index }

func (e *engine) Version() string {
	info, _ := debug.ReadBuildInfo()
	for _, m := range info.Deps {
		if m.Path == "github.com/blevesearch/bleve/v2" {
			return m.Version
		}
	}
	return ""
}

func mappingOf() mapping.IndexMapping {
	text := bleve.NewTextFieldMapping()
	text.Analyzer, text.Store, text.IncludeInAll, text.DocValues = en.AnalyzerName, false, false, false
	doc := bleve.NewDocumentStaticMapping()
	doc.AddFieldMappingsAt("title", text)
	doc.AddFieldMappingsAt("text", text)
	m := bleve.NewIndexMapping()
	m.DefaultMapping = doc
	m.ScoringModel = "bm25"
	return m
}

const batchSize = 1000

func (e *engine) Build(_ context.Context, dir string, docs []benchmark.Document, _ [][]float32) error {
	index, err := bleve.New(dir+"/bleve", mappingOf())
	if err != nil {
		return err
	}
	for from := 0; from < len(docs); from += batchSize {
		batch := index.NewBatch()
		for _, d := range docs[from:min(from+batchSize, len(docs))] {
			if err := batch.Index(d.ID, map[string]any{"title": d.Title, "text": d.Text}); err != nil {
				return err
			}
		}
		if err := index.Batch(batch); err != nil {
			return err
		}
	}
	return index.Close()
}

func (e *engine) Open(dir string) (err error) {
	e.index, err = bleve.Open(dir + "/bleve")
	return err
}

func (e *engine) Ask(ctx context.Context, text string, _ []float32) ([]string, error) {
	var fields []query.Query
	for _, name := range []string{"title", "text"} {
		q := bleve.NewMatchQuery(text)
		q.SetField(name)
		fields = append(fields, q)
	}
	found, err := e.index.SearchInContext(ctx,
		bleve.NewSearchRequestOptions(bleve.NewDisjunctionQuery(fields...), benchmark.Top, 0, false))
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, hit := range found.Hits {
		ids = append(ids, hit.ID)
	}
	return ids, nil
}

func (e *engine) Close() error { return e.index.Close() }
