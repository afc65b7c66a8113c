package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// hangUp closes the connection of a request without an answer.
func hangUp(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// TestServerFailsOnTexts checks servers that refuse several texts, or that refuse or fail on one text. They
// give the vectors of all others, of the start of this text, and of the query.
func TestServerFailsOnTexts(t *testing.T) {
	status := func(code int, say string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { http.Error(w, say, code) }
	}
	for name, c := range map[string]struct {
		texts, bytes int // the most that the server reads
		fail         func(http.ResponseWriter)
		requests     int64 // at most
	}{
		"few texts":             {2, 1 << 20, status(422, "batch size 4 > maximum allowed batch size 2"), 16},
		"a body":                {1, 1 << 20, status(413, "Payload Too Large"), 16},
		"short texts":           {64, 1300, status(400, "maximum context length"), 24},
		"as llama.cpp":          {64, 1300, status(500, "input is too large to process"), 24},
		"closes the connection": {64, 2000, hangUp, 40},
		"fails":                 {64, 2000, status(500, "CUDA error: an illegal memory access"), 40},
		"dies behind a proxy":   {64, 2000, status(502, "Bad Gateway"), 40},
		"gives null": {64, 2000, func(w http.ResponseWriter) { fmt.Fprint(w, `{"data":[{"embedding":[null,1]}]}`) },
			40},
		"hangs": {64, 2000, nil, 40},
	} {
		for _, attempts := range []int{1, defaultAttempts} {
			t.Run(fmt.Sprint(name, attempts), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h, count := counted(t, func(_ int64, texts []string, w http.ResponseWriter, r *http.Request) {
						switch {
						case len(texts) <= c.texts && longest(texts) <= c.bytes:
							vectors(texts, w)
						case c.fail == nil:
							<-r.Context().Done()
						default:
							c.fail(w)
						}
					})
					o := options(at("http://server"))
					o.Client = &http.Client{Transport: closing{direct{h}}}
					o.Batch, o.Attempts, o.Timeout, o.QueryTimeout, o.Rest = 16, attempts, time.Minute, time.Second,
						time.Minute
					e := embedder(t, o)
					texts := []string{"a", "bb", "ccc", strings.Repeat("ä", 5000), "ddddd", "eeeeee"}
					began := time.Now()
					out, err := e.Embed(t.Context(), model.Passage, texts)
					must.That(t, err == nil && len(out) == len(texts), "%d vectors, %v", len(out), err)
					for i, n := range []float64{1, 2, 3, 0, 5, 6} {
						check.That(t, out[i] != nil && (n <= 0 || math.Abs(float64(out[i][0]/out[i][1])-n) <= 1e-5), "text %d: %v", i,
							out[i])
					}
					took := time.Since(began)
					check.That(t, took <= 3*time.Minute && count.Load() <= c.requests, "%d requests in %v", count.Load(), took)
					check.NoError(t, must.Err(e.Embed(t.Context(), model.Query, []string{"heron"})), "query")
				})
			})
		}
	}
}

// TestServerTakesNoText checks that a server that accepts no text gets only a few requests.
func TestServerTakesNoText(t *testing.T) {
	for _, texts := range [][]string{{"a", "bb"}, {"a", "bb", strings.Repeat("ä", 5000), "ccc", "dddd"}} {
		o, count := server(t, func(_ int64, _ []string, w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no", http.StatusUnprocessableEntity)
		})
		o.Batch = 8
		_, err := embedder(t, o).Embed(t.Context(), model.Passage, texts)
		most := int64(8 * (len(texts) - 1))
		check.That(t, errors.Is(err, ErrUnavailable) && strings.Contains(err.Error(), "no") && count.Load() <= most,
			"%d requests for %d texts, at most %d: %v", count.Load(), len(texts), most, err)
	}
}

// TestServerRefusesOneText checks that a passage which the server refuses at any length gets a nil vector. The other
// passages get their vectors. A query gives the error.
func TestServerRefusesOneText(t *testing.T) {
	o, count := server(t, func(_ int64, texts []string, w http.ResponseWriter, _ *http.Request) {
		if strings.Contains(strings.Join(texts, " "), "forbidden") {
			http.Error(w, "content policy", http.StatusBadRequest)
			return
		}
		vectors(texts, w)
	})
	o.Batch = 8
	e := embedder(t, o)
	v, err := e.Embed(t.Context(), model.Passage, []string{"a", strings.Repeat("forbidden ", 100), "bb", "forbidden", "c"})
	must.That(t, err == nil && len(v) == 5 && count.Load() <= 24, "%d requests: %v, %v", count.Load(), v, err)
	for i := range v {
		check.Equal(t, v[i] == nil, i == 1 || i == 3, "text %d", i)
	}
	_, err = e.Embed(t.Context(), model.Query, []string{"forbidden"})
	check.That(t, err != nil && strings.Contains(err.Error(), "content policy"), "query: %v", err)
}

// TestServerRefusesQuery checks a server that fails on the whole text of a query and refuses the start of the text. The
// query gives the error of the server.
func TestServerRefusesQuery(t *testing.T) {
	o, _ := server(t, func(_ int64, texts []string, w http.ResponseWriter, _ *http.Request) {
		switch longest(texts) {
		case len("word"):
			vectors(texts, w)
		case 600:
			http.Error(w, "out of memory", http.StatusInternalServerError)
		default:
			http.Error(w, "content policy", http.StatusBadRequest)
		}
	})
	v, err := embedder(t, o).Embed(t.Context(), model.Query, []string{strings.Repeat("x", 600)})
	check.That(t, err != nil && strings.Contains(err.Error(), "content policy"), "%v, %v", v, err)
}

// closing is a transport that fails or hangs when the handler calls [hangUp].
type closing struct{ direct }

func (c closing) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	type done struct {
		resp *http.Response
		err  error
	}
	out := make(chan done, 1)
	go func() {
		var d done
		defer func() {
			if recover() != nil {
				d = done{nil, fmt.Errorf("read tcp: %w", io.EOF)}
			}
			out <- d
		}()
		d.resp, d.err = c.direct.RoundTrip(r)
	}()
	select {
	case d := <-out:
		return d.resp, d.err
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// TestQueryCrashesServer checks that a query that crashes the server is embedded by its start, and does
// not delay other queries.
func TestQueryCrashesServer(t *testing.T) {
	o, _ := server(t, func(_ int64, texts []string, w http.ResponseWriter, _ *http.Request) {
		if longest(texts) > 300 {
			hangUp(w)
		}
		vectors(texts, w)
	})
	o.QueryTimeout, o.Rest = time.Second, time.Minute
	e := embedder(t, o)
	for _, query := range []string{strings.Repeat("heron ", 100), "heron"} {
		v, err := e.Embed(t.Context(), model.Query, []string{query})
		check.That(t, err == nil && v[0] != nil, "%.10s: %v, %v", query, v, err)
	}
}

// TestServerClosesEverySecondConnection checks that a server that closes every second connection gives all vectors.
func TestServerClosesEverySecondConnection(t *testing.T) {
	var n atomic.Int64
	o, _ := server(t, func(_ int64, texts []string, w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%2 == 1 {
			hangUp(w)
		}
		vectors(texts, w)
	})
	o.Attempts, o.QueryTimeout, o.Rest = 1, time.Second, time.Minute
	e := embedder(t, o)
	texts := []string{"a", strings.Repeat("b", 4000), "cc", "dd", "ee", "ff", "gg"}
	v, err := e.Embed(t.Context(), model.Passage, texts)
	check.That(t, err == nil && v[1][0]/v[1][1] >= 3999, "%v, %v", v, err)
	check.NoError(t, must.Err(e.Embed(t.Context(), model.Query, []string{"heron"})), "query")
}

// TestServerClosesEveryConnection checks the error and the few attempts when a server closes every connection.
func TestServerClosesEveryConnection(t *testing.T) {
	o, count := server(t, func(_ int64, _ []string, w http.ResponseWriter, _ *http.Request) { hangUp(w) })
	o.Batch = 64
	e := embedder(t, o)
	_, err := e.Embed(t.Context(), model.Passage, []string{"a", "b", strings.Repeat("c", 4000)})
	check.That(t, errors.Is(err, ErrUnavailable) &&
		strings.HasSuffix(err.Error(), "closed the connection without an answer") && count.Load() <= 2*defaultAttempts,
		"%d requests: %v", count.Load(), err)
}

// TestMessages checks that each error says what the server did and what to set.
func TestMessages(t *testing.T) {
	base64 := `{"data":[{"embedding":"AACAPwAAAAA="}]}`
	for _, c := range []struct{ path, answer, say string }{
		{"/v1", base64, "/v1/embeddings sends vectors as base64 text; set encoding_format to float"},
		{"", "", "set the url to http://127.0.0.1:"},
		{"/", "", "/v1"},
		{"/api/embed", "", "/v1"},
		{"/api/v2", "", `knows no model "m" or no such address`},
		{"/v1", "", `knows no model "m" or no such address`},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c.answer == "" {
				http.NotFound(w, r)
				return
			}
			fmt.Fprint(w, c.answer)
		}))
		_, err := New(context.Background(), Options{Server: Server{URL: s.URL + c.path, Model: "m"}})
		s.Close()
		check.That(t, err != nil && strings.Contains(err.Error(), c.say) && (c.say != "/v1" ||
			strings.HasSuffix(err.Error(), s.URL+"/v1")), "%s: %v", c.path, err)
	}
}
