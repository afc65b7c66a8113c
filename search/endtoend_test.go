package search_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	words "sheaf/text/query"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/engine/bm25"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model"
	"sheaf/model/hashed"
	"sheaf/model/static/builtin"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/search/scan"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/text/analysis"
	"sheaf/text/chunk"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// systems are the reference systems: each has a profile, parameters, and documents cut as the system cuts them.
var systems = []struct {
	name    string
	profile string
	set     map[string]string
	chunk   chunk.Options
}{
	{"bench-top-m-sum", "bench", nil, chunk.Options{Chunker: "window", Window: chunk.WindowOptions{Size: 24, Overlap: 4}}},
	{"bench-max-p", "bench", map[string]string{"method": "max_p"},
		chunk.Options{Chunker: "window", Window: chunk.WindowOptions{Size: 24, Overlap: 4}}},
	{"bench-top-m-avg", "bench", map[string]string{"method": "top_m_avg"},
		chunk.Options{Chunker: "window", Window: chunk.WindowOptions{Size: 24, Overlap: 4}}},
	{"bench-rrf-per-doc", "bench", map[string]string{"method": "rrf_per_doc"},
		chunk.Options{Chunker: "window", Window: chunk.WindowOptions{Size: 24, Overlap: 4}}},
	{"sonar", "sonar", nil, chunk.Options{Chunker: "window", Window: chunk.WindowOptions{Size: 32, Overlap: 4}}},
	{"tiered", "tiered", nil, chunk.Options{}},
	{"tiered-semantic", "tiered", map[string]string{"semantic": "1"}, chunk.Options{}},
	{"tree", "tree", nil, chunk.Options{}},
	{"onyx-elastic", "onyx-elastic", nil, chunk.Options{Chunker: "window",
		Window: chunk.WindowOptions{Size: 32, TitlePrefix: true, MetadataSuffix: true}}},
	{"onyx-vespa", "onyx-vespa", nil, chunk.Options{Chunker: "window",
		Window: chunk.WindowOptions{Size: 32, TitlePrefix: true, MetadataSuffix: true}}},
	{"rrf", "rrf", nil, chunk.Options{}},
	{"rrf-weighted-sum", "rrf", map[string]string{"method": "weighted_sum"}, chunk.Options{}},
	{"sheaf", "sheaf", nil, chunk.Options{}},
}

// asked are the queries of the golden files: words, a phrase, a name, a question, a filter, an unknown subject.
var asked = []string{"undo commit", `"force push"`, "Rebase", "how do I get back a branch that I deleted?",
	"branch tag:howto", "zebra"}

// vault copies testdata/vault and sets the file times, because notes without a date use them.
func vault(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "vault")
	must.Do(t, os.CopyFS(root, os.DirFS(filepath.Join("testdata", "vault"))))
	modified := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	must.Do(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, modified, modified)
	}))
	return root
}

// collection opens the folder testdata/vault in a real catalog and the embedded engine. Its model
// gives the same vectors on every machine.
func collection(t *testing.T, o chunk.Options) *search.Searcher {
	return indexed(t, vault(t), hashed.New(64), o, "the engine", openEngine)
}

func openEngine(t testing.TB, a *analysis.Analyzer, vectors []store.VectorField) store.Backend {
	return openEngineLike("")(t, a, vectors)
}

// openEngineLike opens an engine that counts words like the store st. The name "" means no change.
func openEngineLike(st string) func(testing.TB, *analysis.Analyzer, []store.VectorField) store.Backend {
	return func(t testing.TB, a *analysis.Analyzer, vectors []store.VectorField) store.Backend {
		o := embedded.Options{Dir: t.TempDir(), Analyzer: a, Vectors: vectors, AllChunks: st == "Weaviate"}
		if st == "OpenSearch" || st == "Elasticsearch" {
			o.Lengths = bm25.LengthsLucene
		}
		return opened(t)(embedded.Open(o))
	}
}

// indexed indexes a folder into a catalog and a store, with vectors of embedder.
func indexed(t testing.TB, root string, embedder model.Embedder, o chunk.Options, name string,
	open func(testing.TB, *analysis.Analyzer, []store.VectorField) store.Backend) *search.Searcher {
	t.Helper()
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	embed := func(ctx context.Context, texts []string) ([][]float32, error) {
		return embedder.Embed(ctx, model.Query, texts)
	}
	scanner := must.Get(scan.New(scan.Options{Root: root, Tree: "vault", Analyzer: a, Embedder: embedder}))
	c := must.Get(catalog.Open(vfs.Disk{}, t.TempDir(), catalog.Options{}))
	st := open(t, a, []store.VectorField{
		{Name: store.VectorBody, Model: embedder.Model(), Dims: embedder.Dims()},
		{Name: store.VectorTitle, Model: embedder.Model(), Dims: embedder.Dims()}})
	t.Cleanup(func() { _, _ = st.Close(), c.Close() })
	report, err := ingest.Run(context.Background(),
		ingest.Options{Catalog: c, Backend: st, Trees: []catalog.Tree{{Name: "vault", Root: root}}, Chunk: o,
			Embedder: embedder})
	must.That(t, err == nil && report.Added >= 10 && report.EmbedError == "", "%+v, %v", report, err)
	view := c.View()
	t.Cleanup(view.Close)
	return &search.Searcher{Backend: st, Store: name, Facts: view, Analyzer: a, Embed: embed, Scanner: scanner,
		Now: func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }}
}

// TestDocumentInPieces checks documents that were cut into windows or sections. They have no chunk
// of their own, but an answer can show them in full.
func TestDocumentInPieces(t *testing.T) {
	for _, s := range systems {
		if s.chunk.Chunker == "" {
			continue
		}
		searcher := collection(t, s.chunk)
		p := must.Get(profile.Load(s.profile, profile.Builtin))
		result := must.Get(searcher.Search(t.Context(), query("undo commit", 5), p, search.Options{Parameters: s.set}))
		check.That(t, len(result.Hits) != 0, "%s: nothing found", s.name)
		for _, h := range result.Hits {
			if h.Path == "" || h.Title == "" || h.Doc == "" || h.Breadcrumb == "" || h.Span.Len() == 0 || h.Body.Len() == 0 {
				t.Errorf("%s: %s is shown as %+v", s.name, h.ID, h)
			}
		}
	}
}

// TestSystemsEndToEnd runs each system from files to the ranking, on the embedded engine. The rankings are golden
// files. Every score is explained to 1e-9, a second answer is identical, and every missing document has a reason.
func TestSystemsEndToEnd(t *testing.T) {
	for _, s := range systems {
		t.Run(s.name, func(t *testing.T) {
			searcher := collection(t, s.chunk)
			p := load(t, s.profile)
			var golden strings.Builder
			for _, text := range asked {
				q := words.Parse(text, words.Options{Limit: 5, Now: searcher.Now()})
				r := mustSearch(t, searcher, q, p, search.Options{Parameters: s.set})
				again := mustSearch(t, searcher, q, p, search.Options{Parameters: s.set})
				check.That(t, reflect.DeepEqual(r.Hits, again.Hits), "%s: the second answer differs", text)
				check.That(t, !r.Degraded, "%s: %v", text, r.Warnings)
				explained := mustSearch(t, searcher, q, p, search.Options{Parameters: s.set, Explain: true})
				fmt.Fprintf(&golden, "%s\n", text)
				for i, h := range r.Hits {
					// Three digits hide the rounding of stores.
					fmt.Fprintf(&golden, "  %d %s %.3g", h.Rank, strings.TrimPrefix(string(h.ID), "vault:"), h.Score)
					for _, c := range h.Constituents {
						fmt.Fprintf(&golden, " +%s", strings.TrimPrefix(string(c.ID), string(h.Doc)))
					}
					golden.WriteByte('\n')
					checkReason(t, text, explained.Hits[i].Score, explained.Hits[i].Explanation)
				}
				checkAbsence(t, searcher, q, r, s.profile, s.set)
			}
			file := filepath.Join("testdata", "endtoend", s.name+".txt")
			if *update {
				must.Do(t, os.WriteFile(file, []byte(golden.String()), 0o644))
			}
			want := must.Get(os.ReadFile(file))
			check.Equal(t, golden.String(), strings.ReplaceAll(string(want), "\r\n", "\n"),
				"%s (to accept the change: -update)", file)
		})
	}
}

// checkAbsence checks the reason why a note about cooking is not in the answer.
func checkAbsence(t *testing.T, s *search.Searcher, q sheaf.Query, r *search.Result, name string,
	set map[string]string) {
	t.Helper()
	id := sheaf.ID("vault:kitchen/soup.md")
	if r.Scanned == nil {
		d, ok := s.Facts.Document(id)
		must.That(t, ok && len(d.Chunks) != 0, "%s is not indexed", id)
		id = d.Chunks[0].ID
	}
	absence := must.Get(s.WhyNot(context.Background(), q, load(t, name), search.Options{Parameters: set}, id))
	check.That(t, len(absence.Reasons) != 0, "%q: no reason why %s is where it is", q.Text, id)
}

// scripts holds a word in each of fifty scripts.
const scripts = "word λόγος слово բառ სიტყვა מילה كلمة ܡܠܬܐ ބަސް ߞߎߡߊ ቃል शब्द শব্দ ਸ਼ਬਦ શબ્દ ଶବ୍ଦ சொல் పదం ಪದ " +
	"വാക്ക് වචනය คำ ຄຳ ཚིག စကား ពាក្យ " +
	"ᎧᏃᎮᏛ ᐅᖃᐅᓯᖅ ᚱᚢᚾᚪ ᚑᚌᚐᚋ ᜐᜎᜒᜆ ᜰᜯ ᝐᝑ ᝠᝡ ᠦᠭᠡ ᤋᤠᤱ ᥐᥣᥲ ᦅᧄ ᨔᨈ ᬩᬲ ᮊᮨᮎᮕ᮪ ᰛᰦᰝ ᱨᱚᱲ ⲥⲁϫⲓ ⴰⵡⴰⵍ ⰔⰎⰑⰂⰑ ことば カタカナ 言葉 ㄘˊ 낱말 ꆈꌠ ꓡꓳ 𐌰𐌱 " +
	"𐎠𐎡 𝐰𝐨𝐫𝐝"

// TestMishandledTexts indexes a folder of texts that programs often mishandle. It checks that search
// takes bounded time, and gives the same answers twice.
func TestMishandledTexts(t *testing.T) {
	must.Whole(t, "megabytes of text")
	root := t.TempDir()
	const long = 1 << 20 // bytes
	texts := map[string]string{
		"scripts":       scripts,
		"right to left": "\u202e\u200fشجرة\u200f\u202c olive \u2067עץ זית\u2069",
		"marks":         "\u0301\u0301\u0323 \u0e31\u0e34\u0e4d plum",
		"surrogates": "---\ntitle: \"quince \\ud800 and \\udfff\"\naliases: [\"\\ud83d\"]\n---\nHalf characters, " +
			"\xed\xa0\x80 and \xed\xbf\xbf.",
		"private":         "\ue000\ue001\uf8ff \U000f0000 medlar",
		"emoji":           "🎉👩‍💻🇩🇪👍🏽",
		"emoji and words": "A 🍐 tree",
		"one character":   "字",
		"nothing":         "",
		"long":            strings.Repeat("ж索a", 10*long/6),
		"long marks":      "a" + strings.Repeat("\u0301", long/2),
		"long emoji":      strings.Repeat("👩‍💻", long/16),
	}
	for name, text := range texts {
		must.Do(t, os.WriteFile(filepath.Join(root, name+".md"), []byte(text), 0o600))
	}
	model := must.Get(builtin.New())
	began := time.Now()
	s := indexed(t, root, model, chunk.Options{}, "the engine", openEngine)
	for _, c := range []struct{ query, first string }{
		{scripts, "scripts"}, {"言葉", "scripts"}, {"ቃል", "scripts"}, {"olive", "right to left"}, {"עץ זית", "right to left"},
		{"plum", "marks"}, {"quince", "surrogates"},
		{"medlar", "private"}, {"path:long.md", "long"}, {"path:emoji.md", "emoji"}, {"字", "one character"},
		{"🍐 tree", "emoji and words"},
		{"\u0301", ""}, {"\ue000", ""}, {"\u202e", ""}, {"🎉", ""}, {"\xed\xa0\x80", ""}, {texts["long"][:6<<14], ""},
		{texts["long marks"][:1+2<<14], ""}, {texts["long emoji"][:11<<12], ""},
	} {
		q := words.Parse(c.query, words.Options{Limit: 5, Now: s.Now()})
		r, again := mustSearch(t, s, q, load(t, "sheaf"), search.Options{}),
			mustSearch(t, s, q, load(t, "sheaf"), search.Options{})
		check.That(t, len(found(r)) == len(found(again)) && strings.Join(found(r), " ") == strings.Join(found(again), " "),
			"%.40q finds %q, then %q", c.query, found(r), found(again))
		check.That(t, c.first == "" || len(r.Hits) != 0 && r.Hits[0].Path == c.first+".md",
			"%.40q finds %q, want %q first", c.query, found(r), c.first)
	}
	took := time.Since(began)
	check.That(t, took <= 5*time.Minute, "it took %v", took)
}
