package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	httpdoor "sheaf/door/http"
	"sheaf/internal/must"
)

// BenchmarkServed times one search in sheaf serve, from the request to the answer: by words, hybrid, and plain
// fusion. The folder is SHEAF_TEST_DIR, or 3,000 generated files. SHEAF_TEST_INDEX keeps the index for the next run.
//
//	SHEAF_TEST_DIR=FOLDER go test ./cmd/sheaf -run '^$' -bench Served -cpu 1 -benchtime 2000x
func BenchmarkServed(b *testing.B) {
	notes, index := benchFolders(b)
	handler, queries := servedHandler(b, notes, index)
	for _, kind := range []struct{ name, rest string }{
		{"words", `"parameters": {"meaning": 0}`}, {"hybrid", `"parameters": {}`}, {"rrf", `"profile": "rrf"`},
		{"onyx-vespa", `"profile": "onyx-vespa"`},
	} {
		b.Run(kind.name, func(b *testing.B) {
			ask := func(i int) {
				body := fmt.Sprintf(`{"query": %q, %s}`, queries[i%len(queries)], kind.rest)
				req := httptest.NewRequest(http.MethodPost, "/v1/search", strings.NewReader(body))
				req.Host = "localhost"
				req.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, req)
				must.That(b, w.Code == http.StatusOK, "%d %s", w.Code, w.Body)
			}
			for i := range min(len(queries), 500) {
				ask(i)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				ask(i)
			}
		})
	}
}

// benchFolders returns the folder to search and the folder of its index.
func benchFolders(b *testing.B) (notes, index string) {
	notes, index = os.Getenv("SHEAF_TEST_DIR"), os.Getenv("SHEAF_TEST_INDEX")
	if notes == "" {
		notes = b.TempDir()
		writeNotes(b, notes, 3000, 10_000)
	}
	if index == "" {
		index = filepath.Join(b.TempDir(), "index")
	}
	return notes, index
}

// servedHandler makes the index if none exists. It returns the HTTP handler, and queries of one or
// two words from the titles of the documents.
func servedHandler(b *testing.B, notes, index string) (http.Handler, []string) {
	b.Setenv("SHEAF_CACHE_SIZE", "0") // the benchmark measures searching
	a := newApp(os.Stdin, os.Stdout, os.Stderr)
	cmd := a.command()
	a.in, a.index = notes, index // making the command sets both to their defaults
	cmd.SetContext(context.Background())
	s := must.Get(a.open(cmd, openOptions{Refresh: true, Make: true}))
	b.Cleanup(s.Close)
	word := regexp.MustCompile(`[\p{L}\p{N}]{3,}`)
	var queries []string
	for id := range s.View.Files() {
		doc, _ := s.View.Document(id)
		if words := word.FindAllString(doc.Title, -1); len(words) > 0 {
			n := len(queries)
			queries = append(queries, words[n%len(words)]+" "+words[n/3%len(words)])
		}
	}
	door := must.Get(s.door())
	b.Cleanup(func() { _ = door.Close() })
	keys := must.Get(access.OpenKeys(filepath.Join(b.TempDir(), "keys")))
	handler := must.Get(httpdoor.New(httpdoor.Options{Collections: []*collection.Collection{door}, Keys: keys,
		Open: access.Unrestricted(), Version: "test"}))
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
	return handler, queries
}

// BenchmarkSearchCommand times the whole search command inside this process, so that a profile can
// show it. No file has changed since indexing.
//
//	SHEAF_TEST_DIR=FOLDER go test ./cmd/sheaf -run '^$' -bench SearchCommand -cpu 1 -cpuprofile /tmp/profile
func BenchmarkSearchCommand(b *testing.B) {
	notes, index := benchFolders(b)
	nowhere := must.Get(os.OpenFile(os.DevNull, os.O_WRONLY, 0))
	defer nowhere.Close()
	search := func() {
		a := newApp(os.Stdin, nowhere, nowhere)
		cmd := a.command()
		cmd.SetArgs([]string{"search", "--in", notes, "--index", index, "how to install a module"})
		if err := cmd.ExecuteContext(context.Background()); err != nil && !errors.Is(err, errNothing) {
			b.Fatal(err)
		}
	}
	search()
	b.ReportAllocs()
	for b.Loop() {
		search()
	}
}

// writeNotes makes files of about size bytes with headings and paragraphs. Word frequencies follow
// natural text. The content is always the same.
func writeNotes(b *testing.B, dir string, files, size int) {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 4, 40_000)
	word := func() string { return fmt.Sprintf("w%x", zipf.Uint64()) }
	for i := range files {
		var text strings.Builder
		fmt.Fprintf(&text, "# About %s %s\n\n", word(), word())
		for text.Len() < size {
			fmt.Fprintf(&text, "## %s %s module\n\n", word(), word())
			for range 80 {
				text.WriteString(word() + " ")
			}
			text.WriteString("\n\n")
		}
		folder := filepath.Join(dir, fmt.Sprintf("folder%02d", i%50))
		must.Do(b, os.MkdirAll(folder, 0o755))
		must.Do(b, os.WriteFile(filepath.Join(folder, fmt.Sprintf("note%04d.md", i)), []byte(text.String()),
			0o644))
	}
}
