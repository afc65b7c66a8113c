package http_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

// vanishing is a store that fails while gone is true: with why, or else as if its index was
// deleted.
type vanishing struct {
	store.Backend
	why  error
	gone atomic.Bool
}

func (v *vanishing) err() error {
	if v.gone.Load() && v.why != nil {
		return v.why
	}
	if v.gone.Load() {
		return fmt.Errorf("the store: there is no such index: %w", sheaf.ErrNotFound)
	}
	return nil
}

func (v *vanishing) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	if err := v.err(); err != nil {
		return nil, err
	}
	return v.Backend.Retrieve(ctx, req)
}

func (v *vanishing) Write(ctx context.Context, b store.Batch) error {
	if err := v.err(); err != nil {
		return err
	}
	return v.Backend.Write(ctx, b)
}

// Count implements store.Counter.
func (v *vanishing) Count(ctx context.Context, req store.Request) (int, error) {
	if err := v.err(); err != nil {
		return 0, err
	}
	return v.Backend.(store.Counter).Count(ctx, req)
}

// Explain implements store.Explainer.
func (v *vanishing) Explain(ctx context.Context, req store.Request, ids []sheaf.ID) ([]*sheaf.Explanation, error) {
	if err := v.err(); err != nil {
		return nil, err
	}
	return v.Backend.(store.Explainer).Explain(ctx, req, ids)
}

// Scores implements store.Scorer.
func (v *vanishing) Scores(ctx context.Context, reqs []store.Request, ids []sheaf.ID) ([][]float64, error) {
	if err := v.err(); err != nil {
		return nil, err
	}
	return v.Backend.(store.Scorer).Scores(ctx, reqs, ids)
}

// Facets implements store.Faceter.
func (v *vanishing) Facets(ctx context.Context, req store.Request, columns []string, limit int) ([]store.Facet, error) {
	if err := v.err(); err != nil {
		return nil, err
	}
	return v.Backend.(store.Faceter).Facets(ctx, req, columns, limit)
}

// Sorted implements store.Sorter.
func (v *vanishing) Sorted(ctx context.Context, req store.Request, by store.Order) (sheaf.Ranking, error) {
	if err := v.err(); err != nil {
		return nil, err
	}
	return v.Backend.(store.Sorter).Sorted(ctx, req, by)
}

// Stats implements store.Reporter.
func (v *vanishing) Stats(ctx context.Context) (store.Stats, error) {
	if err := v.err(); err != nil {
		return store.Stats{}, err
	}
	return v.Backend.(store.Reporter).Stats(ctx)
}

// TestStoreRemoved checks every route after the index of a store was deleted. Routes that need the
// store answer 503 with advice, and the others answer from the catalog. When the index is back, all
// routes answer again.
func TestStoreRemoved(t *testing.T) {
	store := &vanishing{}
	s := startOf(t, collectiontest.Open(t, notes, func(o *collection.Options) {
		store.Backend, o.Backend, o.Distant = o.Backend, store, true
	}), nil)
	for _, c := range []struct {
		method, path, body string
		without            int // the status while the index is gone
	}{
		{"GET", "/v1/search?query=undo", "", 503},
		{"GET", "/v1/search?query=und*", "", 503},
		{"GET", "/v1/search?query=commit&facets=tag&count=true", "", 503},
		{"GET", "/v1/search?query=commit&sort=path", "", 503},
		{"GET", "/v1/similar?id=notes:git.md%23undo-a-commit", "", 503},
		{"POST", "/v1/explain", `{"query": "undo commit"}`, 503},
		{"POST", "/v1/explain/absence", `{"query": "undo", "id": "notes:hg.md"}`, 503},
		{"POST", "/v1/explain/changes", `{"query": "rollback", "change": {"meaning": "1"}}`, 503},
		{"GET", "/v1/status", "", 503},
		{"GET", "/readyz", "", 503},
		{"PUT", "/v1/documents/api:pear.md", `{"text": "Pears.\n"}`, 503},
		{"POST", "/v1/documents", `{"documents": [{"id": "api:b.md", "text": "Bananas.\n"}]}`, 503},
		{"GET", "/v1/chunks/notes:git.md", "", 200},
		{"GET", "/v1/documents", "", 200},
		{"GET", "/v1/documents/notes:git.md", "", 200},
		{"GET", "/v1/collections", "", 200},
	} {
		store.gone.Store(true)
		res, body := s.ask(t, c.method, c.path, c.body)
		check.That(t, res.StatusCode == c.without, "%s %s of a place that is gone: %d %s, want %d", c.method, c.path,
			res.StatusCode, body, c.without)
		check.That(t, c.without != 503 || strings.Contains(string(body), "fill it again with sheaf index --rebuild"),
			"%s %s says not what to do: %s", c.method, c.path, body)
		store.gone.Store(false)
		res, body = s.ask(t, c.method, c.path, c.body)
		check.That(t, res.StatusCode < 300, "%s %s when the place is back: %d %s", c.method, c.path, res.StatusCode, body)
	}
}

// startKeyed starts a server with one key, and returns the path of its key file.
func startKeyed(t *testing.T) (s *server, path, secret string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "keys.json")
	keys, err := access.OpenKeys(path)
	must.Do(t, err)
	if _, secret, err = keys.Add(access.Grant{Scopes: []access.Scope{access.ScopeSearch}}); err != nil {
		t.Fatal(err)
	}
	return start(t, notes, func(o *httpdoor.Options) { o.Keys = keys }), path, secret
}

// TestMissingKeyFile checks that a server without its key file refuses all callers, says why, and is not
// ready. It recovers when the file is back.
func TestMissingKeyFile(t *testing.T) {
	s, path, secret := startKeyed(t)
	for _, gone := range []bool{false, true, false} {
		from, to := path+".away", path
		if gone {
			from, to = path, path+".away"
		}
		if err := os.Rename(from, to); err != nil && gone {
			t.Fatal(err)
		}
		for _, header := range [][]string{{"Authorization", "Bearer " + secret}, nil} {
			want := map[string]int{"/readyz": 200, "/v1/collections": 200}
			if header == nil {
				want["/v1/collections"] = 401
			}
			for address, status := range want {
				if gone {
					status = 503
				}
				res, body := s.ask(t, "GET", address, "", header...)
				check.That(t, res.StatusCode == status && (!gone || res.Header.Get("Retry-After") != "") &&
					!strings.Contains(string(body), "keys.json"), "gone %v: %s: %d %s", gone, address, res.StatusCode, body)
			}
		}
	}
}

// TestUnreadableKeyFile checks that a server with an unreadable key file refuses all callers, without
// the file's content or path.
func TestUnreadableKeyFile(t *testing.T) {
	s, path, secret := startKeyed(t)
	for name, text := range map[string]string{
		"no JSON":          "{",
		"of a later one":   `{"format": 2}`,
		"a filter of old":  `{"format": 1, "keys": [{"id": "layoffs", "scopes": ["search"], "filter": "layoffs"}]}`,
		"an unknown scope": `{"format": 1, "keys": [{"id": "layoffs", "scopes": ["layoffs"]}]}`,
		"a misspelled end": `{"format": 1, "keys": [{"id": "layoffs", "scopes": ["search"], "expire": ` +
			`"2020-01-01T00:00:00Z"}]}`,
	} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		for _, header := range [][]string{{"Authorization", "Bearer " + secret}, nil} {
			for _, address := range []string{"/readyz", "/v1/collections", "/openapi.json", "/metrics",
				"/v1/search?query=undo"} {
				check.That(t, strings.Contains(s.later(t, 503, "GET", address, "", header...),
					"the keys cannot be read: the log says why"), "%s: %s", name, address)
			}
		}
	}
}

// movedStore is a store whose name now belongs to another index, unless why is nil.
type movedStore struct {
	store.Backend
	why error
}

// Moved implements store.Mover.
func (m *movedStore) Moved() error { return m.why }

// TestMovedStore checks that a server whose store has moved stays ready and answers from its old index.
// /readyz and /v1/status report the move until the name is back, with names only to the scope admin.
func TestMovedStore(t *testing.T) {
	const why = "the alias birds stands for birds-2 now, which was made with other settings: birds-1 is still used"
	store := &movedStore{}
	s := startOf(t, collectiontest.Open(t, notes, func(o *collection.Options) {
		store.Backend, o.Backend, o.Distant = o.Backend, store, true
	}), func(o *httpdoor.Options) { o.SignOn = scoped })
	for _, moved := range []bool{false, true, false} {
		store.why = nil
		if moved {
			store.why = errors.New(why)
		}
		for _, c := range []struct{ path, scopes, want string }{
			{"/readyz", "admin", "[!] notes: " + why}, {"/readyz", "search", ""}, {"/readyz", "", ""},
			{"/v1/status", "admin", why}, {"/v1/status", "search", "the name of the store leads to another index now"},
			{"/v1/search?query=undo", "search", ""},
		} {
			res, body := s.ask(t, "GET", c.path, "", "Scopes", c.scopes)
			text := string(body)
			told := strings.Contains(text, "another index now") || strings.Contains(text, "birds")
			if res.StatusCode != 200 || told != (moved && c.want != "") || told && !strings.Contains(text, c.want) ||
				c.scopes != "admin" && strings.Contains(text, "birds") {
				t.Errorf("moved %t: %s by %q: %d %s", moved, c.path, c.scopes, res.StatusCode, text)
			}
			check.That(t, (c.path != "/readyz" || strings.HasSuffix(text, "ok\n")) && (!strings.HasPrefix(c.path,
				"/v1/search") || strings.Contains(text, "git.md")), "moved %t: %s by %q: %s", moved, c.path, c.scopes, text)
		}
	}
}
