package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"sheaf/internal/check"
)

// TestEvalSelfRanksLikeSearch checks that sheaf eval self asks the reranking model that a search asks, with
// texts that lack hidden comments.
func TestEvalSelfRanksLikeSearch(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Documents []string }
		err := json.NewDecoder(r.Body).Decode(&body)
		check.That(t, err == nil && !strings.Contains(fmt.Sprint(body), "secret"), "asked %q, %v", body.Documents, err)
		asked.Add(1)
		var scores []string
		for i := range body.Documents {
			scores = append(scores, fmt.Sprintf(`{"index":%d,"relevance_score":1}`, i))
		}
		fmt.Fprintf(w, `{"results":[%s]}`, strings.Join(scores, ","))
	}))
	defer s.Close()
	n := newNotes(t)
	for i, word := range strings.Fields("amber birch cedar delta ember fjord glade heath islet jetty knoll ledge") {
		n.write(t, word+".md", fmt.Sprintf("# About %[1]s\n\nWho saw the %[1]s?\n\n## Keeping %[1]s safe\n\n"+
			"<!-- secret -->\nA fence of hazel around every %[1]s.\n\n## Visiting %[1]s early in year %[2]d\n\n"+
			"Before sunrise.\n", word, i))
	}
	t.Setenv("SHEAF_COMMENTS", "hide")
	t.Setenv("SHEAF_RERANKER_URL", s.URL)
	t.Setenv("SHEAF_RERANKER_MODEL", "m")
	n.run(t, "eval", "self", "--queries", "20", "--profile", "sheaf", "--param", "rerank=5")
	check.That(t, asked.Load() != 0, "the reranking model was not asked")
}
