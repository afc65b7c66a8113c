package http_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"sheaf/collection"
	"sheaf/collection/access"
	httpdoor "sheaf/door/http"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/store/embedded"
	"sheaf/text/analysis"
)

// A program serves a folder of notes beside routes of its own.
func Example() {
	dir, err := os.MkdirTemp("", "sheaf")
	check(err)
	defer os.RemoveAll(dir)
	notes := filepath.Join(dir, "notes")
	check(os.MkdirAll(notes, 0o755))
	check(os.WriteFile(filepath.Join(notes, "git.md"), []byte("# Undo a commit\n\nUse reset.\n"), 0o644))

	words, err := analysis.New(analysis.Options{Language: "en"})
	check(err)
	documents, err := catalog.Open(vfs.Disk{}, filepath.Join(dir, "catalog"), catalog.Options{})
	check(err)
	defer documents.Close()
	store, err := embedded.Open(embedded.Options{Dir: filepath.Join(dir, "engine"), Analyzer: words})
	check(err)
	defer store.Close()
	coll, err := collection.New(collection.Options{Name: "notes", Catalog: documents, Backend: store, Analyzer: words,
		Ingest: &ingest.Options{Trees: []catalog.Tree{{Name: "notes", Root: notes}}}})
	check(err)
	defer coll.Close()
	_, err = coll.Refresh(context.Background())
	check(err)

	handler, err := httpdoor.New(httpdoor.Options{Collections: []*collection.Collection{coll},
		Open: access.Unrestricted()})
	check(err)
	mux := http.NewServeMux()
	mux.Handle("/v1/", handler)
	server := httptest.NewServer(mux)
	defer server.Close()

	res, err := http.Get(server.URL + "/v1/search?query=undo")
	check(err)
	defer res.Body.Close()
	var answer collection.Answer
	check(json.NewDecoder(res.Body).Decode(&answer))
	fmt.Println(answer.Results[0].Breadcrumb, answer.Results[0].Snippet)
	// Output: > Undo a commit Undo a commit Use reset.
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
