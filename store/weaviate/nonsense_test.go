package weaviate_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sheaf"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
	"sheaf/store/weaviate"
)

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
		if !errors.Is(err, sheaf.ErrUnavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v: want %q", answer, err, want)
		}
		server.Close()
	}
}
