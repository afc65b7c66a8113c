package http_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
	"sheaf/door/mcp"
	"sheaf/internal/check"
	"sheaf/store"
)

// scoped grants every caller all documents, with the scopes of the header Scopes.
func scoped(r *http.Request) (access.Grant, error) {
	g := access.Unrestricted()
	g.Scopes = nil
	for s := range strings.SplitSeq(r.Header.Get("Scopes"), ",") {
		g.Scopes = append(g.Scopes, access.Scope(s))
	}
	return g, nil
}

// TestErrorsHideStoreAddress checks every route when a store or model does not answer. Only the scope
// admin and the log get its address and user. Other callers only learn that it does not answer.
func TestErrorsHideStoreAddress(t *testing.T) {
	const place = "postgres://sheaf@db.internal:5432"
	writes := []string{"PUT /v1/documents/api:pear.md " + `{"text": "Pears.\n"}`, "POST /v1/documents " +
		`{"documents": [{"id": "api:b.md", "text": "Bananas.\n"}]}`}
	for i, kind := range []error{sheaf.ErrUnavailable, store.ErrForbidden, store.ErrKeptOut} {
		why := fmt.Errorf("%w: failed to connect to %s", kind, place)
		storeIsNotNamed(t, place, why, "search,ingest", false, writes[i%2])
		storeIsNotNamed(t, place, why, "admin", true, writes[(i+1)%2])
	}
}

func storeIsNotNamed(t *testing.T, place string, why error, scopes string, told bool, write string) {
	t.Helper()
	store := &vanishing{why: why}
	open := collectiontest.Open(t, notes, func(o *collection.Options) {
		store.Backend, o.Backend, o.Distant = o.Backend, store, true
	})
	s := startOf(t, open, func(o *httpdoor.Options) { o.SignOn = scoped })
	s.api.Mount("/mcp", access.ScopeSearch, func(grant access.Grant, admit httpdoor.Admit) http.Handler {
		return mcp.Handler(mcp.Options{Collections: []*collection.Collection{open.Collection}, Time: 2 * time.Second,
			Admit: admit}, grant)
	})
	store.gone.Store(true)
	for _, asks := range []string{
		"GET /v1/search?query=undo",
		"GET /v1/search?query=what+tags:vcs&facets=tag&count=true",
		"GET /v1/search?query=commit&sort=path",
		"GET /v1/similar?id=notes:git.md%23undo-a-commit",
		"POST /v1/explain " + `{"query": "undo commit"}`,
		"POST /v1/explain/absence " + `{"query": "undo", "id": "notes:hg.md"}`,
		"POST /v1/explain/changes " + `{"query": "rollback", "change": {"meaning": "1"}}`,
		"GET /v1/status",
		"GET /readyz?verbose=true",
		"POST /mcp " + `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": ` +
			`{"query": "undo"}}}`,
		write, // last, because later requests would wait for its unfinished change
	} {
		if strings.HasPrefix(asks, "POST /mcp") && !errors.Is(why, sheaf.ErrUnavailable) {
			continue // this call retries the store for a second
		}
		method, rest, _ := strings.Cut(asks, " ")
		path, body, _ := strings.Cut(rest, " ")
		status := 503
		if path == "/mcp" {
			status = 200
		}
		s.log.Reset()
		res, text := s.ask(t, method, path, body, "Scopes", scopes, "Accept", "application/json, text/event-stream")
		check.That(t, res.StatusCode == status && strings.Contains(string(text), place) == told && (told ||
			strings.Contains(string(text), "a key with the scope admin sees why")), "%v, %s by %s: %d %s", why, asks, scopes,
			res.StatusCode, text)
		logged := strings.Contains(s.log.String(), place)
		check.That(t, logged || path == "/mcp" || strings.HasPrefix(path, "/readyz"), "%v, %s by %s: the log says %q", why,
			asks, scopes, s.log)
	}
}

// TestNotesHideStoreAddress checks the same for the notes of an answer, when an optional step failed.
func TestNotesHideStoreAddress(t *testing.T) {
	const place = "postgres://sheaf@db.internal:5432"
	s := startOf(t, collectiontest.Open(t, notes, func(o *collection.Options) {
		o.Backend, o.Distant = halfGone{o.Backend, fmt.Errorf("%w: failed to connect to %s", sheaf.ErrUnavailable, place)},
			true
	}), func(o *httpdoor.Options) { o.SignOn = scoped })
	for _, c := range []struct{ path, body, said string }{
		{"/v1/explain", `{"query": "undo commit"}`, "cannot explain the scores"},
	} {
		for scopes, told := range map[string]bool{"search": false, "admin": true} {
			res, body := s.ask(t, "POST", c.path, c.body, "Scopes", scopes)
			check.That(t, res.StatusCode == 200 && strings.Contains(string(body), place) == told &&
				strings.Contains(string(body), c.said) && !strings.Contains(string(body), `"degraded":true`), "%s by %s: %d %s",
				c.path, scopes, res.StatusCode, body)
		}
	}
}

// TestLostVersionErrorHidesStoreAddress checks the same for a store that rejects a version and fails before
// it gets the previous version back.
func TestLostVersionErrorHidesStoreAddress(t *testing.T) {
	const place = "postgres://sheaf@db.internal:5432"
	for scopes, told := range map[string]bool{"ingest": false, "ingest,admin": true} {
		store := &vanishing{why: fmt.Errorf("%w: failed to connect to %s", sheaf.ErrUnavailable, place)}
		var noticed []string
		s := startOf(t, collectiontest.Open(t, notes, func(o *collection.Options) {
			store.Backend = o.Backend
			o.Notice = func(err error) { noticed = append(noticed, err.Error()) }
			o.Backend = rejectsLast{collectiontest.Picky{Backend: store}, store}
		}), func(o *httpdoor.Options) { o.SignOn = scoped })
		if res, body := s.ask(t, "PUT", "/v1/documents/api:a.md", `{"text": "Apples."}`, "Scopes",
			scopes); res.StatusCode >= 300 {
			t.Fatal(res.StatusCode, string(body))
		}
		res, body := s.ask(t, "PUT", "/v1/documents/api:a.md", `{"text": "heavy"}`, "Scopes", scopes)
		check.That(t, res.StatusCode == 422 && strings.Contains(string(body), "put them again") &&
			strings.Contains(string(body), place) == told, "by %s: %d %s", scopes, res.StatusCode, body)
		check.That(t, strings.Contains(strings.Join(noticed, "\n"), place), "by %s: the log says %q", scopes, noticed)
	}
}

// rejectsLast is a store that vanishes after it rejects a document.
type rejectsLast struct {
	collectiontest.Picky
	store *vanishing
}

// Write implements store.Backend.
func (r rejectsLast) Write(ctx context.Context, batch store.Batch) error {
	err := r.Picky.Write(ctx, batch)
	if errors.As(err, new(*store.PartialError)) {
		r.store.gone.Store(true)
	}
	return err
}

// halfGone is a store that finds, but cannot explain scores.
type halfGone struct {
	store.Backend
	why error
}

// Explain implements store.Explainer.
func (h halfGone) Explain(context.Context, store.Request, []sheaf.ID) ([]*sheaf.Explanation, error) {
	return nil, h.why
}

// TestFailedBranchHidesReason checks that an incomplete answer says which part is missing, and says
// why only to the scope admin.
func TestFailedBranchHidesReason(t *testing.T) {
	const place = "https://models.internal:8443"
	failed := errors.New("embedding server: " + place + " refuses the key")
	s := startOf(t, collectiontest.Open(t, notes, func(o *collection.Options) {
		o.Model, o.Embed = nil, func(context.Context, []string) ([][]float32, error) { return nil, failed }
	}), func(o *httpdoor.Options) { o.SignOn = scoped })
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/v1/search?query=undo", ""},
		{"POST", "/v1/explain", `{"query": "undo commit"}`},
		{"POST", rrfPath, `{"query": "undo"}`},
	} {
		for scopes, told := range map[string]bool{"search": false, "admin": true} {
			s.log.Reset()
			res, body := s.ask(t, c.method, c.path, c.body, "Scopes", scopes)
			check.That(t, res.StatusCode == 200 && strings.Contains(string(body), place) == told && (told ||
				strings.Contains(string(body), "embedding the query failed")), "%s %s by %s: %d %s", c.method, c.path, scopes,
				res.StatusCode, body)
			check.That(t, strings.Contains(s.log.String(), place), "%s %s by %s: the log says %q", c.method, c.path, scopes,
				s.log)
		}
	}
}
