package chunk_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheaf/internal/must"
	"sheaf/text/chunk"
)

// corpus returns the Markdown below SHEAF_TEST_DIR, or generated files.
func corpus(tb testing.TB) (paths []string, files [][]byte, size int64) {
	tb.Helper()
	if dir := os.Getenv("SHEAF_TEST_DIR"); dir != "" {
		must.Do(tb, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || chunk.KindOf(path) != chunk.KindMarkdown {
				return err
			}
			raw, err := os.ReadFile(path)
			paths, files, size = append(paths, path), append(files, raw), size+int64(len(raw))
			return err
		}))
		return paths, files, size
	}
	text := "---\ntitle: A note\ntags: [one, two]\n---\n\n# A note\n\n" +
		strings.Repeat("Words about `things` and [links](other.md#there) and [[Wiki links|text]]. #tag\n\n## A heading of "+
			"some length\n\n"+
			strings.Repeat("A paragraph of plain prose that goes on for a line or two without any marks.\n", 6)+
			"\n```go\nfunc main() {}\n```\n\n", 20)
	for range 200 {
		paths, files, size = append(paths, "note.md"), append(files, []byte(text)), size+int64(len(text))
	}
	return paths, files, size
}

func BenchmarkChunk(b *testing.B) {
	paths, files, size := corpus(b)
	for name, o := range map[string]chunk.Options{
		"tree": {}, "sections": {Chunker: "sections"}, "window": {Chunker: "window"},
		"window of pieces": {Chunker: "window",
			Window: chunk.WindowOptions{Tokens: tokensNamed("sheaf-en-1"), TokensName: "sheaf-en-1"}},
	} {
		b.Run(name, func(b *testing.B) {
			c := must.Get(chunk.New(o))
			b.SetBytes(size)
			b.ReportAllocs()
			chunks := 0
			for b.Loop() {
				chunks = 0
				for i := range files {
					doc := c.Chunk("t", paths[i], files[i])
					chunks += len(doc.Chunks)
				}
			}
			b.ReportMetric(float64(chunks), "chunks")
		})
	}
}
