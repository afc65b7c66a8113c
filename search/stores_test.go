package search_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	words "sheaf/text/query"

	"sheaf/eval/parity"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model/static/english"
	"sheaf/search"
	"sheaf/store"
	"sheaf/store/opensearch"
	"sheaf/store/postgres"
	"sheaf/store/storekit"
	"sheaf/store/weaviate"
	"sheaf/text/analysis"
	"sheaf/text/chunk"
)

// window cuts like systems without headings.
var window = chunk.Options{Chunker: "window", Window: chunk.WindowOptions{Size: 96, Overlap: 16}}

// origins are the nine systems, each with the store of its design. Sonar and the heading tree use a
// library inside the program. For them the test uses a server with Lucene's BM25.
var origins = []struct {
	system, profile, store string
	set                    map[string]string
	chunk                  chunk.Options
}{
	{"bench on Elasticsearch", "bench", "Elasticsearch", nil, window},
	{"bench on OpenSearch", "bench", "OpenSearch", nil, window},
	{"bench on Weaviate", "bench", "Weaviate", nil, window},
	{"sonar", "sonar", "OpenSearch", nil, window},
	{"tree", "tree", "OpenSearch", nil, chunk.Options{}},
	{"onyx-elastic", "onyx-elastic", "Elasticsearch", nil, window},
	{"onyx-elastic on OpenSearch", "onyx-elastic", "OpenSearch", nil, window},
	{"onyx-vespa", "onyx-vespa", "Vespa", nil, window},
	{"rrf", "rrf", "PostgreSQL", nil, chunk.Options{}},
	{"tiered", "tiered", "no store", map[string]string{"semantic": "1"}, chunk.Options{}},
	{"sheaf", "sheaf", "PostgreSQL", nil, chunk.Options{}},
}

// agreement is the smallest mean rank-biased overlap of each store with the engine. The engine
// counts like the store, so only its rounding of vectors differs.
var agreement = map[string]float64{"OpenSearch": 0.985, "Elasticsearch": 0.985, "Weaviate": 0.99, "PostgreSQL": 0.995,
	"no store": 1 - 1e-9}

// TestSystemsOnTheirStores checks that each of the nine systems answers on its store as on the embedded engine. It
// skips servers that are not running.
func TestSystemsOnTheirStores(t *testing.T) {
	must.Whole(t, "it indexes the whole documentation for each store")
	root := must.Get(filepath.Abs(filepath.Join("..", "doc")))
	queries := headings(t, root, 80)
	model := must.Get(english.New())
	made := map[string]*search.Searcher{} // one store for all systems that cut alike
	fill := func(st string, o chunk.Options,
		open func(testing.TB, *analysis.Analyzer, []store.VectorField) store.Backend) *search.Searcher {
		key := st + o.Chunker
		if made[key] == nil {
			made[key] = indexed(t, root, model, o, st, open)
		}
		return made[key]
	}
	for _, o := range origins {
		t.Run(o.system, func(t *testing.T) {
			open := opener(t, o.store)
			here, there := fill("the engine as "+o.store, o.chunk, openEngineLike(o.store)), *fill(o.store, o.chunk, open)
			if o.store == "no store" {
				there.Backend = nil
			}
			p := load(t, o.profile)
			sum, least, same := 0.0, 1.0, 0
			for _, text := range queries {
				q := words.Parse(text, words.Options{Limit: 10, Now: here.Now()})
				want := mustSearch(t, here, q, p, search.Options{Parameters: o.set})
				got := mustSearch(t, &there, q, p, search.Options{Parameters: o.set, Explain: true})
				must.That(t, !got.Degraded && len(got.Hits) != 0,
					"%s: %d hits, %d on the engine, %v", text, len(got.Hits), len(want.Hits), got.Warnings)
				agree := parity.RBO(found(want), found(got), parity.Persistence)
				sum, least = sum+agree, min(least, agree)
				if agree > 1-1e-12 {
					same++
				}
			}
			mean := sum / float64(len(queries))
			t.Logf("%s: rank-biased overlap %.4f, least %.4f, %d of %d answers alike", o.store, mean, least, same, len(queries))
			bound := agreement[o.store]
			check.That(t, mean >= bound, "rank-biased overlap with the engine is %.4f: must be at least %v", mean, bound)
		})
	}
}

// operators are characters that the queries here must not have, because Weaviate has no phrases.
const operators = "`\\\":+-()"

// headings returns n titles of sections from all parts of a folder.
func headings(t *testing.T, root string, n int) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"*.md", "*/*.md"} {
		some := must.Get(filepath.Glob(filepath.Join(root, pattern)))
		files = append(files, some...)
	}
	var all []string
	for _, file := range files {
		f := must.Get(os.Open(file))
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if level, title, ok := strings.Cut(lines.Text(), " "); ok && level != "" && strings.Trim(level, "#") == "" &&
				strings.Contains(title, " ") && !strings.ContainsAny(title, operators) {
				all = append(all, title)
			}
		}
		_ = f.Close()
	}
	must.That(t, len(all) >= n, "%d titles in %s", len(all), root)
	picked := make([]string, n)
	for i := range picked {
		picked[i] = all[i*len(all)/n]
	}
	return picked
}

// opener returns a function that opens a new index on a server, which the end of the test removes.
// The test skips when the server is not running.
func opener(t *testing.T, st string) func(testing.TB, *analysis.Analyzer, []store.VectorField) store.Backend {
	name := fmt.Sprintf("systems_%d_%d", os.Getpid(), rand.Uint32())
	address := func(variable, script string) string {
		url := os.Getenv(variable)
		if url == "" {
			t.Skipf("no %s: %s is not set; see scripts/servers/%s.sh", st, variable, script)
		}
		return url
	}
	switch st {
	case "PostgreSQL":
		url := address("SHEAF_TEST_POSTGRES", "postgres")
		return func(t testing.TB, a *analysis.Analyzer, v []store.VectorField) store.Backend {
			t.Cleanup(func() { dropped(t, postgres.Drop(context.Background(), url, name)) })
			return opened(t)(postgres.Open(t.Context(), postgres.Options{URL: url, Schema: name, Analyzer: a, Vectors: v}))
		}
	case "OpenSearch", "Elasticsearch":
		o := opensearch.Options{Index: name}
		if st == "Elasticsearch" {
			o.Dialect = opensearch.Elasticsearch
		}
		o.URL = address("SHEAF_TEST_"+strings.ToUpper(st), strings.ToLower(st))
		return func(t testing.TB, a *analysis.Analyzer, v []store.VectorField) store.Backend {
			o := o
			o.Analyzer, o.Vectors = a, v
			t.Cleanup(func() { dropped(t, opensearch.Drop(context.Background(), o)) })
			return opened(t)(opensearch.Open(t.Context(), o))
		}
	case "Weaviate":
		url := address("SHEAF_TEST_WEAVIATE", "weaviate")
		return func(t testing.TB, a *analysis.Analyzer, v []store.VectorField) store.Backend {
			o := weaviate.Options{Options: storekit.Options{URL: url, Analyzer: a, Vectors: v}, Class: "S" + name}
			t.Cleanup(func() { dropped(t, weaviate.Drop(context.Background(), o)) })
			return opened(t)(weaviate.Open(t.Context(), o))
		}
	case "Vespa":
		t.Skip("no Vespa: no package registry has its server; store/vespa.TestSystem has its Java classes rank this folder")
	}
	return openEngine
}

func opened(t testing.TB) func(store.Backend, error) store.Backend {
	return func(b store.Backend, err error) store.Backend {
		t.Helper()
		must.Do(t, err)
		return b
	}
}

func dropped(t testing.TB, err error) {
	must.Do(t, err)
}

// questions are longer than headings. Many words count a little each, so rounded lengths matter.
var questions = []string{
	"how do I fill a store on a server that others search at the same time",
	"which settings can a folder bring along and which have to be approved first",
	"what happens to the index when the power fails in the middle of a commit",
	"how are headings without any text between them treated when a file is cut",
	"why does the order of equal scores differ between two servers",
	"what does the program do when the model that makes vectors does not answer",
	"how much memory does it take to copy a million chunks into a server",
	"which words of a query are worth more than others in the default ranking",
	"how can I see which documents were left out of the index and why",
	"what is kept of a file that was renamed since the last time it was indexed",
	"how does the search find words that are written a little differently",
	"when is a block of postings skipped without looking at what it holds",
	"how do I let a group of people see some documents and hide them from others",
	"what must be true of a profile before it may be used for a query",
	"how are the results of words and of vectors joined into one list",
	"which parts of the frontmatter of a note can be searched or filtered by",
	"how do I measure whether a change of the ranking makes it better",
	"what does the assistant see of a folder and how is it told about links",
	"how long are vectors kept exactly and when are they compared in a shorter form",
	"where does the program say what it could not do and what to try instead",
}

// TestServersCountLikeEngine compares answers of a server with answers of the engine. Lucene rounds lengths,
// and the idf of Weaviate counts all chunks. An engine with the same rules must give the same
// answers. The documents are ten pages under testdata.
func TestServersCountLikeEngine(t *testing.T) {
	root := must.Get(filepath.Abs(filepath.Join("testdata", "alike")))
	model := must.Get(english.New())
	for _, store := range []string{"OpenSearch", "Weaviate"} {
		t.Run(store, func(t *testing.T) {
			there := indexed(t, root, model, window, store, opener(t, store))
			for _, as := range []struct {
				store string
				want  float64
			}{{"", 0.95}, {store, 0.98}} {
				here := indexed(t, root, model, window, "the engine", openEngineLike(as.store))
				for _, profile := range []string{"bench", "sonar", "onyx-elastic", "rrf"} {
					mean, least := agreeing(t, here, there, profile)
					t.Logf("counted as %q, %s: rank-biased overlap %.4f, least %.4f", as.store, profile, mean, least)
					check.That(t, mean >= as.want,
						"counted as %q, %s: rank-biased overlap %.4f: must be at least %v", as.store, profile, mean, as.want)
				}
			}
		})
	}
}

// agreeing returns the mean and the smallest rank-biased overlap of two stores' answers to the questions.
func agreeing(t *testing.T, here, there *search.Searcher, profile string) (mean, least float64) {
	t.Helper()
	p := load(t, profile)
	sum, least := 0.0, 1.0
	for _, text := range questions {
		q := words.Parse(text, words.Options{Limit: 10, Now: here.Now()})
		want, got := mustSearch(t, here, q, p, search.Options{}), mustSearch(t, there, q, p, search.Options{})
		agree := parity.RBO(found(want), found(got), parity.Persistence)
		sum, least = sum+agree, min(least, agree)
	}
	return sum / float64(len(questions)), least
}
