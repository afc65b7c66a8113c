package examples

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/model/static/english"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/text/analysis"
)

// Index a folder and search it by words and by meaning. The index outlives the program: a later Refresh
// reads only what has changed.
func Example_folder() {
	dir, err := os.MkdirTemp("", "sheaf")
	check(err)
	defer os.RemoveAll(dir)
	notes, index := filepath.Join(dir, "notes"), filepath.Join(dir, "index")
	write(notes, "git.md", "# Git\n\n## Undo a commit\n\nUse reset to undo the last commit.\n")
	write(notes, "tea.md", "# Tea\n\nSteep for three minutes.\n")

	// The model makes vectors of text and the analyzer terms, the catalog knows
	// documents, the store finds chunks. Without a model searches are by words alone.
	model, err := english.New()
	check(err)
	analyzer, err := analysis.New(analysis.Options{Language: "en"})
	check(err)
	documents, err := catalog.Open(vfs.Disk{}, filepath.Join(index, "catalog"), catalog.Options{})
	check(err)
	defer documents.Close()
	vectors := []store.VectorField{
		{Name: store.VectorTitle, Model: model.Model(), Dims: model.Dims()},
		{Name: store.VectorBody, Model: model.Model(), Dims: model.Dims()},
	}
	st, err := embedded.Open(embedded.Options{Dir: filepath.Join(index, "engine"), Analyzer: analyzer, Vectors: vectors})
	check(err)
	defer st.Close()

	coll, err := collection.New(collection.Options{Name: "notes", Catalog: documents, Backend: st, Analyzer: analyzer, Model: model,
		Ingest: &ingest.Options{Trees: []catalog.Tree{{Name: "notes", Root: notes}}, Embedder: model}})
	check(err)
	defer coll.Close()
	_, err = coll.Refresh(context.Background())
	check(err)

	// A reader is the collection at one moment, as one caller may see it.
	reader, err := coll.For(access.Unrestricted())
	check(err)
	defer reader.Close()
	for _, text := range []string{"how do I undo a commit", "brewing drinks"} {
		answer, err := reader.Search(context.Background(), collection.SearchRequest{Text: text, Limit: 1})
		check(err)
		for _, r := range answer.Results {
			fmt.Printf("%s: %s %s\n", text, r.Path, r.Breadcrumb)
		}
	}
	// Output:
	// how do I undo a commit: git.md > Git › Undo a commit
	// brewing drinks: tea.md > Tea
}

func write(folder, name, text string) {
	check(os.MkdirAll(folder, 0o755))
	check(os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
