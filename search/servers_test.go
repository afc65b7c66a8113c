package search_test

import (
	"path/filepath"
	"testing"

	"sheaf/eval/parity"
	"sheaf/internal/must"
	"sheaf/model/static/english"
	"sheaf/search"
	words "sheaf/text/query"
)

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
					if mean < as.want {
						t.Errorf("counted as %q, %s: rank-biased overlap %.4f: must be at least %v", as.store, profile, mean, as.want)
					}
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
