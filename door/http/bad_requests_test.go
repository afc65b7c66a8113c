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

	"sheaf/collection/access"
	httpdoor "sheaf/door/http"
	"sheaf/internal/must"
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
