package weaviate_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
	"sheaf/store/weaviate"
)

// TestOtherServer checks that Open and Examine ask "is that Weaviate?" about another kind of
// server. It needs no Weaviate.
func TestOtherServer(t *testing.T) {
	for _, status := range []int{http.StatusNotFound, http.StatusBadRequest} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			check.That(t, !strings.HasPrefix(r.URL.Path, "//"), "the slash at the end of the address stands in the path %s",
				r.URL.Path)
			http.Error(w, "no handler found", status)
		}))
		o := weaviate.Options{Options: storekit.Options{URL: server.URL + "/", Analyzer: storetest.Analyzer(t, "en")},
			Class: "Notes"}
		_, err := weaviate.Open(t.Context(), o)
		check.That(t, strings.Contains(fmt.Sprint(err), "(is that Weaviate?)"), "status %d: opened: %v", status, err)
		found := weaviate.Examine(t.Context(), o)
		check.That(t, len(found) == 1 && strings.Contains(fmt.Sprint(found[0].Err), "(is that Weaviate?)"),
			"status %d: examined: %v", status, found)
		server.Close()
	}
}

// TestAnswerWithoutClasses checks that an answer without classes is reported as such, not as a missing class.
func TestAnswerWithoutClasses(t *testing.T) {
	for answer, want := range map[string]string{
		`{}`:             "names no classes",
		`null`:           "is that weaviate?",
		`{"classes":[]}`: "created the class, but does not find it",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(answer))
		}))
		_, err := weaviate.Open(t.Context(), weaviate.Options{Options: storekit.Options{URL: server.URL,
			Analyzer: storetest.Analyzer(t, "en")}, Class: "Nonsense"})
		check.Fails(t, err, sheaf.ErrUnavailable, want, "%s", answer)
		server.Close()
	}
}
