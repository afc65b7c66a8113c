package weaviate

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/store/storekit"
)

// TestCountOutOfRange checks that a server that counts too many passages in every range does not keep a reader busy
// forever. It needs no Weaviate.
func TestCountOutOfRange(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) > 10 {
			http.Error(w, "too many requests", http.StatusNotFound)
			return
		}
		fmt.Fprint(w, `{"data":{"Aggregate":{"Notes_V_body":[{"meta":{"count":20001}}]}}}`)
	}))
	defer server.Close()
	o := Options{Options: storekit.Options{URL: server.URL, Timeout: time.Minute}, Class: "Notes"}
	s := &Store{o: o, client: newClient(o), calls: storekit.NewCalls("weaviate", o.Client, o.Timeout, false)}
	_, err := s.passagesOf(t.Context(), "body", []string{strings.Repeat("0", 64)})
	check.Fails(t, err, sheaf.ErrUnavailable, "20001 passages in a range of 10000", "a wrong count")
}
