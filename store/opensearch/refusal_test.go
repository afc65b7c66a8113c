package opensearch

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storekit"
)

// TestLicenseRefuses checks that a feature without a license is ErrUnsupported and not ErrForbidden.
func TestLicenseRefuses(t *testing.T) {
	const cause = `{"type":"security_exception","reason":"current license is non-compliant for [Reciprocal Rank Fusion ` +
		`(RRF)]","license.expired.feature":"Reciprocal Rank Fusion (RRF)"}`
	err := refusal(http.StatusForbidden, []byte(`{"error":{"root_cause":[`+cause+`],`+cause[1:len(cause)-1]+
		`},"status":403}`))
	check.That(t, errors.Is(err, sheaf.ErrUnsupported) && !errors.Is(err, store.ErrForbidden) &&
		strings.Contains(err.Error(), "start its trial"), "%v", err)
}

// TestMemoryRefusals checks refusals for lack of memory, in the words of Elasticsearch 9.5.3 and of
// OpenSearch. A request larger than the server's whole memory limit is too large. A request that
// only competes with others is repeated.
func TestMemoryRefusals(t *testing.T) {
	for reason, want := range map[string]bool{
		"rejected execution of primary operation" +
			" [coordinating_and_primary_bytes=41990797, replica_bytes=0, all_bytes=41990797, " +
			"primary_operation_bytes=167962068, max_primary_bytes=51897958]": true,
		"rejected execution of coordinating operation" +
			" [coordinating_and_primary_bytes=0, replica_bytes=0, all_bytes=0, " +
			"coordinating_operation_bytes=60000000, max_coordinating_and_primary_bytes=53687091]": true,
		"rejected execution of primary operation" +
			" [coordinating_and_primary_bytes=51000000, replica_bytes=0, all_bytes=51000000, " +
			"primary_operation_bytes=1000000, max_primary_bytes=51897958]": false,
		"rejected execution of org.opensearch.common.util.concurrent.TimedRunnable on OpenSearchThreadPoolExecutor" +
			"[name = write, queue capacity = 1, " +
			"coordinating_operation_bytes=9, max_coordinating_and_primary_bytes=": false,
	} {
		e := serverError{Type: "es_rejected_execution_exception", Reason: reason}
		check.Equal(t, e.tooLarge(), want, "%s", reason)
		body, err := json.Marshal(map[string]any{"error": map[string]any{"type": e.Type, "reason": reason}, "status": 429})
		must.Do(t, err)
		calls := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls++
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write(body)
		}))
		c := newClient(Options{Options: storekit.Options{URL: server.URL, Client: server.Client()}})
		c.Attempts = 2
		err = c.Call(t.Context(), "POST", "/notes/_bulk", storekit.Lines("{}\n"), nil)
		check.That(t, errors.Is(err, storekit.ErrTooLarge) == want && calls == 1 == want,
			"%s: %d calls, %v", reason, calls, err)
		server.Close()
		s := &Store{o: Options{Index: "notes"}}
		server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls++
			_ = json.NewEncoder(w).Encode(map[string]any{"errors": true,
				"items": []any{map[string]any{"index": map[string]any{"status": 429,
					"error": map[string]any{"type": e.Type, "reason": reason}}}}})
		}))
		s.client, calls = newClient(Options{Options: storekit.Options{URL: server.URL, Client: server.Client()}}), 0
		out, ctx := s.bulk(t.Context(), map[sheaf.ID]error{})
		out.put(ctx, "d", []byte("{}\n{}\n"))
		out.flush(ctx)
		if err := out.end(nil); (err == nil && out.rejected["d"] != nil) != want || calls == 1 != want {
			t.Errorf("%s: an action: %d calls, rejected %v, %v", reason, calls, out.rejected, err)
		}
		server.Close()
	}
}
