package http_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/collection/intake"
	httpdoor "sheaf/door/http"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

// TestIdempotencyKeyWithoutStoredAnswer checks a server that ended before it stored its answer.
// The repeated request gets the first answer and does not run twice.
func TestIdempotencyKeyWithoutStoredAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		header             []string
	}{
		"a new document": {"PUT", "/v1/documents/api:new.md", `{"text": "Cherries."}`, 201, nil},
		"one that must be new": {"PUT", "/v1/documents/api:new.md", `{"text": "Cherries."}`, 201,
			[]string{"If-None-Match", "*"}},
		"a version": {"PUT", "/v1/documents/api:old.md", `{"text": "Cherries."}`, 200, []string{"If-Match", "TAG"}},
		"a patch": {"PATCH", "/v1/documents/api:old.md", `{"title": "Cherries"}`, 200,
			[]string{"If-Match", "TAG"}},
		"a patch that hides": {"PATCH", "/v1/documents/api:old.md", `{"access": ["user:bob"]}`, 200, nil},
		"a batch": {"POST", "/v1/documents", `{"documents": [{"id": "api:old.md", "delete": true}, {"id": ` +
			`"api:new.md", "text": "Cherries.", "if_none_match": "*"}]}`, 200, nil},
		"a task": {"POST", "/v1/documents", `{"async": true, "documents": [{"id": "api:new.md", "text": "Cherries.", ` +
			`"if_none_match": "*"}]}`, 202, nil},
	} {
		t.Run(name, func(t *testing.T) {
			options := func(o *httpdoor.Options) {
				o.Open = access.Grant{Scopes: []access.Scope{access.ScopeIngest, access.ScopeSearch}, Access: []string{"user:ann"}}
			}
			s, crash := copied(t, options)
			res, body := s.ask(t, "PUT", "/v1/documents/api:old.md", `{"text": "Apples.", "access": ["user:ann"]}`)
			must.That(t, res.StatusCode == 201, "%d %s", res.StatusCode, body)
			header := []string{"Idempotency-Key", "k1"}
			for _, h := range c.header {
				header = append(header, strings.ReplaceAll(h, "TAG", res.Header.Get("ETag")))
			}
			first, body := s.ask(t, c.method, c.path, c.body, header...)
			must.That(t, first.StatusCode == c.status, "%d %s", first.StatusCode, body)
			if c.status != 202 {
				crash(t)
			}
			after := startOf(t, s.restarted(t), options)
			again, same := after.ask(t, c.method, c.path, c.body, header...)
			for _, name := range []string{"Etag", "Location"} {
				check.That(t, again.Header.Get(name) == first.Header.Get(name), "%s is %q, was %q", name, again.Header.Get(name),
					first.Header.Get(name))
			}
			check.That(t, again.StatusCode == first.StatusCode && bytes.Equal(body, same), "%d %s, after a crash %d %s",
				first.StatusCode, body, again.StatusCode, same)
			after.want(t, c.status, c.method, c.path, c.body, header...)
			list := after.fixture.Collection.Tasks(access.Unrestricted(), "", "", 10)
			check.That(t, c.status != 202 || len(list) <= 1, "it is accepted %d times", len(list))
		})
	}
}

// TestIdempotencyKeyAfterLaterChanges checks that a key keeps its answer after later changes of the
// document. This holds even if the process ended before it stored the answer.
func TestIdempotencyKeyAfterLaterChanges(t *testing.T) {
	const path, text = "/v1/documents/api:new.md", `{"text": "Cherries."}`
	s, crash := copied(t, nil)
	first, body := s.ask(t, "PUT", path, text, "Idempotency-Key", "k1")
	crash(t)
	after := startOf(t, s.restarted(t), nil)
	after.want(t, 200, "PUT", path, `{"text": "Plums."}`)
	res, same := after.ask(t, "PUT", path, text, "Idempotency-Key", "k1")
	check.That(t, res.StatusCode == first.StatusCode && bytes.Equal(body, same) && len(found(t, after, "plums")) != 0,
		"%d %s, at first %d %s", res.StatusCode, same, first.StatusCode, body)
	after.want(t, 409, "PUT", path, `{"text": "Grapes."}`, "Idempotency-Key", "k1")
}

// TestIdempotencyKeysExpire checks that a key is forgotten after a day, or when its request failed.
func TestIdempotencyKeysExpire(t *testing.T) {
	now := time.Now()
	fixture := collectiontest.Open(t, notes, func(o *collection.Options) { o.Now = func() time.Time { return now } })
	s := startOf(t, fixture, nil)
	for _, c := range []struct {
		path, text string
		later      time.Duration
		status     int
	}{
		{"api:a.md", `{"text": "one"}`, 0, 201}, {"api:a.md", `{"text": "one"}`, 23 * time.Hour, 201},
		{"api:a.md", `{"text": "two"}`, 0, 409}, {"api:a.md", `{"text": "two"}`, 2 * time.Hour, 200},
		{"api:a.md", `{"text": "two"}`, time.Hour, 200}, {"api:a.md", `{"text": "one"}`, 0, 409},
	} {
		now = now.Add(c.later)
		s.want(t, c.status, "PUT", "/v1/documents/"+c.path, c.text, "Idempotency-Key", "k1")
	}
	s.wrong(t, 412, "PUT", "/v1/documents/api:a.md", `{"text": "x"}`, "If-None-Match", "*", "Idempotency-Key", "k2")
	s.want(t, 200, "PUT", "/v1/documents/api:a.md", `{"text": "y"}`, "Idempotency-Key", "k2")
}

// restarted opens the server's collection like the next process, and waits until it is ready.
func (s *server) restarted(t *testing.T) *collectiontest.Fixture {
	t.Helper()
	c := must.Get(collection.New(s.fixture.Options))
	c.WillWork()
	working(t, c)
	eventually(t, "it is ready", func() bool { return c.Ready(t.Context()) == nil })
	f := *s.fixture
	f.Collection = c
	return &f
}

// TestIdempotencyKeysOfTwoCallers checks that two callers can use the same Idempotency-Key without
// a conflict or the other's answer.
func TestIdempotencyKeysOfTwoCallers(t *testing.T) {
	feed := access.Grant{Scopes: []access.Scope{access.ScopeIngest}}
	s, keys := keyed(t, notes, map[string]access.Grant{"one": feed, "another": feed})
	for _, c := range []struct {
		key, text string
		status    int
	}{{"one", "Apples.", 201}, {"one", "Apples.", 201}, {"another", "Apples.", 200}, {"one", "Pears.", 409}} {
		s.want(t, c.status, "PUT", "/v1/documents/api:fruit.md", `{"text": "`+c.text+`"}`, "Idempotency-Key", "k1",
			"Authorization", "Bearer "+keys[c.key])
	}
}

// TestIdempotencyKeysOfEscapedAddress checks that escaping does not change which address a key belongs to.
func TestIdempotencyKeysOfEscapedAddress(t *testing.T) {
	s := start(t, notes, nil)
	for _, c := range []struct {
		path   string
		status int
	}{{"api:a/b.md?collection=notes", 201}, {"api:a%2Fb.md?collection=%6eotes", 201},
		{"api%3Aa/b%2emd?collection=notes", 201}, {"api:a/b.md", 409}, {"api:a/c.md?collection=notes", 409}} {
		s.want(t, c.status, "PUT", "/v1/documents/"+c.path, `{"text": "Apples."}`, "Idempotency-Key", "k1")
	}
}

// watched is a store that calls look before each write.
type watched struct {
	store.Backend
	look func()
}

func (w *watched) Write(ctx context.Context, b store.Batch) error {
	if w.look != nil {
		w.look()
	}
	return w.Backend.Write(ctx, b)
}

// copies saves the file of given documents before each write to the store. crash restores the last
// copy, as if the process had ended before it recorded the change.
func copies(o *collection.Options) (crash func(t *testing.T)) {
	file := intake.Open(o.Intake).Path()
	var content []byte
	o.Backend = &watched{o.Backend, func() { content, _ = os.ReadFile(file) }}
	return func(t *testing.T) {
		t.Helper()
		if content == nil {
			return // nothing was written
		}
		must.Do(t, os.WriteFile(file, content, 0o600))
	}
}

// copied returns a server, and crash, which restores its file of given documents.
func copied(t *testing.T, change func(*httpdoor.Options)) (s *server, crash func(*testing.T)) {
	t.Helper()
	fixture := collectiontest.Open(t, notes, func(o *collection.Options) { crash = copies(o) })
	return startOf(t, fixture, change), crash
}
