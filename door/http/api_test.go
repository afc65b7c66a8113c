package http_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// notes has the files of a small collection.
var notes = map[string]string{
	"git.md": "---\ntags: [vcs]\naccess: public\n---\n# Git\n\nVersion control.\n\n## Undo a commit\n\nUse reset to " +
		"undo a commit.\n",
	"hg.md":    "---\ntags: [vcs]\n---\n# Mercurial\n\nUse rollback to undo the last commit.\n",
	"a/b c.md": "# Odd names\n\nA file whose name has a space, in a folder.\n",
}

// server is an API with its own listener.
type server struct {
	*httptest.Server
	fixture *collectiontest.Fixture
	api     *httpdoor.API
	log     *bytes.Buffer
}

func start(t testing.TB, files map[string]string, change func(*httpdoor.Options)) *server {
	t.Helper()
	return startOf(t, collectiontest.Open(t, files, nil), change)
}

// startOf starts a server for an open collection.
func startOf(t testing.TB, f *collectiontest.Fixture, change func(*httpdoor.Options)) *server {
	t.Helper()
	s := &server{fixture: f, log: &bytes.Buffer{}}
	o := httpdoor.Options{Collections: []*collection.Collection{f.Collection}, Open: access.Unrestricted(),
		Log: slog.New(slog.NewTextHandler(s.log, nil))}
	if change != nil {
		change(&o)
	}
	s.api = must.Get(httpdoor.New(o))
	s.Server = httptest.NewServer(s.api)
	t.Cleanup(s.Close)
	return s
}

// eventually waits until a condition holds, and fails the test after a minute.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		must.That(t, !time.Now().After(deadline), "it never came true: %s", what)
	}
}

// ask sends a request. It sends a body as JSON, and no body for "".
func (s *server) ask(t testing.TB, method, path, body string, header ...string) (*http.Response, []byte) {
	t.Helper()
	req := must.Get(http.NewRequest(method, s.URL+path, strings.NewReader(body)))
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		} else {
			req.Header[http.CanonicalHeaderKey(header[i])] = []string{header[i+1]}
		}
	}
	res := must.Get(s.Client().Do(req))
	defer res.Body.Close()
	content := must.Get(io.ReadAll(res.Body))
	return res, content
}

// want sends a request, and returns the body of its answer. The answer must have the status.
func (s *server) want(t testing.TB, status int, method, path, body string, header ...string) string {
	t.Helper()
	res, content := s.ask(t, method, path, body, header...)
	check.That(t, res.StatusCode == status, "%s %s %.300s: %d %s, want %d", method, path, body, res.StatusCode, content,
		status)
	return string(content)
}

// later sends a request that the server cannot answer now. The answer must have the status, and say when to try again.
func (s *server) later(t testing.TB, status int, method, path, body string, header ...string) string {
	t.Helper()
	res, content := s.ask(t, method, path, body, header...)
	check.That(t, res.StatusCode == status && res.Header.Get("Retry-After") != "", "%s %s: %d %v %s, want %d", method,
		path, res.StatusCode, res.Header, content, status)
	return string(content)
}

// bearer returns the header of a request with a key.
func bearer(secret string) []string { return []string{"Authorization", "Bearer " + secret} }

// get decodes an answer with a 2xx status into out.
func (s *server) get(t testing.TB, method, path, body string, out any, header ...string) *http.Response {
	t.Helper()
	res, content := s.ask(t, method, path, body, header...)
	must.That(t, res.StatusCode/100 == 2, "%s %s: %d %s", method, path, res.StatusCode, content)
	err := json.Unmarshal(content, out)
	must.That(t, err == nil, "%s %s: %v: %s", method, path, err, content)
	return res
}

// timed returns the steps of the header Server-Timing, and checks that no step takes longer than the total.
func timed(t *testing.T, res *http.Response) []string {
	t.Helper()
	var names []string
	longest, last := 0.0, 0.0
	for part := range strings.SplitSeq(res.Header.Get("Server-Timing"), ", ") {
		name, millis, _ := strings.Cut(part, ";dur=")
		took, err := strconv.ParseFloat(millis, 64)
		check.That(t, err == nil && took >= 0, "Server-Timing: %q: %v", part, err)
		names, longest, last = append(names, name), max(longest, took), took
	}
	check.That(t, last >= longest, "Server-Timing: a step takes longer than the whole: %s",
		res.Header.Get("Server-Timing"))
	return names
}

// TestRoutes checks what recordings cannot show: the times of the steps, and encoded identifiers.
func TestRoutes(t *testing.T) {
	s := start(t, notes, nil)
	var a collection.Answer
	res := s.get(t, "GET", "/v1/search?query=undo+commit&facets=tag,ext&count=true&limit=1", "", &a)
	check.That(t, len(a.Results) == 1 && a.Results[0].ID == "notes:git.md#undo-a-commit" && a.Next != "" &&
		*a.Matches >= 2 && a.Facets["tag"][0].Value == "vcs", "search: %+v", a)
	steps := strings.Join(timed(t, res), " ")
	for _, step := range []string{"embed", "words-retrieve", "meaning-retrieve", "complete", "fuse", "look-up", "show",
		"total"} {
		check.That(t, strings.Count(" "+steps+" ", " "+step+" ") == 1, "Server-Timing has not one %s: %s", step, steps)
	}
	var next collection.Answer
	res = s.get(t, "GET", "/v1/search?cursor="+a.Next, "", &next)
	check.List(t, timed(t, res), []string{"show", "total"},
		"Server-Timing of a second page, for which the ranking is kept")
	check.That(t, len(next.Results) == 1 && next.Results[0].Rank == 2, "second page: %+v", next)
	for _, path := range []string{"chunks/notes%3Agit.md%23undo-a-commit", "documents/notes:a/b%20c.md",
		"documents/" + url.PathEscape("notes:a/b c.md")} {
		s.want(t, 200, "GET", "/v1/"+path, "")
	}
}

func TestHealthAndMetrics(t *testing.T) {
	s := start(t, notes, nil)
	for path, want := range map[string]string{"/livez": "ok\n", "/readyz": "ok\n",
		"/readyz?verbose=true": "[+] notes ok\nok\n"} {
		check.Equal(t, s.want(t, 200, "GET", path, ""), want, "%s", path)
	}
	for i := range 500 {
		s.ask(t, "GET", fmt.Sprintf("/none/%d", i), "")
		s.ask(t, "GET", fmt.Sprintf("/v1/chunks/%d", i), "")
	}
	_, body := s.ask(t, "GET", "/metrics", "")
	n := bytes.Count(body, []byte("\n"))
	check.That(t, n <= 200, "%d lines of metrics", n)
	check.Contains(t, body, `sheaf_requests_total{operation="chunk",status="404"} 500`+"\n",
		`sheaf_request_seconds_count{operation="live"} 1`+"\n", "sheaf_requests_running 0\n")
}

// TestCachedAnswers checks that a cached answer is reported and counted.
func TestCachedAnswers(t *testing.T) {
	s := start(t, notes, nil)
	for _, cached := range []bool{false, true} {
		var a collection.Answer
		steps := timed(t, s.get(t, "GET", "/v1/search?query=undo", "", &a))
		check.That(t, slices.Contains(steps, "cache") == cached && slices.Contains(steps, "fuse") != cached, "steps: %v",
			steps)
	}
	_, body := s.ask(t, "GET", "/metrics", "")
	check.Contains(t, body, `sheaf_answers_total{from="cache"} 1`+"\n", `sheaf_answers_total{from="search"} 1`+"\n",
		"sheaf_cache_entries 1\n")
}

func TestRequestIDsAndTraces(t *testing.T) {
	s := start(t, notes, nil)
	res, _ := s.ask(t, "GET", "/livez", "", "X-Request-Id", "abc-1", "Traceparent",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	check.That(t, res.Header.Get("X-Request-Id") == "abc-1" &&
		strings.HasPrefix(res.Header.Get("Traceparent"), "00-0af7651916cd43dd8448eb211c80319c-") &&
		!strings.Contains(res.Header.Get("Traceparent"), "b7ad6b7169203331"), "headers: %v", res.Header)
	res, body := s.ask(t, "GET", "/v1/none", "", "X-Request-Id", "a b<script>", "Traceparent",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01")
	id := res.Header.Get("X-Request-Id")
	check.That(t, len(id) == 32 && res.Header.Get("Traceparent") == "" && strings.Contains(string(body), id),
		"headers: %v, body %s", res.Header, body)
}

func TestHostAndOrigin(t *testing.T) {
	s := start(t, notes, func(o *httpdoor.Options) {
		o.Hosts, o.Origins = []string{"notes.example"}, []string{"https://app.example"}
	})
	own := strings.TrimPrefix(s.URL, "http://")
	for name, test := range map[string]struct {
		status int
		header []string
	}{
		"an address":         {200, nil},
		"localhost":          {200, []string{"Host", "localhost:1234"}},
		"IPv6":               {200, []string{"Host", "[::1]:1234"}},
		"a given name":       {200, []string{"Host", "NOTES.example"}},
		"another name":       {403, []string{"Host", "evil.example"}},
		"a longer name":      {403, []string{"Host", "localhost.evil.example"}},
		"its own origin":     {200, []string{"Origin", "http://" + own}},
		"a given origin":     {200, []string{"Origin", "https://app.example"}},
		"another origin":     {403, []string{"Origin", "https://evil.example"}},
		"another port":       {403, []string{"Origin", "http://127.0.0.1:1"}},
		"no origin":          {403, []string{"Origin", "null"}},
		"from another site":  {403, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}},
		"a link is followed": {200, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}},
	} {
		res, body := s.ask(t, "GET", "/v1/search?query=undo", "", test.header...)
		check.That(t, res.StatusCode == test.status, "%s: %d %s", name, res.StatusCode, body)
		allowed := res.Header.Get("Access-Control-Allow-Origin")
		check.That(t, (name != "a given origin" || allowed == "https://app.example") && (name == "a given origin" ||
			allowed == ""), "%s: Access-Control-Allow-Origin is %q", name, allowed)
	}
}

// TestPreflight checks that a page of an allowed origin may send all headers of requests, also at /mcp. A browser
// asks before it sends them.
func TestPreflight(t *testing.T) {
	s := start(t, notes, func(o *httpdoor.Options) { o.Origins = []string{"https://app.example"} })
	res, _ := s.ask(t, "OPTIONS", "/mcp", "", "Origin", "https://app.example", "Access-Control-Request-Method", "POST")
	allowed := strings.Split(res.Header.Get("Access-Control-Allow-Headers"), ", ")
	for _, header := range []string{"Authorization", "Content-Type", "If-Match", "If-None-Match", "Idempotency-Key",
		"X-Request-Id", "Traceparent", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"} {
		check.That(t, slices.Contains(allowed, header), "%s is not among %q", header, allowed)
	}
}

// TestMountWithSlash checks that a door answers with a slash at the end of its path, and not below its path.
func TestMountWithSlash(t *testing.T) {
	s := start(t, notes, nil)
	s.api.Mount("/mcp", access.ScopeSearch, func(access.Grant, httpdoor.Admit) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	})
	for path, status := range map[string]int{"/mcp": 204, "/mcp/": 204, "/mcp//": 404, "/mcp/x": 404, "/mcpx": 404} {
		res, body := s.ask(t, "POST", path, "{}", "Content-Type", "application/json")
		check.That(t, res.StatusCode == status, "%s: %d %s", path, res.StatusCode, body)
	}
}

// TestNegativeLimits checks that New refuses negative limits.
func TestNegativeLimits(t *testing.T) {
	f := collectiontest.Open(t, notes, nil)
	for name, limits := range map[string]httpdoor.Limits{
		"Body": {Body: -1}, "IngestBody": {IngestBody: -1}, "Bodies": {Bodies: -1}, "Time": {Time: -1},
		"Running": {Running: -1},
		"Waiting": {Waiting: -1}, "OfOne": {OfOne: -1}, "Patience": {Patience: -1},
	} {
		_, err := httpdoor.New(httpdoor.Options{Collections: []*collection.Collection{f.Collection}, Limits: limits})
		check.Fails(t, err, sheaf.ErrInvalid, "Limits."+name+" is -1", "%s", name)
	}
}

// TestInvalidHostsAndOrigins checks that New refuses hosts and origins that no browser sends, and two
// collections of one name.
func TestInvalidHostsAndOrigins(t *testing.T) {
	f := collectiontest.Open(t, notes, nil)
	for name, o := range map[string]httpdoor.Options{
		"a host with a port":     {Hosts: []string{"notes.example:80"}},
		"a host with a scheme":   {Hosts: []string{"https://notes.example"}},
		"a host with a path":     {Hosts: []string{"notes.example/"}},
		"no host":                {Hosts: []string{""}},
		"a host as it is read":   {Hosts: []string{"b\u00fccher.example"}},
		"a site as it is read":   {Origins: []string{"https://b\u00fccher.example"}},
		"an origin with a path":  {Origins: []string{"https://app.example/"}},
		"an origin in capitals":  {Origins: []string{"https://App.example"}},
		"an origin's own port":   {Origins: []string{"https://app.example:443"}},
		"a name that is no page": {Origins: []string{"app.example"}},
		"every origin":           {Origins: []string{"*"}},
		"two of one name":        {Collections: []*collection.Collection{f.Collection}},
	} {
		o.Collections = append(o.Collections, f.Collection)
		check.Is(t, must.Err(httpdoor.New(o)), sheaf.ErrInvalid, "%s", name)
	}
	must.Get(httpdoor.New(httpdoor.Options{Collections: []*collection.Collection{f.Collection},
		Hosts:   []string{"notes.example", "NOTES", "192.0.2.1", "::1"},
		Origins: []string{"https://app.example", "http://localhost:3000", "app://obsidian.md"}}))
}

// TestOpenAPI checks that every reference of the OpenAPI document has its schema, and that its page loads nothing.
func TestOpenAPI(t *testing.T) {
	s := start(t, notes, nil)
	var doc struct {
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	s.get(t, "GET", "/openapi.json", "", &doc)
	_, text := s.ask(t, "GET", "/openapi.json", "")
	for ref := range strings.SplitSeq(string(text), `"$ref": "#/components/schemas/`) {
		if name, _, ok := strings.Cut(ref, `"`); ok && !strings.HasPrefix(ref, "{") && doc.Components.Schemas[name] == nil {
			t.Errorf("the schema %s is not there", name)
		}
	}
	res, page := s.ask(t, "GET", "/docs", "")
	check.That(t, strings.Contains(string(page), "/v1/rrf/search") && !strings.Contains(string(page), "<script") &&
		!strings.Contains(string(page), "://") &&
		strings.Contains(res.Header.Get("Content-Security-Policy"), "default-src 'none'"), "the page: %v", res.Header)
	// Without a link to an icon, browsers request one from another address.
	check.That(t, strings.Contains(string(page), `<link rel="icon" href="ui/icon.svg"`) &&
		strings.Contains(res.Header.Get("Content-Security-Policy"), "img-src 'self'"),
		"the page has no icon that it may show: %v", res.Header)
}

// TestExamples checks that the server accepts every example of the OpenAPI document.
func TestExamples(t *testing.T) {
	s := start(t, map[string]string{"guides/git.md": notes["git.md"]}, nil)
	var doc struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct {
					Example json.RawMessage `json:"example"`
				} `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
	}
	s.get(t, "GET", "/openapi.json", "", &doc)
	s.ask(t, "PUT", "/v1/documents/api:guides/git.md", `{"text": "Apples."}`) // for the example of PATCH
	n := 0
	for path, methods := range doc.Paths {
		for method, o := range methods {
			example := o.RequestBody.Content["application/json"].Example
			if method != "post" && method != "put" && method != "patch" {
				continue
			}
			n++
			address := strings.NewReplacer("{name}", "fuse", "{id}", "api:guides/git.md").Replace(path)
			res, body := s.ask(t, strings.ToUpper(method), address, string(example))
			check.That(t, res.StatusCode/100 == 2, "%s %s %s: %d %s", method, address, example, res.StatusCode, body)
		}
	}
	check.That(t, n >= 8, "%d examples", n)
}
