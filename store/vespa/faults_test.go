package vespa

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
)

// TestOpenFaults checks that each fault of a server becomes an error of the right category, with
// advice.
func TestOpenFaults(t *testing.T) {
	for what, c := range map[string]struct {
		fault func(w http.ResponseWriter, r *http.Request, body []byte) bool
		want  error
		says  string
	}{
		"away": {failing("/", 99, 503, "", "starting"), sheaf.ErrUnavailable, "503"},
		"no schema": {failing("/document", 99, 400, "", "Document type notes_about does not exist"), sheaf.ErrNotFound,
			"sheaf export vespa-app"},
		"no rights": {failing("/document", 99, 403, "", "no client certificate"), sheaf.ErrInvalid, "check the certificate"},
		"nonsense": {func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			fmt.Fprint(w, "<html>login</html>")
			return true
		}, sheaf.ErrUnavailable, "not from such a server"},
		"cut": {func(http.ResponseWriter, *http.Request, []byte) bool { panic(http.ErrAbortHandler) }, sheaf.ErrUnavailable,
			"EOF"},
		"half": {func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"pathId":`)
			return true
		}, sheaf.ErrUnavailable, "broke off"},
		"slow": {func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
			<-r.Context().Done()
			return true
		}, sheaf.ErrUnavailable, "no answer in time"},
		"no profile": {func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			if !strings.HasPrefix(r.URL.Path, "/search") {
				return false
			}
			w.WriteHeader(400)
			fmt.Fprint(w,
				`{"root":{"id":"toplevel","relevance":1.0,"fields":{"totalCount":0},"errors":[{"code":4,"summary":"Invalid `+
					`query parameter","message":"schema[notes] does not contain requested rank profile"}]}}`)
			return true
		}, sheaf.ErrInvalid, "no rank profile words_1_2_0_75"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			o := at(t, &recorded{docs: map[string]string{}, fault: c.fault})
			if o.Timeout = time.Minute; what == "slow" {
				o.Timeout = time.Second
			}
			check.Fails(t, must.Err(Open(t.Context(), o)), c.want, c.says, "Open")
		})
	}
}

// TestBackPressure checks that a write repeats refused documents when the server is busy, and waits
// as Retry-After says. Other refusals are errors at once.
func TestBackPressure(t *testing.T) {
	var chunks []store.Chunk
	for i := range 40 {
		chunks = append(chunks, storetest.Chunk(fmt.Sprintf("n:%d#x", i), "body", "tea"))
	}
	for what, c := range map[string]struct {
		status, times int
		after         string
		want          error
		says          string
		atLeast       time.Duration
	}{
		"too many requests":  {429, 12, "", nil, "", 0},
		"retry after":        {429, 1, "1", nil, "", 500 * time.Millisecond},
		"starting":           {503, 8, "", nil, "", 0},
		"timed out":          {504, 2, "", nil, "", 0},
		"out of space":       {507, 1, "", sheaf.ErrUnavailable, "short of memory or disk", 0},
		"no rights":          {401, 1, "", store.ErrKeptOut, "check the certificate", 0},
		"no document API":    {404, 1, "", sheaf.ErrNotFound, "404", 0},
		"an internal fault":  {500, 1, "", sheaf.ErrUnavailable, "500", 0},
		"away for very long": {429, 1 << 20, "", sheaf.ErrUnavailable, "429", storekit.DefaultTimeout},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &recorded{docs: map[string]string{}}
				o := testOptions(t)
				o.URL, o.Feeds, o.Client = "http://server", 8, &http.Client{Transport: direct{server}}
				s, err := Open(t.Context(), o)
				must.Do(t, err)
				server.fault = failing("/docid/", c.times, c.status, c.after, "Rejecting execution due to overload: 256 "+
					"requests already enqueued")
				began := time.Now()
				err = s.Write(t.Context(), store.Batch{Chunks: chunks})
				took := time.Since(began)
				check.That(t, (c.want != nil || err == nil) && errors.Is(err, c.want) && strings.Contains(fmt.Sprint(err),
					c.says) && took >= c.atLeast, "%v after %v, want %v that says %q after %v", err, took, c.want, c.says, c.atLeast)
				if err == nil && len(server.kept()) != len(chunks) {
					t.Errorf("%d of %d chunks were written", len(server.kept()), len(chunks))
				}
				most := server.atOnce()
				check.That(t, most <= 8, "%d requests at a time, want 8 at most", most)
			})
		})
	}
}

// direct is a server in this process, so that synctest can use a fake clock.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(time.Millisecond)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result(), nil
}

// TestWriteAfterCutConnection checks that a write repeats a document after a cut connection or a cut answer.
func TestWriteAfterCutConnection(t *testing.T) {
	server, s := serving(t)
	var mu sync.Mutex
	n := 0
	server.fault = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		mu.Lock()
		defer mu.Unlock()
		n++
		switch {
		case n == 3:
			panic(http.ErrAbortHandler)
		case n == 5:
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{"pathId"`))
			return true
		}
		return false
	}
	var chunks []store.Chunk
	for i := range 20 {
		chunks = append(chunks, storetest.Chunk(fmt.Sprintf("n:%d#x", i), "body", "tea"))
	}
	if err := s.Write(t.Context(), store.Batch{Chunks: chunks}); err != nil || len(server.kept()) != 20 {
		t.Errorf("%v; %d of 20 chunks", err, len(server.kept()))
	}
}

// TestSearchFaults checks that an incomplete or invalid answer is an error.
func TestSearchFaults(t *testing.T) {
	server, s := serving(t)
	for what, c := range map[string]struct{ answer, says string }{
		"degraded": {
			`{"root":{"fields":{"totalCount":1},"coverage":{"coverage":50,"degraded":{"timeout":true}},"children":[]}}`,
			"50 % of the content"},
		"soft timeout": {
			`{"root":{"fields":{"totalCount":1},"coverage":{"coverage":100,"degraded":{"timeout":true}},"children":[]}}`,
			"incomplete"},
		"errors": {`{"root":{"coverage":{"coverage":100},"errors":[{"code":12,"summary":"Timed out","message":"No ` +
			`time left"}]}}`, "No time left"},
		"no coverage": {`{"root":{"fields":{"totalCount":1}}}`, "coverage"},
		"empty":       {`{}`, "coverage"},
		"a list":      {`[1]`, "not from such a server"},
		"half":        {`{"root":{"children":[`, "not from such a server"},
		"no ID":       {result(1, `{"relevance":1,"fields":{}}`), "without an ID"},
		"odd ID":      {result(1, hitOf("%zz", 1, "")), "a hit with the ID"},
		"NaN":         {result(1, hitOf("n:a", `"NaN"`, "")), "relevance"},
		"no fields":   {result(1, `{"relevance":1}`), "without an ID"},
	} {
		server.found = func(object) string { return c.answer }
		_, err := s.Retrieve(t.Context(), storetest.Words(sheaf.Match{Text: "tea"}))
		check.Fails(t, err, sheaf.ErrUnavailable, c.says, "%s", what)
	}
}
