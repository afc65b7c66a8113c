package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model"
)

// answering returns a handler for requests to path with a body like T, and a counter of them.
func answering[T any](t *testing.T, path string,
	handle func(n int64, body T, w http.ResponseWriter, r *http.Request)) (http.HandlerFunc, *atomic.Int64) {
	count := new(atomic.Int64)
	return func(w http.ResponseWriter, r *http.Request) {
		var body T
		err := json.NewDecoder(r.Body).Decode(&body)
		check.That(t, err == nil && r.URL.Path == path && strings.HasPrefix(r.Header.Get("Authorization"), "Bearer secret"),
			"request %s %v %+v, %v", r.URL.Path, r.Header, body, err)
		handle(count.Add(1), body, w, r)
	}, count
}

// at describes the server at an address. No request waits for it.
func at(url string) Server {
	return Server{URL: url + "/v1", Model: "m", Key: "secret",
		sleep: func(context.Context, time.Duration) error { return nil }}
}

// started starts a server with this handler.
func started(t *testing.T, h http.Handler) Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return at(s.URL)
}

func options(s Server) Options { return Options{Batch: 3, Dims: 2, Server: s} }

// handler gets the number of a request and its texts.
type handler func(n int64, texts []string, w http.ResponseWriter, r *http.Request)

// counted returns a handler for requests of embeddings.
func counted(t *testing.T, handle handler) (http.HandlerFunc, *atomic.Int64) {
	type body struct {
		Model string
		Input []string
	}
	return answering(t, "/v1/embeddings", func(n int64, b body, w http.ResponseWriter, r *http.Request) {
		check.Equal(t, b.Model, "m", "model")
		handle(n, b.Input, w, r)
	})
}

// server returns options for a server that answers each request with handle, and a counter of its requests.
func server(t *testing.T, handle handler) (Options, *atomic.Int64) {
	t.Helper()
	h, count := counted(t, handle)
	return options(started(t, h)), count
}

// direct is a server in this process, so that a fake clock waits for it.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// vectors answers with [len(text), 1] for each text, in reverse order.
func vectors(texts []string, w http.ResponseWriter) {
	var parts []string
	for i := len(texts) - 1; i >= 0; i-- {
		parts = append(parts, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%d,1]}`, i, len(texts[i])))
	}
	fmt.Fprintf(w, `{"object":"list","data":[%s],"usage":{}}`, strings.Join(parts, ","))
}

func embedder(t *testing.T, o Options) *Embedder {
	t.Helper()
	e := must.Get(New(t.Context(), o))
	return e
}

func TestEmbed(t *testing.T) {
	o, count := server(t, func(_ int64, texts []string, w http.ResponseWriter, _ *http.Request) { vectors(texts, w) })
	o.Dims, o.QueryPrefix = 0, "query: "
	e := embedder(t, o)
	check.Equal(t, e.Dims(), 2, "dimensions")
	texts := []string{"a", "bb", "", "dddd", "eeeee", "ffffff", "g"}
	out := must.Get(e.Embed(context.Background(), model.Passage, texts))
	must.Equal(t, len(out), len(texts), "vectors")
	for i, v := range out {
		n := float64(max(1, len(texts[i])))
		want := n / math.Hypot(n, 1)
		check.That(t, math.Abs(float64(v[0])-want) <= 1e-6, "text %d: %v, want %v first", i, v, want)
	}
	check.Equal(t, count.Load(), 1+3, "requests")
	q, err := e.Embed(context.Background(), model.Query, []string{"a"})
	check.That(t, err == nil && math.Abs(float64(q[0][0])-8/math.Hypot(8, 1)) <= 1e-6, "query %v, %v", q, err)
}

// TestFaults checks that each wrong answer gives a clear error, without a part of the key.
func TestFaults(t *testing.T) {
	key := "secret-" + strings.Repeat("k", 60)
	for name, c := range map[string]struct {
		answer string
		status int
		kind   string
		say    string
	}{
		"fewer vectors":  {`{"data":[]}`, 200, "", "0 vectors for 1"},
		"dimensions":     {`{"data":[{"embedding":[1,2,3]}]}`, 200, "", "3 dimensions, not 2"},
		"no dimensions":  {`{"data":[{"embedding":[]}]}`, 200, "", "gave a vector without numbers for text 0"},
		"null":           {`{"data":[{"embedding":[1,null]}]}`, 200, "", "a vector holds null"},
		"beyond":         {`{"data":[{"embedding":[1,1e400]}]}`, 200, "", "a vector holds 1e400"},
		"text":           {`{"data":[{"embedding":[1,"0.5"]}]}`, 200, "", "not a finite number"},
		"NaN":            {`{"data":[{"embedding":[NaN,0]}]}`, 200, "", "no JSON"},
		"infinite":       {`{"data":[{"embedding":[1e308,1e308]}]}`, 200, "", "no direction"},
		"index":          {`{"data":[{"index":1,"embedding":[1,2]}]}`, 200, "", "wrongly: 1 of 1"},
		"half a body":    {`{"data":[{"embedd`, 200, "", "no JSON"},
		"HTML":           {`<html>secret</html>`, 200, "text/html", "no JSON of embeddings: an HTML page"},
		"a list":         {`[[1,2]]`, 200, "", "no JSON of embeddings: [[1,2]]"}, // without names of Go types
		"HTML error":     {`<html>`, 404, "text/html", "HTML page"},
		"empty error":    {``, 404, "", "(404 Not Found): an empty answer"},
		"wrong key":      {`{"error":"bad key ` + key + `"}`, 401, "", "refused the key"},
		"bad request":    {`{"error":"too long"}`, 400, "", "too long"},
		"busy for ever":  {`busy`, 503, "", "503"},
		"huge time away": {`later`, 429, "", "asks to wait"},
		"a proxy's page": {`<html>`, 502, "text/html", "502 Bad Gateway: an HTML page"},
		"a cut key":      {strings.Repeat("x", 280) + " wrong key " + key, 401, "", "wrong key …"},
		"200 of a fault": {`{"error":{"message":"no provider for this model"}}`, 200, "",
			"gave 0 vectors for 1 texts: {\"message\":\"no provider"},
	} {
		t.Run(name, func(t *testing.T) {
			o, count := server(t, func(_ int64, _ []string, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				if c.status == 429 {
					w.Header().Set("Retry-After", "3600")
				}
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.answer)
			})
			o.Key = key
			_, err := embedder(t, o).Embed(t.Context(), model.Passage, []string{"x"})
			if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), c.say) ||
				!strings.Contains(err.Error(), o.URL) || strings.Contains(err.Error(), "secret") ||
				c.status > 500 && strings.Contains(err.Error(), "address of an API") {
				t.Errorf("got %v", err)
			}
			want := int64(map[int]int{502: defaultAttempts, 503: defaultAttempts, 400: 2}[c.status])
			check.That(t, count.Load() == max(want, 1), "%d requests, want %d", count.Load(), want)
		})
	}
}

// TestTextWithoutVector checks that a text that the model does not know has no vector, and does not affect
// other texts. A model that returns only zeros is refused.
func TestTextWithoutVector(t *testing.T) {
	answer := `{"data":[{"index":1,"embedding":[0,0]},{"index":0,"embedding":[0,2]}]}`
	o, _ := server(t, func(_ int64, _ []string, w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) })
	e := embedder(t, o)
	v, err := e.Embed(t.Context(), model.Passage, []string{"known", "unknown"})
	check.That(t, err == nil && fmt.Sprint(v) == "[[0 1] []]" && v[1] == nil, "%v, %v", v, err)
	answer = `{"data":[{"index":0,"embedding":[0,0]},{"index":0,"embedding":[0,2]}]}`
	v, err = e.Embed(t.Context(), model.Passage, []string{"a", "b"})
	check.That(t, err != nil && strings.Contains(err.Error(), "wrongly: 0 of 2"), "numbered twice: %v, %v", v, err)
	o.Dims, answer = 0, `{"data":[{"embedding":[0,0]}]}`
	check.Fails(t, must.Err(New(t.Context(), o)), ErrUnavailable, "vector of zeros", "a vector of zeros")
}

func TestRetries(t *testing.T) {
	o, count := server(t, func(n int64, texts []string, w http.ResponseWriter, _ *http.Request) {
		if n < 3 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		vectors(texts, w)
	})
	var waits []time.Duration
	o.sleep = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
	e := embedder(t, o)
	_, err := e.Embed(context.Background(), model.Passage, []string{"x"})
	check.That(t, err == nil && count.Load() == 3, "%v after %d requests", err, count.Load())
	check.That(t, len(waits) == 2 && waits[0] == time.Second, "waits %v", waits)
}

// TestUnknownAuthority checks that the error for an untrusted certificate says what to do. With the
// certificate the server answers.
func TestUnknownAuthority(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data":[{"embedding":[1,0]}]}`)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // errors of a client that closes the connection
	s.StartTLS()
	t.Cleanup(s.Close)
	o := options(at(s.URL))
	o.Dims = 0
	if _, err := New(t.Context(), o); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "SSL_CERT_FILE") ||
		strings.Contains(err.Error(), "running") {
		t.Errorf("%v", err)
	}
	o.Client = s.Client()
	e, err := New(t.Context(), o)
	check.That(t, err == nil && e.Dims() == 2, "with the certificate: %v", err)
}

// TestConfig checks that wrong options give no client, and no error with a password or a key.
func TestConfig(t *testing.T) {
	check := func(what any, err error) {
		t.Helper()
		check.That(t, errors.Is(err, ErrConfig) && !strings.Contains(err.Error(), "sec"), "%+v: %v", what, err)
	}
	right := Server{URL: "http://x/rerank", Model: "m"}
	for _, s := range []Server{{}, {URL: "localhost:11434", Model: "m"}, {URL: "ftp://x/", Model: "m"}, {URL: "http://x"},
		{URL: "http://user:secret@x", Model: "m"}, {URL: "http://x/v1", Model: "m", Key: "secret\n"},
		{URL: "http://x/v1", Model: "m", Key: "sec\x00ret"}} {
		_, err := New(t.Context(), Options{Server: s})
		check(s, err)
		_, err = NewReranker(s, "")
		check(s, err)
		_, err = NewChat(s)
		check(s, err)
	}
	_, err := New(t.Context(), Options{Server: right, Dims: -1})
	check("dims", err)
	_, err = NewReranker(right, "jina")
	check("shape", err)
	for _, slash := range []string{"", "/"} {
		if r, err := NewReranker(Server{URL: right.URL + slash}, ShapeTEI); err != nil || r.endpoint.URL != right.URL {
			t.Errorf("an address that is whole, of a server with one model: %+v, %v", r, err)
		}
	}
}

// TestQueries checks that a query is tried once, within its own timeout. After a server was not
// reached, the next queries fail at once, but passages are tried.
func TestQueries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mode atomic.Value
		mode.Store("hang")
		h, count := counted(t, func(_ int64, texts []string, w http.ResponseWriter, r *http.Request) {
			switch mode.Load() {
			case "hang":
				<-r.Context().Done()
			case "busy":
				w.WriteHeader(http.StatusServiceUnavailable)
			default:
				vectors(texts, w)
			}
		})
		o := options(at("http://server"))
		o.Client = &http.Client{Transport: direct{h}}
		o.QueryTimeout, o.Rest = 20*time.Millisecond, time.Minute
		e := embedder(t, o)
		ask := func(purpose model.Purpose, requests int64, fails bool) {
			t.Helper()
			before := count.Load()
			_, err := e.Embed(context.Background(), purpose, []string{"x"})
			if got := count.Load() - before; got != requests || fails != errors.Is(err, ErrUnavailable) || !fails && err != nil {
				t.Errorf("%d requests, want %d: %v", got, requests, err)
			}
		}
		ask(model.Query, 1, true)
		ask(model.Query, 0, true)
		time.Sleep(2 * time.Minute)
		ask(model.Query, 1, true)
		mode.Store("well")
		ask(model.Query, 0, true)
		ask(model.Passage, 1, false)
		ask(model.Query, 1, false) // a passage showed that the server answers again
		mode.Store("busy")
		ask(model.Passage, defaultAttempts, true)
		ask(model.Query, 1, true)
		ask(model.Query, 1, true) // the server answers, so the query reaches it
	})
}
