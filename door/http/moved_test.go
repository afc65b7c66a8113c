package http_test

import (
	"errors"
	"strings"
	"testing"

	"sheaf/collection"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
	"sheaf/store"
)

// movedStore is a store whose name stands for another index now, unless why is nil.
type movedStore struct {
	store.Backend
	why error
}

// Moved implements store.Mover.
func (m *movedStore) Moved() error { return m.why }

// TestMovedStore: a server whose store has moved is ready and answers from the index that it keeps to. /readyz and
// /v1/status say so: to the scope admin with the names, to others without. When the name is back they say nothing.
func TestMovedStore(t *testing.T) {
	const why = "the alias birds stands for birds-2 now, which was made otherwise: birds-1 is still used"
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
			{"/v1/status", "admin", why}, {"/v1/status", "search", "the name of the store stands for another index now"},
			{"/v1/search?query=undo", "search", ""},
		} {
			res, body := s.ask(t, "GET", c.path, "", "Scopes", c.scopes)
			text := string(body)
			told := strings.Contains(text, "another index now") || strings.Contains(text, "birds")
			if res.StatusCode != 200 || told != (moved && c.want != "") || told && !strings.Contains(text, c.want) ||
				c.scopes != "admin" && strings.Contains(text, "birds") {
				t.Errorf("moved %t: %s by %q: %d %s", moved, c.path, c.scopes, res.StatusCode, text)
			}
			if c.path == "/readyz" && !strings.HasSuffix(text, "ok\n") ||
				strings.HasPrefix(c.path, "/v1/search") && !strings.Contains(text, "git.md") {
				t.Errorf("moved %t: %s by %q: %s", moved, c.path, c.scopes, text)
			}
		}
	}
}
