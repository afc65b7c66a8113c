package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sheaf"
	"sheaf/serve"
	"sheaf/serve/access"
	"sheaf/serve/api"
	"sheaf/serve/mcp"
	"sheaf/serve/servetest"
)

// scoped signs on everybody with the scopes that a header names, and everything to see.
func scoped(r *http.Request) (access.Grant, error) {
	g := access.Unrestricted()
	g.Scopes = nil
	for s := range strings.SplitSeq(r.Header.Get("Scopes"), ",") {
		g.Scopes = append(g.Scopes, access.Scope(s))
	}
	return g, nil
}

// TestStoreIsNotNamed: where a store or a model is that does not answer, and as whom it is
// asked, is told to the scope admin and the log, in every route; others are told that it
// does not.
func TestStoreIsNotNamed(t *testing.T) {
	const place = "postgres://sheaf@db.internal:5432"
	store := &vanishing{why: fmt.Errorf("%w: failed to connect to %s", sheaf.ErrUnavailable, place)}
	open := servetest.Open(t, notes, func(o *serve.Options) {
		store.Backend, o.Backend, o.Distant = o.Backend, store, true
	})
	s := start(t, notes, func(o *api.Options) {
		o.Collections, o.SignOn = []*serve.Collection{open.Collection}, scoped
	})
	tools, err := mcp.Handler(mcp.Options{Collections: []*serve.Collection{open.Collection}}, func(r *http.Request) (access.Grant, error) { return scoped(r) })
	if err != nil {
		t.Fatal(err)
	}
	s.api.Mount("/mcp", access.ScopeSearch, tools)
	store.gone.Store(true)
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/v1/search?query=undo", "", 503},
		{"GET", "/v1/search?query=what+tags:vcs&facets=tag&count=true", "", 503},
		{"GET", "/v1/search?query=commit&sort=path", "", 503},
		{"GET", "/v1/similar?id=notes:git.md%23undo-a-commit", "", 503},
		{"POST", "/v1/explain", `{"query": "undo commit"}`, 503},
		{"POST", "/v1/explain/absence", `{"query": "undo", "id": "notes:hg.md"}`, 503},
		{"POST", "/v1/explain/changes", `{"query": "rollback", "change": {"meaning": "1"}}`, 503},
		{"GET", "/v1/status", "", 503},
		{"GET", "/readyz?verbose=true", "", 503},
		{"PUT", "/v1/documents/api:pear.md", `{"text": "Pears.\n"}`, 503},
		{"POST", "/v1/documents", `{"documents": [{"id": "api:b.md", "text": "Bananas.\n"}]}`, 503},
		{"POST", "/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "undo"}}}`, 200},
	} {
		for scopes, told := range map[string]bool{"search,ingest": false, "admin": true} {
			s.log.Reset()
			res, body := s.ask(t, c.method, c.path, c.body, "Scopes", scopes, "Accept", "application/json, text/event-stream")
			if res.StatusCode != c.status || strings.Contains(string(body), place) != told || !told && !strings.Contains(string(body), "a key with the scope admin is told why") {
				t.Errorf("%s %s by %s: %d %s", c.method, c.path, scopes, res.StatusCode, body)
			}
			if logged := strings.Contains(s.log.String(), place); !logged && c.path != "/mcp" && !strings.HasPrefix(c.path, "/readyz") {
				t.Errorf("%s %s by %s: the log says %q", c.method, c.path, scopes, s.log)
			}
		}
	}
}

// TestFailedBranchIsNotNamed: an answer that lacks a part says which part to everybody, and
// to the scope admin why.
func TestFailedBranchIsNotNamed(t *testing.T) {
	const place = "https://models.internal:8443"
	failed := errors.New("embedding server: " + place + " refuses the key")
	s := startOf(t, servetest.Open(t, notes, func(o *serve.Options) {
		o.Model, o.Embed = nil, func(context.Context, string) ([]float32, error) { return nil, failed }
	}), func(o *api.Options) { o.SignOn = scoped })
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/v1/search?query=undo", ""},
		{"POST", "/v1/explain", `{"query": "undo commit"}`},
		{"POST", rrfPath, `{"query": "undo"}`},
	} {
		for scopes, told := range map[string]bool{"search": false, "admin": true} {
			s.log.Reset()
			res, body := s.ask(t, c.method, c.path, c.body, "Scopes", scopes)
			if res.StatusCode != 200 || strings.Contains(string(body), place) != told || !told && !strings.Contains(string(body), "embedding the query failed") {
				t.Errorf("%s %s by %s: %d %s", c.method, c.path, scopes, res.StatusCode, body)
			}
			if !strings.Contains(s.log.String(), place) {
				t.Errorf("%s %s by %s: the log says %q", c.method, c.path, scopes, s.log)
			}
		}
	}
}
