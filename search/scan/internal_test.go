package scan

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sheaf"
	"sheaf/ingest"
	"sheaf/internal/must"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/text/analysis"
	"sheaf/text/query"
)

// TestCandidatesEqualSlowSearch checks the candidates of queries with forbidden words against a slow search in every
// file. Candidates are the best matches in order. Files are missing that a full index finds only without the
// forbidden word.
func TestCandidatesEqualSlowSearch(t *testing.T) {
	a := must.Get(analysis.New(analysis.Options{Language: "en", StopWords: true}))
	var fields []store.FieldWeight
	for _, name := range sheaf.Fields {
		fields = append(fields, store.FieldWeight{Name: name, Weight: 1})
	}
	word := rapid.SampledFrom([]string{"cat", "cats", "part", "art", "the", "dog", "x", "stone", "stones", "日本", "本"})
	marks := [][2]string{{"%s -%s", "%s"}, {"%s -%s*", "%s"}, {"%s -%s~1", "%s"}, {"(%s -%s) OR dog", "(%s) OR dog"},
		{`%s -"%s art"`, "%s"}, {"%s -title:%s", "%s"}, {"%s -(-%s)", "%s"}}
	root := filepath.Join(t.TempDir(), "vault")
	rapid.Check(t, func(t *rapid.T) {
		must.Do(t, os.RemoveAll(root))
		must.Do(t, os.Mkdir(root, 0o755))
		for i := range rapid.IntRange(1, 30).Draw(t, "files") {
			var text strings.Builder
			for j := range rapid.IntRange(1, 3).Draw(t, "sections") {
				fmt.Fprintf(&text, "# S%d\n\n%s\n%s\n\n", j, strings.Join(rapid.SliceOfN(word, 1, 4).Draw(t, "text"), " "),
					strings.Repeat("filler ", 15))
			}
			must.Do(t, os.WriteFile(filepath.Join(root, fmt.Sprintf("%02d %s.md", i, word.Draw(t, "name"))),
				[]byte(text.String()), 0o644))
		}
		mark, wanted := rapid.SampledFrom(marks).Draw(t, "mark"),
			strings.Join(rapid.SliceOfN(word, 1, 3).Draw(t, "wanted"), " ")
		text := fmt.Sprintf(mark[0], wanted, word.Draw(t, "left out"))
		request := func(text string) store.TextRequest {
			return store.TextRequest{Query: query.Parse(text, query.Options{}).Words, Fields: fields, K1: 1.2, B: 0.75}
		}
		asked, without := request(text), request(fmt.Sprintf(mark[1], wanted))
		req := search.ScanRequest{Queries: []string{text}, Words: asked.Query, Answering: []store.TextRequest{asked},
			Limits: profile.Scan{
				Files: rapid.IntRange(1, 12).Draw(t, "limit"), MemoryBytes: maxMemory, ChunkChars: 100}}

		s := must.Get(New(Options{Root: root, Analyzer: a}))
		files, _, err := ingest.Files(t.Context(), root, s.o.Walk)
		must.Do(t, err)
		found := must.Get(s.match(t.Context(), files, req))
		chunker := must.Get(newChunker(req.Limits.ChunkChars))
		cut := must.Get(s.cut(t.Context(), files, found.matches, chunker))
		all := memory.New(a)
		for _, d := range cut {
			request := &search.ScanRequest{Limits: profile.Scan{ListValues: 10}}
			must.Do(t, all.Write(t.Context(), store.Batch{Chunks: d.entries(request, false)}))
		}
		answers := func(text store.TextRequest) map[string]bool {
			hits := must.Get(all.Retrieve(t.Context(), store.Request{Text: &text, Limit: 1000}))
			at := map[string]bool{}
			for _, h := range hits {
				at[string(h.ID[:strings.LastIndexByte(string(h.ID), '#')])] = true
			}
			return at
		}
		now, before := answers(asked), answers(without)

		g := must.Get(s.gather(t.Context(), found, req, memory.NewFor(a, asked.Query), maxMemory))
		var got, want []string
		for _, d := range g.docs {
			got = append(got, string(d.id))
		}
		for _, d := range cut {
			id := string(d.id)
			taken := now[id]
			if !now[id] && !before[id] { // letters match but no word: both results are right
				taken = g.paths[d.file.Path]
			}
			if taken && len(want) < req.Limits.Files {
				want = append(want, id)
			}
		}
		must.That(t, slices.Equal(got, want), "%s: candidates %v, want %v", text, got, want)
	})
}

// TestMemoryIsSplit checks that cached sections use at most 35 % of the memory, and the index at most 65 %.
func TestMemoryIsSplit(t *testing.T) {
	if cut, index := split(100 << 20); cut != 35<<20 || index != 65<<20 {
		t.Errorf("100 MB are split into %d and %d", cut, index)
	}
	root := t.TempDir()
	const files = 400
	for i := range files {
		must.Do(t, os.WriteFile(filepath.Join(root, fmt.Sprint(i, ".md")), []byte("A word of it.\n"), 0o644))
	}
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	s := must.Get(New(Options{Root: root, Analyzer: a}))
	req := search.ScanRequest{Queries: []string{"word"}, Words: sheaf.Match{Text: "word"},
		Limits: profile.Scan{Files: files, ChunkChars: 6000}}
	kept := map[int64]int{}
	for _, bytes := range []int64{1 << 20, 20 << 20} {
		req.Limits.MemoryBytes = bytes
		got := must.Get(s.Scan(context.Background(), req))
		sections, size := s.cache.Size()
		if most := bytes * 35 / 100; size > most {
			t.Errorf("of %d bytes, sections take %d, want at most %d", bytes, size, most)
		}
		kept[bytes] = sections
		_, index := split(bytes)
		g := gatherAgain(t, s, req, index)
		if got.Candidates != len(g.docs) || g.full != (bytes == 1<<20) {
			t.Errorf("of %d bytes, %d candidates, where %d fit; full is %v", bytes, got.Candidates, len(g.docs), g.full)
		}
		used := entryBytes * int64(g.chunks)
		for _, d := range g.docs {
			used += d.bytes
		}
		if used > index || g.full && used < index*9/10 {
			t.Errorf("of %d bytes the index takes %d of %d", bytes, used, index)
		}
	}
	if kept[20<<20] != files || kept[1<<20] == 0 || kept[1<<20] >= files {
		t.Errorf("remembered are %v of %d files", kept, files)
	}
}

// gatherAgain fills an index of at most the given bytes with the matches of a request.
func gatherAgain(t *testing.T, s *Scanner, req search.ScanRequest, index int64) *gatherResult {
	t.Helper()
	files, _, err := ingest.Files(context.Background(), s.o.Root, s.o.Walk)
	must.Do(t, err)
	f := must.Get(s.match(context.Background(), files, req))
	g := must.Get(s.gather(context.Background(), f, req, memory.NewFor(s.o.Analyzer, req.Words), index))
	return g
}
