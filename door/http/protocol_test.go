package http_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	httpdoor "sheaf/door/http"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestETagChangesWithFileTime checks that a new file time changes the ETag, because it changes the date of the
// document.
func TestETagChangesWithFileTime(t *testing.T) {
	s := start(t, notes, nil)
	const path = "/v1/documents/notes:git.md"
	var d collection.Document
	s.get(t, "GET", path, "", &d)
	at := time.Date(2020, 5, 1, 12, 0, 0, 0, time.UTC)
	must.Do(t, os.Chtimes(filepath.Join(s.fixture.Root, "git.md"), at, at))
	s.fixture.Index(t)
	s.get(t, "GET", path, "", &d, "If-None-Match", d.ETag)
	check.That(t, d.Date != nil && d.Date.Equal(at), "the date is %v, the file's %v", d.Date, at)
}

// TestCursorOfAnotherCaller checks that only its caller can use a cursor, even if others see the same.
func TestCursorOfAnotherCaller(t *testing.T) {
	s, secrets := keyed(t, notes, map[string]access.Grant{
		"ann": {Scopes: []access.Scope{access.ScopeSearch}, Access: []string{access.All}},
		"ben": {Scopes: []access.Scope{access.ScopeSearch}, Access: []string{access.All}},
	})
	bearer := func(name string) []string { return []string{"Authorization", "Bearer " + secrets[name]} }
	var a collection.Answer
	s.get(t, "GET", "/v1/search?query=commit&limit=1", "", &a, bearer("ann")...)
	must.That(t, a.Next != "", "there is no next page")
	p := s.wrong(t, http.StatusNotFound, "GET", "/v1/search?query=x&cursor="+a.Next, "", bearer("ben")...)
	check.That(t, !strings.Contains(p.Detail, "commit"), "somebody else's query is told: %s", p.Detail)
	s.get(t, "GET", "/v1/search?cursor="+a.Next, "", &a, bearer("ann")...)
	check.That(t, len(a.Results) == 1 && a.Results[0].Rank == 2, "the second page: %+v", a.Results)
}

// TestDeletedBetweenPages checks that a later page omits deleted documents and shows changed ones,
// even for callers who see everything.
func TestDeletedBetweenPages(t *testing.T) {
	s := start(t, notes, nil)
	put := func(id, text string) {
		var stored collection.Stored
		s.get(t, "PUT", "/v1/documents/api:"+id, `{"text": "`+text+`\n", "access": ["public"]}`, &stored)
	}
	for _, id := range []string{"a.md", "b.md", "c.md", "d.md"} {
		put(id, "Nine cranes.")
	}
	var first, second collection.Answer
	s.get(t, "POST", "/v1/search", `{"query": "cranes", "limit": 1, "parameters": {"meaning": 0}}`, &first)
	s.get(t, "POST", "/v1/search", `{"query": "cranes", "limit": 4, "parameters": {"meaning": 0}}`, &second)
	must.That(t, len(second.Results) == 4, "%+v", second.Results)
	deleted, changed, kept := second.Results[1].Doc, second.Results[2].Doc, second.Results[3].Doc
	var stored collection.Stored
	s.get(t, "DELETE", "/v1/documents/"+string(deleted), "", &stored)
	put(strings.TrimPrefix(string(changed), "api:"), "# Ten\\n\\nHerons.")
	shown := map[sheaf.ID]int{}
	for next := first.Next; next != ""; {
		var page collection.Answer
		s.get(t, "GET", "/v1/search?cursor="+next, "", &page)
		for _, r := range page.Results {
			shown[r.Doc]++
		}
		next = page.Next
	}
	check.That(t, len(shown) == 2 && shown[changed] == 1 && shown[kept] == 1,
		"%s was deleted, %s changed; shown, and how often: %v", deleted, changed, shown)
}

// TestReadinessHidesDetails checks that readiness names collections only to keys that may
// search, and reasons only to admins.
func TestReadinessHidesDetails(t *testing.T) {
	s, secrets := keyed(t, notes, map[string]access.Grant{
		"ann":  {Scopes: []access.Scope{access.ScopeSearch}},
		"root": {Scopes: []access.Scope{access.ScopeAdmin}},
	})
	for secret, want := range map[string]string{"": "ok\n", secrets["ann"]: "[+] notes ok\nok\n",
		secrets["root"]: "[+] notes ok\nok\n"} {
		check.Equal(t, s.want(t, 200, "GET", "/readyz?verbose=true", "", bearer(secret)...), want, "ready")
	}
	must.Do(t, s.fixture.Collection.Close())
	for secret, told := range map[string]bool{"": false, secrets["ann"]: false, secrets["root"]: true} {
		status, body := s.as(t, secret, "GET", "/readyz", "")
		check.That(t, status == http.StatusServiceUnavailable && strings.Contains(body, "is closed") == told,
			"not ready: %d %s, want the reason: %t", status, body, told)
	}
}

// TestUnavailableIsAWarning checks that a failure which may pass is logged as a warning, not an error. A wrong request
// is not logged.
func TestUnavailableIsAWarning(t *testing.T) {
	s := start(t, notes, nil)
	p := s.wrong(t, 400, "POST", "/v1/search", "{\"query\": \"\xff\"}")
	check.That(t, s.log.Len() == 0 && p.Errors[0].Pointer == "#", "%+v; logged: %s", p, s.log)
	must.Do(t, s.fixture.Collection.Close())
	s.wrong(t, 503, "GET", "/v1/search?query=undo", "")
	log := s.log.String()
	check.That(t, strings.Contains(log, "level=WARN msg=\"request failed\"") && !strings.Contains(log, "level=ERROR"),
		"logged: %s", log)
}

// TestAcceptEncodingSpellings checks that every valid spelling of Accept-Encoding can refuse gzip.
func TestAcceptEncodingSpellings(t *testing.T) {
	s := start(t, notes, nil)
	for accepted, zipped := range map[string]bool{
		"gzip": true, "br, GZIP;q=0.001": true, "gzip;q=1.000": true, "gzip;q=0": false, "gzip; q=0.0": false,
		"gzip ;q=0.00": false, "br": false, "": false, "x-gzip-not": false,
	} {
		res, _ := s.ask(t, "GET", "/openapi.json", "", "Accept-Encoding", accepted)
		check.That(t, res.StatusCode == 200 && (res.Header.Get("Content-Encoding") == "gzip") == zipped, "%q: %d %v",
			accepted, res.StatusCode, res.Header)
	}
}

// TestCountOfOrderedList checks that an ordered list without a query counts all its documents.
func TestCountOfOrderedList(t *testing.T) {
	s := start(t, notes, nil)
	for _, parameters := range []string{"sort=path", "sort=-date&filter=ext:md"} {
		var a collection.Answer
		s.get(t, "GET", "/v1/search?count=true&window=1000&limit=100&facets=ext&"+parameters, "", &a)
		faceted := 0
		for _, v := range a.Facets["ext"] {
			faceted += v.Count
		}
		check.That(t, a.Matches != nil && a.Total.Relation == "eq" && *a.Matches == a.Total.Value && *a.Matches == faceted &&
			faceted != 0, "%s: %v, %d by facets, total %+v", parameters, a.Matches, faceted, a.Total)
	}
}

var updateMetrics = flag.Bool("update-metrics", false, "write doc/metrics.md")

// TestMetricsOfDocument checks that doc/metrics.md has every metric with its kind and help text. To
// write it: go test ./door/http -run TestMetricsOfDocument -update-metrics
func TestMetricsOfDocument(t *testing.T) {
	s := start(t, notes, nil)
	s.ask(t, "GET", "/v1/search?query=anchor", "")
	_, body := s.ask(t, "GET", "/metrics", "")
	page := "# Metrics\n\n`sheaf serve --in examples/notes` has these for Prometheus, at http://127.0.0.1:7333/metrics." +
		"\nA histogram also has `_bucket`, `_sum` and `_count`. The program's own texts make this page\n" +
		"(`go test ./door/http -run TestMetricsOfDocument -update-metrics`).\n\n| metric | kind | is |\n|---|---|---|\n"
	help := map[string]string{}
	for line := range strings.Lines(string(body)) {
		switch words := strings.SplitN(strings.TrimSpace(line), " ", 4); {
		case strings.HasPrefix(line, "# HELP "):
			help[words[2]] = words[3]
		case strings.HasPrefix(line, "# TYPE "):
			page += fmt.Sprintf("| `%s` | %s | %s |\n", words[2], words[3], help[words[2]])
		}
	}
	name := filepath.Join("..", "..", "doc", "metrics.md")
	if *updateMetrics {
		must.Do(t, os.WriteFile(name, []byte(page), 0o644))
	}
	had, err := os.ReadFile(name)
	check.That(t, err == nil && string(had) == page, "doc/metrics.md is not what -update-metrics writes: %v", err)
}

// TestMetricsOfOtherDoors checks that metrics have the statuses of other doors.
func TestMetricsOfOtherDoors(t *testing.T) {
	s := start(t, notes, nil)
	door := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/door/open" {
			w.WriteHeader(http.StatusTeapot)
		}
		_, _ = w.Write([]byte("ok"))
	})
	s.api.Mount("/door/", "", func(access.Grant, httpdoor.Admit) http.Handler { return door })
	s.ask(t, "GET", "/door/open", "")
	s.ask(t, "GET", "/door/shut", "")
	res, body := s.ask(t, "GET", "/metrics", "")
	check.Equal(t, res.Header.Get("Content-Type"), "text/plain; version=0.0.4; charset=utf-8", "Content-Type")
	check.Contains(t, body, `sheaf_requests_total{operation="mounted",status="200"} 1`+"\n",
		`sheaf_requests_total{operation="mounted",status="418"} 1`+"\n")
}

// TestTwoKeysAreRefused checks that two keys in one request are refused: proxies may read different ones.
func TestTwoKeysAreRefused(t *testing.T) {
	s, secrets := keyed(t, notes, map[string]access.Grant{
		"ann": {Scopes: []access.Scope{access.ScopeSearch}, Access: []string{access.All}},
		"ben": {Scopes: []access.Scope{access.ScopeSearch}, Access: []string{"user:ben"}},
	})
	for name, want := range map[string]int{"ann": http.StatusOK, "ann ben": http.StatusUnauthorized,
		"ben ann": http.StatusUnauthorized, "ann ann": http.StatusUnauthorized} {
		req := must.Get(http.NewRequest(http.MethodGet, s.URL+"/v1/status", nil))
		for _, who := range strings.Fields(name) {
			req.Header.Add("Authorization", "Bearer "+secrets[who])
		}
		res := must.Get(s.Client().Do(req))
		_ = res.Body.Close()
		check.Equal(t, res.StatusCode, want, "status with keys of %s", name)
	}
}

// shownProblem is a problem in the form that a caller decodes.
type shownProblem struct {
	Type, Title, Detail, Instance, Error string
	Status                               int
	Errors                               []struct{ Pointer, Parameter, Detail string }
}

// wrong sends a request that must fail, and returns its problem.
func (s *server) wrong(t *testing.T, status int, method, path, body string, header ...string) shownProblem {
	t.Helper()
	res, content := s.ask(t, method, path, body, header...)
	var p shownProblem
	if err := json.Unmarshal(content, &p); err != nil || res.StatusCode != status || p.Status != status ||
		!strings.HasPrefix(p.Type, "urn:sheaf:problem:") ||
		p.Detail == "" || p.Error != p.Detail || p.Instance != "urn:sheaf:request:"+res.Header.Get("X-Request-Id") ||
		res.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s %.100s %.100s: %d %s, want a problem of status %d", method, path, body, res.StatusCode, content, status)
	}
	return p
}

// TestWithoutHost checks that HTTP/1.0 requests need no Host, as health checks send them. Browsers
// always send one.
func TestWithoutHost(t *testing.T) {
	s := start(t, notes, nil)
	for head, status := range map[string]int{
		"GET /livez HTTP/1.0\r\n":                                200,
		"GET /livez HTTP/1.0\r\nOrigin: http://evil.example\r\n": 403,
		"GET /livez HTTP/1.0\r\nHost: evil.example\r\n":          403,
		"GET /livez HTTP/1.1\r\nHost:\r\n":                       403,
		"GET /livez HTTP/1.1\r\n":                                400,
	} {
		conn := must.Get(net.Dial("tcp", strings.TrimPrefix(s.URL, "http://")))
		defer conn.Close()
		fmt.Fprintf(conn, "%sConnection: close\r\n\r\n", head)
		res := must.Get(http.ReadResponse(bufio.NewReader(conn), nil))
		res.Body.Close()
		check.That(t, res.StatusCode == status, "%q: %d, want %d", head, res.StatusCode, status)
	}
}

// TestSignOn checks that with SignOn the program identifies the caller, and keys are not used.
func TestSignOn(t *testing.T) {
	s := start(t, notes, func(o *httpdoor.Options) {
		o.Open = access.Grant{}
		o.SignOn = func(r *http.Request) (access.Grant, error) {
			if name := r.Header.Get("Caller"); name != "" {
				grant := access.Grant{Name: name, Scopes: []access.Scope{access.ScopeSearch}}
				if name == "bob" {
					grant.Expires = time.Now().Add(-time.Second)
				}
				return grant, nil
			}
			return access.Grant{}, errors.New("sign on at /login")
		}
	})
	res, body := s.ask(t, "GET", "/v1/search?query=undo", "")
	check.That(t, res.StatusCode == 401 && strings.Contains(string(body), "sign on at /login") &&
		!strings.Contains(string(body), "key"), "a stranger: %d %s", res.StatusCode, body)
	res, body = s.ask(t, "GET", "/v1/search?query=undo", "", "Caller", "ann")
	check.That(t, res.StatusCode == 200 && strings.Contains(string(body), "git.md") &&
		!strings.Contains(string(body), "hg.md"), "a caller who sees what is public: %d %s", res.StatusCode, body)
	check.Contains(t, s.want(t, 401, "GET", "/v1/search?query=undo", "", "Caller", "bob"), "has expired")
	s.want(t, 403, "PUT", "/v1/documents/api:a.md", `{"text": "Apples."}`, "Caller", "ann")
}

// FuzzBody checks that no body of any bytes causes a server error.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{`{"query": "undo"}`, `{"query": "x", "parameters": {"meaning": 0.5}}`, `[[[`, "\xff",
		`{"limit": 1e99}`, `{"cursor": "AAAAAAAAAAAAAAAAAAAAAA"}`} {
		f.Add(seed)
	}
	s := start(f, notes, nil)
	f.Fuzz(func(t *testing.T, body string) {
		if body == "" {
			return
		}
		for _, path := range []string{"/v1/search", "/v1/rrf/search", "/v1/stages/fuse"} {
			res, content := s.ask(t, "POST", path, body)
			check.That(t, res.StatusCode < 500, "%s %q: %d %s", path, body, res.StatusCode, content)
		}
	})
}
