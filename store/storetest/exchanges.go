package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/store"
)

// Exchanges are HTTP requests of a store and the server's answers, stored in a golden file. In a test without the
// server, the file answers. The test then fails if the store sends other requests than the file has. So a review of the
// file shows what changes.
type Exchanges struct {
	// About names what the next requests show, for example a search.
	About string
	// Alter changes the answer that the file has for a request. Nil changes nothing. With Alter, the test need not send
	// every request of the file.
	Alter func(path string, answer []byte) []byte

	t         testing.TB
	path      string
	real      bool // the server answers, and the file is written again
	mu        sync.Mutex
	exchanges []exchange
	used      []bool
}

// exchange is a request and its answer. A body of several JSON lines is stored as a list. If the store sends no
// request, Refused is the store's error.
type exchange struct {
	About   string
	Request string          `json:",omitempty"`
	Body    json.RawMessage `json:",omitempty"`
	Status  int             `json:",omitempty"`
	Answer  json.RawMessage `json:",omitempty"`
	Refused string          `json:",omitempty"`
}

// NewExchanges reads a golden file. With update, requests go to the server, and the end of the test writes the file.
func NewExchanges(t testing.TB, path string, update bool) *Exchanges {
	t.Helper()
	e := &Exchanges{t: t, path: path, real: update}
	if !update {
		text, err := os.ReadFile(path)
		must.Do(t, err)
		if err := json.Unmarshal(text, &e.exchanges); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		e.used = make([]bool, len(e.exchanges))
	}
	t.Cleanup(e.finish)
	return e
}

func (e *Exchanges) finish() {
	if e.real && !e.t.Failed() {
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "\t")
		must.Do(e.t, enc.Encode(e.exchanges))
		must.Do(e.t, os.WriteFile(e.path, out.Bytes(), 0o666))
	}
	for i, used := range e.used {
		if !used && e.Alter == nil {
			x := &e.exchanges[i]
			e.t.Errorf("%s: %s %s is not sent any more", x.About, x.Request, x.Refused)
			return
		}
	}
}

// Client returns a client whose requests go to the server, or to the golden file.
func (e *Exchanges) Client() *http.Client { return &http.Client{Transport: e} }

// RoundTrip implements [http.RoundTripper].
func (e *Exchanges) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	one := exchange{Request: req.Method + " " + req.URL.RequestURI(), Body: readable(body)}
	if !e.real {
		found, ok := e.take(one)
		if !ok {
			err := fmt.Errorf("%s: %s %s is not in %s; look at the difference after go test -update", e.About, one.Request,
				one.Body, e.path)
			e.t.Error(err)
			return nil, err
		}
		answer := []byte(found.Answer)
		if e.Alter != nil {
			answer = e.Alter(req.URL.Path, answer)
		}
		return &http.Response{StatusCode: found.Status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(answer)),
			Request: req}, nil
	}
	sent := req.Clone(req.Context())
	sent.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := http.DefaultTransport.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	one.Status, one.Answer = resp.StatusCode, readable(answer)
	e.keep(one)
	resp.Body = io.NopCloser(bytes.NewReader(answer))
	return resp, nil
}

func (e *Exchanges) keep(one exchange) {
	e.mu.Lock()
	defer e.mu.Unlock()
	one.About = e.About
	e.exchanges = append(e.exchanges, one)
}

// take finds the first unused answer to a request in the file, and marks it as used. If none is left, it returns false.
func (e *Exchanges) take(want exchange) (exchange, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, x := range e.exchanges {
		if !e.used[i] && x.About == e.About && x.Request == want.Request && x.Refused == want.Refused &&
			sameJSON(x.Body, want.Body) {
			e.used[i] = true
			return x, true
		}
	}
	return exchange{}, false
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && x.String() == y.String()
}

// Result checks the result of a call. It records sheaf.ErrUnsupported in the golden file. Other errors fail the test.
func (e *Exchanges) Result(err error) {
	e.t.Helper()
	switch {
	case err == nil:
	case !errors.Is(err, sheaf.ErrUnsupported):
		e.t.Fatalf("%s: %v", e.About, err)
	case e.real:
		e.keep(exchange{Refused: err.Error()})
	default:
		if _, ok := e.take(exchange{Refused: err.Error()}); !ok {
			e.t.Errorf("%s: refused otherwise than in %s: %v", e.About, e.path, err)
		}
	}
}

// changing matches the parts of a body that differ in each run, such as times and tokens of writes.
var changing = regexp.MustCompile(`"[A-Z2-7]{26}"|"took":\d+|"(?:creation|lastUpdate)TimeUnix":\d+`)

// readable converts a body to JSON. A body of several lines becomes a list.
func readable(body []byte) json.RawMessage {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return nil
	}
	body = changing.ReplaceAllFunc(body, func(m []byte) []byte {
		if name, _, ok := strings.Cut(string(m), ":"); ok {
			return []byte(name + ":0")
		}
		return []byte(`"MARK"`)
	})
	if json.Valid(body) {
		return body
	}
	if lines := slices.Concat([]byte("["), bytes.ReplaceAll(body, []byte("\n"), []byte(",")),
		[]byte("]")); json.Valid(lines) {
		return lines
	}
	out, err := json.Marshal(string(body))
	if err != nil {
		panic(err) // a text is always JSON
	}
	return out
}

// All makes a store write the documents of Library, send every kind of request, and delete a document. It compares
// the hits with the golden file found.txt beside the file of e.
func (e *Exchanges) All(ctx context.Context, s interface {
	store.Backend
	store.Counter
}) {
	e.t.Helper()
	e.About = "write"
	e.Result(s.Write(ctx, Library()))
	var found strings.Builder
	for _, r := range Requests() {
		e.About = r.Name
		hits, err := s.Retrieve(ctx, r.Request)
		e.Result(err)
		fmt.Fprintf(&found, "%s:%s\n", r.Name, Written(hits))
	}
	Golden(e.t, filepath.Join(filepath.Dir(e.path), "found.txt"), found.String(), e.real)
	e.About = "count"
	_, err := s.Count(ctx, Words(sheaf.Match{Text: "tea"}))
	e.Result(err)
	e.About = "delete"
	e.Result(s.Write(ctx, store.Batch{Replace: []sheaf.ID{"notes:a.md"}}))
}
