package http_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"sheaf/collection"
	"sheaf/collection/access"
	httpdoor "sheaf/door/http"
)

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

// TestBadBodies checks that a wrong body changes nothing and is not logged. Recordings have more wrong bodies.
func TestBadBodies(t *testing.T) {
	s := start(t, notes, nil)
	generation := func() uint64 {
		var a collection.Answer
		s.get(t, "GET", "/v1/search?query=x", "", &a)
		return a.Generation
	}
	before := generation()
	for name, test := range map[string]struct{ body, pointer string }{
		"an object for a list": {`{"query": "x", "facets": {}}`, "#/facets"},
		"a window of nothing":  {`{"query": "x", "window": 0}`, "#/window"},
		"byte order mark":      {"\ufeff{}", "#"},
		"halves the wrong way": {`{"query": "\udc00\ud83d"}`, "#/query"},
		"half a name":          {`{"query": "x", "\ud83d": 1}`, "#"},
		"an escape character":  {`{"query": "x\u001b[31my"}`, "#/query"},
		"many facets":          {`{"query": "x", "facets": ["tag"` + strings.Repeat(`, "tag"`, 10) + `]}`, "#/facets"},
		"no cursor":            {`{"cursor": "x"}`, "#/cursor"},
		"an empty body":        {` `, "#"},
		"something behind":     {`{"query": "x"} {}`, "#"},
		"NaN":                  {`{"query": "x", "limit": NaN}`, "#/limit"},
		"invalid UTF-8":        {"{\"query\": \"\xff\"}", "#"},
		"deep objects":         {strings.Repeat(`{"a":`, 50_000), "#"},
	} {
		p := s.wrong(t, 400, "POST", "/v1/search", test.body)
		if len(p.Errors) == 0 || !strings.HasPrefix(p.Errors[0].Pointer, test.pointer) || p.Errors[0].Detail == "" {
			t.Errorf("%s: %+v, want the pointer %s", name, p.Errors, test.pointer)
		}
	}
	for name, test := range map[string]struct{ body, pointer string }{
		"a profile that is a file": {`{"query": "x", "profile": "/etc/x.yaml"}`, "#/profile"},
		"no such parameter":        {`{"query": "x", "parameters": {"no/ne": 1}}`, "#/parameters/no~1ne"},
	} {
		p := s.wrong(t, 422, "POST", "/v1/search", test.body)
		if len(p.Errors) == 0 || p.Errors[0].Pointer != test.pointer || strings.Contains(p.Detail, "was searched") {
			t.Errorf("%s: %+v", name, p.Errors)
		}
	}
	if p := s.wrong(t, 404, "POST", "/v1/search", `{"cursor": "AAAAAAAAAAAAAAAAAAAAAA"}`); len(p.Errors) != 1 ||
		p.Errors[0].Pointer != "#/cursor" || p.Type != "urn:sheaf:problem:expired" {
		t.Errorf("a cursor that nobody gave: %+v", p)
	}
	s.wrong(t, 404, "POST", "/v1/search?collection=other", `{"query": "x"}`)
	if p := s.wrong(t, 400, "POST", "/v1/search?colection=x", `{"query": "`+strings.Repeat("a", 1<<20)+
		`"}`); len(p.Errors) != 1 || p.Errors[0].Parameter != "colection" {
		t.Errorf("a body that is too large, and a wrong parameter: %+v", p)
	}
	s.wrong(t, 415, "POST", "/v1/search", `{"query": "x"}`, "Content-Type", "text/plain")
	s.get(t, "POST", "/v1/search", `{"query": "x"}`, &collection.Answer{}, "Content-Encoding", "IDENTITY")
	if after := generation(); after != before {
		t.Errorf("generation %d, then %d: something changed", before, after)
	}
	if s.log.Len() > 0 {
		t.Errorf("the log says %s", s.log)
	}
}

// TestBadDocuments checks that the server points at the faulty field of a document.
func TestBadDocuments(t *testing.T) {
	s := start(t, notes, nil)
	statuses := map[string]int{
		"#/documents/1/text": 400, "#/documents/0/text": 400, "#/documents/0/chunks": 400, // as the OpenAPI document says
		"#/documents/1/id": 409, "#/documents/0/chunks/1/slug": 409, // the field conflicts with another one
		"#/documents/0/chunks/0/vectors/0": 422,
	}
	for body, pointer := range map[string]string{
		`{"documents": [{"id": "api:a.md", "text": "x"}, {"id": "api:a.md", "text": "y"}]}`:                                                   "#/documents/1/id",
		`{"documents": [{"id": "api:a.md", "text": "x"}, {"id": "api:b.md"}]}`:                                                                "#/documents/1/text",
		`{"documents": [{"id": "api:b.md"}], "async": true}`:                                                                                  "#/documents/0/text",
		`{"documents": [{"id": "api:b.md", "text": "x", "chunks": [{"text": "x"}]}]}`:                                                         "#/documents/0/chunks",
		`{"documents": [{"id": "api:b.md", "chunks": [{"title": "a", "text": "x", "slug": "s"}, {"title": "b", "text": "x", "slug": "s"}]}]}`: "#/documents/0/chunks/1/slug",
		`{"documents": [{"id": "api:b.md", "chunks": [{"title": "a", "text": "x", "vectors": [[1, 2]]}]}]}`:                                   "#/documents/0/chunks/0/vectors/0",
	} {
		if p := s.wrong(t, statuses[pointer], "POST", "/v1/documents", body); len(p.Errors) == 0 ||
			p.Errors[0].Pointer != pointer {
			t.Errorf("%s: %+v, want the pointer %s", body, p.Errors, pointer)
		}
	}
	if p := s.wrong(t, 400, "POST", "/v1/documents", `{"documents": [{"id": "api:a.md", "text": "x"}, {"id": `+
		`"api:../b", "text": "x"}]}`); len(p.Errors) == 0 || p.Errors[0].Pointer != "#/documents/1/id" ||
		!strings.Contains(p.Detail, "must be TREE:PATH") {
		t.Errorf("an identifier in a batch: %+v", p)
	}
	if p := s.wrong(t, 400, "PUT", "/v1/documents/api:..%2Fb", `{"text": "x"}`); len(p.Errors) == 0 ||
		p.Errors[0].Parameter != "id" || p.Errors[0].Pointer != "" {
		t.Errorf("an identifier in the path: %+v", p.Errors)
	}
	if p := s.wrong(t, 400, "PUT", "/v1/documents/api:b.md", `{}`); len(p.Errors) == 0 || p.Errors[0].Pointer != "#/text" {
		t.Errorf("no text: %+v", p.Errors)
	}
	if p := s.wrong(t, 400, "POST", "/v1/documents", `{"documents": [{"id": "api:a.md"}, {"id": "api:b.md", `+
		`"title": "B"}]}`); len(p.Errors) != 2 || p.Errors[1].Pointer != "#/documents/1/text" {
		t.Errorf("no text in either: %+v", p.Errors)
	}
	for _, id := range []string{"api:a.md", "api:b.md"} {
		s.wrong(t, 404, "GET", "/v1/documents/"+id, "")
	}
}

// TestExplainRefusesFieldsWithoutEffect checks that the explain routes refuse fields without effect there: sort,
// facets, count and explain.
func TestExplainRefusesFieldsWithoutEffect(t *testing.T) {
	s := start(t, notes, nil)
	for path, rest := range map[string]string{"/v1/explain/absence": `"id": "notes:git.md"`,
		"/v1/explain/changes": `"change": {"meaning": 0}`} {
		for field, value := range map[string]string{"sort": `"path"`, "facets": `["tag"]`, "count": "true",
			"explain": "true"} {
			p := s.wrong(t, 400, "POST", path, `{"query": "undo", `+rest+`, "`+field+`": `+value+`}`)
			if len(p.Errors) != 1 || p.Errors[0].Pointer != "#/"+field ||
				!strings.Contains(p.Detail, "there is no field of this name") {
				t.Errorf("%s with %s: %+v", path, field, p)
			}
		}
	}
}

func TestBadAddresses(t *testing.T) {
	s := start(t, notes, nil)
	// These stages need the words of a search in an index, so they cannot run alone.
	for _, name := range []string{"rerank", "word_pairs"} {
		if p := s.wrong(t, 404, "POST", "/v1/stages/"+name,
			`{"query": "undo", "rankings": [[{"id": "a", "score": 1}]]}`); !strings.Contains(p.Detail,
			"the stages are fuse, aggregate") {
			t.Errorf("the stage %s: %+v", name, p)
		}
	}
	for path, parameter := range map[string]string{
		"/v1/search?query=x&limit=0x10":       "limit",
		"/v1/search?query=x&limit=1e3":        "limit",
		"/v1/similar?id=notes:git.md&query=x": "query",
		"/v1/documents?limit=99999999999":     "limit",
	} {
		p := s.wrong(t, 400, "GET", path, "")
		if len(p.Errors) == 0 || p.Errors[0].Parameter != parameter {
			t.Errorf("%s: %+v", path, p.Errors)
		}
	}
	if p := s.wrong(t, 400, "GET", "/livez?verbose=true", ""); p.Detail != "verbose: there is no parameter of this "+
		"name: the address takes none" {
		t.Errorf("a parameter where there are none: %+v", p)
	}
	for path, status := range map[string]int{
		"/v1/search?query=%zz":                 400,
		"/v1/none":                             404,
		"/mcpx":                                404,
		"/v1":                                  404,
		"//v1/search?query=x":                  404,
		"/v1/chunks/..%2f..%2fetc%2fpasswd":    404,
		"/v1/chunks/notes:../../../etc/passwd": 404,
		"/v1/chunks/notes:%2e%2e/%2e%2e/etc/passwd":         404,
		"/v1/chunks/notes:git.md%00":                        404,
		"/v1/chunks/%0d%0aSet-Cookie:x=y":                   404,
		"/v1/chunks/":                                       404,
		"/v1/documents/%3Cscript%3Ealert(1)%3C%2Fscript%3E": 404,
	} {
		res, body := s.ask(t, "GET", path, "")
		if res.StatusCode != status || res.Header.Get("Set-Cookie") != "" || strings.Contains(string(body), "<script>") ||
			res.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v %s", path, res.StatusCode, res.Header, body)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "TRACE", "FOO"} {
		res, _ := s.ask(t, method, "/v1/status", "")
		if res.StatusCode != 405 || res.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d, Allow %q", method, res.StatusCode, res.Header.Get("Allow"))
		}
	}
	if res, body := s.ask(t, "HEAD", "/v1/status", ""); res.StatusCode != 200 || len(body) != 0 {
		t.Errorf("HEAD: %d %s", res.StatusCode, body)
	}
}

// TestScriptsInNotes checks that scripts in notes stay escaped text in answers.
func TestScriptsInNotes(t *testing.T) {
	s := start(t, map[string]string{"x.md": "---\ntitle: <img src=x onerror=alert(1)>\n---\n# " +
		"<script>alert(1)</script>\n\nzebra </script><script>alert(2)</script>\n"}, nil)
	for _, path := range []string{"/v1/search?query=zebra", "/v1/chunks/notes:x.md", "/v1/documents/notes:x.md"} {
		res, body := s.ask(t, "GET", path, "")
		if res.StatusCode != 200 || strings.Contains(string(body), "<") ||
			res.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %v %s", path, res.StatusCode, res.Header, body)
		}
	}
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
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "%sConnection: close\r\n\r\n", head)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != status {
			t.Errorf("%q: %d, want %d", head, res.StatusCode, status)
		}
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
	if res, body := s.ask(t, "GET", "/v1/search?query=undo", ""); res.StatusCode != 401 ||
		!strings.Contains(string(body), "sign on at /login") || strings.Contains(string(body), "key") {
		t.Errorf("a stranger: %d %s", res.StatusCode, body)
	}
	if res, body := s.ask(t, "GET", "/v1/search?query=undo", "", "Caller", "ann"); res.StatusCode != 200 ||
		!strings.Contains(string(body), "git.md") || strings.Contains(string(body), "hg.md") {
		t.Errorf("a caller who sees what is public: %d %s", res.StatusCode, body)
	}
	if res, body := s.ask(t, "GET", "/v1/search?query=undo", "", "Caller", "bob"); res.StatusCode != 401 ||
		!strings.Contains(string(body), "has expired") {
		t.Errorf("a caller whose grant has ended: %d %s", res.StatusCode, body)
	}
	if res, _ := s.ask(t, "PUT", "/v1/documents/api:a.md", `{"text": "Apples."}`, "Caller", "ann"); res.StatusCode != 403 {
		t.Errorf("a caller who may not write: %d", res.StatusCode)
	}
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
			if res, content := s.ask(t, "POST", path, body); res.StatusCode >= 500 {
				t.Errorf("%s %q: %d %s", path, body, res.StatusCode, content)
			}
		}
	})
}
