package collection_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/text/chunk"
)

// readsTexts is a reranking model that keeps the texts it gets.
type readsTexts struct{ texts []string }

func (*readsTexts) Model() string { return "keeps" }

func (m *readsTexts) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	m.texts = texts
	return make([]float64, len(texts)), nil
}

// gathers is a profile that returns documents and reranks them. It has the name of the profile that
// Fused uses.
const gathers = `name: rrf
about: Documents by words and meaning.
parameters:
  method: {default: rrf, one_of: [rrf, weighted_sum], about: How both join.}
  rrf_k: {default: 60, min: 1, max: 1000, integer: true, about: The constant.}
branches:
  - name: vector
    retrieve: vector
    limit: 50
    then: [aggregate: {to: document, method: max_p}]
  - name: text
    retrieve: text
    fields: {body: 1}
    limit: 50
    then: [aggregate: {to: document, method: max_p}]
fuse: {method: $method, k: rrf_k}
then:
  - rerank: {n: 10}
  - top: limit
`

// TestDocumentInPieces checks that a document in pieces, which has no chunk with its own name, is
// shown, read and explained like any other.
func TestDocumentInPieces(t *testing.T) {
	for _, chunker := range []string{"window", "sections"} {
		t.Run(chunker, func(t *testing.T) {
			model := &readsTexts{}
			f := collectiontest.Open(t, map[string]string{
				"port.md": "---\ntags: [sea]\n---\n# Port\n\nShips come and go.\n\n## Cranes\n\nThe harbor has nine cranes.\n",
				"farm.md": "# Farm\n\nCows and barley, far from [the port](port.md).\n",
				"dock.md": "# Dock\n\nNine cranes stand there, where ships come.\n",
			}, func(o *collection.Options) {
				o.Ingest.Chunk = chunk.Options{Chunker: chunker}
				o.Rerank = model
				writeFile(t, filepath.Join(o.ProfileDirs[0], "rrf.yaml"), gathers)
			})
			r := reader(t, f, access.Unrestricted())
			for _, profile := range []string{"sonar", "bench"} {
				a := find(t, r, collection.SearchRequest{Text: "harbor", Profile: profile})
				if len(a.Results) == 0 || a.Results[0].ID != "notes:port.md" {
					t.Fatalf("%s: %+v", profile, a)
				}
				if first := a.Results[0]; len(a.Warnings) > 0 || first.Stale || !strings.Contains(first.Snippet, "nine cranes") ||
					len(first.Matches) == 0 || first.Line < 6 {
					t.Errorf("%s: %+v, warnings %q", profile, first, a.Warnings)
				}
				why, err := r.WhyNot(t.Context(), collection.SearchRequest{Text: "harbor", Profile: profile}, "notes:port.md")
				if err != nil || why.Rank != 1 {
					t.Errorf("%s: why not: %+v, %v", profile, why, err)
				}
				why, err = r.WhyNot(t.Context(), collection.SearchRequest{Text: "+harbor", Profile: profile}, "notes:farm.md")
				if err != nil || why.Rank != 0 || len(why.Reasons) == 0 {
					t.Errorf("%s: why not the other: %+v, %v", profile, why, err)
				}
			}
			part, err := r.Get(t.Context(), "notes:port.md", collection.GetOptions{Neighbors: 1})
			if err != nil || !strings.Contains(part.Text, "nine cranes") || part.Title != "Port" {
				t.Errorf("get: %+v, %v", part, err)
			}
			like, err := r.Similar(t.Context(), "notes:port.md", collection.SearchRequest{})
			if err != nil || len(like.Results) == 0 || like.Results[0].Doc != "notes:dock.md" {
				t.Errorf("similar: %+v, %v", like, err)
			}
			from, err := r.Get(t.Context(), "notes:farm.md", collection.GetOptions{})
			if err != nil || len(from.Links) != 1 || from.Links[0].To != "notes:port.md" {
				t.Errorf("links of the farm: %+v, %v", from, err)
			}
			fused, err := r.Fused(t.Context(), "harbor", "rrf", 60, 5)
			if err != nil || len(fused.Results) == 0 {
				t.Fatalf("fused: %+v, %v", fused, err)
			}
			// Fused runs the built-in profile, whatever the user's profile of that name says.
			if first := fused.Results[0]; first.ID == "notes:port.md" || first.Document.ID != "notes:port.md" ||
				first.Content == "" || len(model.texts) != 0 {
				t.Errorf("fused: %+v; the model read %q", first, model.texts)
			}
			whole := find(t, r, collection.SearchRequest{Text: "harbor", Profile: "rrf"})
			if len(whole.Results) == 0 || whole.Results[0].ID != "notes:port.md" || whole.Results[0].Title == "" {
				t.Errorf("the user's profile: %+v", whole)
			}
			if len(model.texts) == 0 || !strings.Contains(model.texts[0], "Port") ||
				!strings.Contains(model.texts[0], "nine cranes") {
				t.Errorf("the model read %q", model.texts)
			}
		})
	}
}
