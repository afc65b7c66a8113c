package mcp_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/internal/must"
)

// exampleNotes returns the notes of examples/notes by path.
func exampleNotes(t *testing.T) map[string]string {
	t.Helper()
	out, root := map[string]string{}, filepath.Join("..", "..", "examples", "notes")
	must.Do(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		out[filepath.ToSlash(name)] = string(text)
		return err
	}))
	return out
}

// TestAnswersAreShort checks that the JSON of ten results in both forms has at most 3,000 bytes, with the message
// around it. Each form names all results.
func TestAnswersAreShort(t *testing.T) {
	long := map[string]string{}
	for i := range 12 {
		name := fmt.Sprintf("Projects/2024/A <long> name of a note & its number %d.md", i)
		long[name] = "# Walrus\n\n" + strings.Repeat("Ein Морж \"walrus\" & <b>größer</b> als 海象. ", 20)
	}
	for _, c := range []struct {
		notes     map[string]string
		queries   []string
		undersize int
	}{
		{exampleNotes(t), []string{"how do I undo a commit", "plants that need water", "what to pack", "bread"}, 2000},
		{long, []string{"walrus"}, 1500},
	} {
		s := connectOver(t, collectiontest.Open(t, c.notes, nil), access.Unrestricted())
		for _, query := range c.queries {
			ask := &sdk.CallToolParams{Name: "search", Arguments: map[string]any{"query": query}}
			r, err := s.CallTool(t.Context(), ask)
			if err != nil || r.IsError {
				t.Fatal(query, err, r)
			}
			structured := must.Get(json.Marshal(r.StructuredContent))
			var out struct {
				Results []struct{ ID, Snippet string }
			}
			if err := json.Unmarshal(structured, &out); err != nil || len(out.Results) != 10 {
				t.Fatalf("%q: %d results, %v", query, len(out.Results), err)
			}
			text, snippets := textOf(r), 0
			sent, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1 << 20, "result": r})
			if n := len(sent); err != nil || n > 3000 || n < c.undersize {
				t.Errorf("%q: %d bytes, %v\n%s", query, n, err, sent)
			}
			for _, one := range out.Results {
				if !strings.Contains(text, one.Snippet) || !utf8.ValidString(one.Snippet) {
					t.Errorf("%q: the text lacks %q", query, one.Snippet)
				}
				if one.Snippet != "" {
					snippets++
				}
			}
			if snippets < 9 {
				t.Errorf("%q: %d snippets\n%s", query, snippets, text)
			}
		}
	}
}

// BenchmarkSearchTool searches 10,000 notes with cached answers and with new queries.
func BenchmarkSearchTool(b *testing.B) {
	random := rand.New(rand.NewSource(1))
	frequency := rand.NewZipf(random, 1.1, 5, 20_000)
	word := func() string { return letters(frequency.Uint64()) }
	notes := map[string]string{}
	for i := range 10_000 {
		text := "# " + word() + " " + word() + "\n\n"
		for range 60 {
			text += word() + " "
		}
		notes[fmt.Sprintf("folder %d/note %d.md", i%100, i)] = text
	}
	s := connectOver(b, collectiontest.Open(b, notes, nil), access.Unrestricted())
	for _, asked := range []string{"again", "new"} {
		b.Run(asked, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				query := letters(12) + " " + letters(80)
				if asked == "new" {
					query = fmt.Sprintf("%s %s %d", word(), word(), time.Now().UnixNano())
				}
				ask := &sdk.CallToolParams{Name: "search", Arguments: map[string]any{"query": query}}
				answer := must.Get(s.CallTool(b.Context(), ask))
				if i == 0 {
					text, err := json.Marshal(answer)
					b.ReportMetric(float64(len(text)), "bytes")
					must.Do(b, err)
				}
			}
		})
	}
}

// letters writes a number as a word of letters. Names with digits have parts, which are words too.
func letters(n uint64) string {
	word := ""
	for ; n > 0 || len(word) < 4; n /= 16 {
		word += []string{"ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "wo", "xu", "za"}[n%16]
	}
	return word
}
