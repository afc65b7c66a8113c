package http_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
)

// A request with an Idempotency-Key whose server ends when it is done, and before its answer is
// kept, is given that answer when it is repeated, and is not done twice.
func TestIdempotencyKeysBeforeTheAnswerIsKept(t *testing.T) {
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
			file := filepath.Join(t.TempDir(), "answers.jsonl")
			options := func(o *httpdoor.Options) {
				o.Answers = file
				o.Open = access.Grant{Scopes: []access.Scope{access.ScopeIngest, access.ScopeSearch}, Access: []string{"user:ann"}}
			}
			s := start(t, notes, options)
			res, body := s.ask(t, "PUT", "/v1/documents/api:old.md", `{"text": "Apples.", "access": ["user:ann"]}`)
			if res.StatusCode != 201 {
				t.Fatalf("%d %s", res.StatusCode, body)
			}
			header := []string{"Idempotency-Key", "k1"}
			for _, h := range c.header {
				header = append(header, strings.ReplaceAll(h, "TAG", res.Header.Get("ETag")))
			}
			first, body := s.ask(t, c.method, c.path, c.body, header...)
			if first.StatusCode != c.status {
				t.Fatalf("%d %s", first.StatusCode, body)
			}
			s.cut(t, file)
			after := startOf(t, s.restarted(t), options)
			again, same := after.ask(t, c.method, c.path, c.body, header...)
			for _, name := range []string{"Etag", "Location"} {
				if again.Header.Get(name) != first.Header.Get(name) {
					t.Errorf("%s is %q, was %q", name, again.Header.Get(name), first.Header.Get(name))
				}
			}
			if again.StatusCode != first.StatusCode || !bytes.Equal(body, same) {
				t.Errorf("%d %s, after a crash %d %s", first.StatusCode, body, again.StatusCode, same)
			}
			if res, _ := after.ask(t, c.method, c.path, c.body, header...); res.StatusCode != c.status {
				t.Errorf("once more: %d", res.StatusCode)
			}
			if list := after.fixture.Collection.Tasks(access.Unrestricted(), "", "", 10); c.status == 202 && len(list) > 1 {
				t.Errorf("it is accepted %d times", len(list))
			}
		})
	}
}

// One that was begun and not done is done when it is repeated, and one that is another by then
// is done as it is.
func TestIdempotencyKeysBegunAndNotDone(t *testing.T) {
	const path, text = "/v1/documents/api:new.md", `{"text": "Cherries."}`
	for want, body := range map[int]string{201: text, 200: `{"text": "Pears."}`} {
		file := filepath.Join(t.TempDir(), "answers.jsonl")
		options := func(o *httpdoor.Options) { o.Answers = file }
		s := start(t, notes, options)
		s.ask(t, "PUT", path, text, "Idempotency-Key", "k1")
		s.cut(t, file)
		s.ask(t, "DELETE", path, "")
		if want == 200 {
			s.ask(t, "PUT", path, `{"text": "Plums."}`)
		}
		after := startOf(t, s.restarted(t), options)
		for range 2 {
			if res, got := after.ask(t, "PUT", path, body, "Idempotency-Key", "k1"); res.StatusCode != want {
				t.Errorf("%s: %d %s, want %d", body, res.StatusCode, got, want)
			}
		}
		if res, got := after.ask(t, "PUT", path, `{"text": "Grapes."}`, "Idempotency-Key", "k1"); res.StatusCode != 409 {
			t.Errorf("another request: %d %s", res.StatusCode, got)
		}
	}
}

// What somebody else made of a document meanwhile is not taken for what was begun, also where
// the patch would change nothing of it, and what is wrong is told where the request has it.
func TestIdempotencyKeysBeforeAnother(t *testing.T) {
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		say                string
	}{
		"a patch": {"PATCH", "/v1/documents/api:b.md", `{"title": "T"}`, 412, "another version"},
		"a batch": {"POST", "/v1/documents", `{"documents": [{"id": "api:a.md", "text": "Apples."}, {"id": "api:b.md", ` +
			`"text": "Pears.", "if_match": "TAG"}]}`, 409, "documents/1/if_match"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "answers.jsonl")
			options := func(o *httpdoor.Options) { o.Answers = file }
			s := start(t, notes, options)
			res, body := s.ask(t, "PUT", "/v1/documents/api:b.md", `{"text": "Plums."}`)
			if res.StatusCode != 201 {
				t.Fatalf("%d %s", res.StatusCode, body)
			}
			tag := res.Header.Get("ETag")
			header := []string{"Idempotency-Key", "k1"}
			if c.method == "PATCH" {
				header = append(header, "If-Match", tag)
			}
			c.body = strings.ReplaceAll(c.body, `"TAG"`, fmt.Sprintf("%q", tag))
			if res, body = s.ask(t, c.method, c.path, c.body, header...); res.StatusCode != 200 {
				t.Fatalf("%d %s", res.StatusCode, body)
			}
			s.cut(t, file)
			after := startOf(t, s.restarted(t), options)
			if res, body := after.ask(t, "PUT", "/v1/documents/api:b.md",
				`{"text": "Another's.", "title": "T"}`); res.StatusCode != 200 {
				t.Fatalf("%d %s", res.StatusCode, body)
			}
			if res, body = after.ask(t, c.method, c.path, c.body, header...); res.StatusCode != c.status ||
				!strings.Contains(string(body), c.say) {
				t.Errorf("%d %s, want %d with %q", res.StatusCode, body, c.status, c.say)
			}
		})
	}
}

// cut ends a server as a crash before its last answer is kept does.
func (s *server) cut(t *testing.T, file string) {
	t.Helper()
	if err := s.api.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(content, []byte("\n"))
	if err := os.WriteFile(file, bytes.Join(lines[:len(lines)-2], nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

// restarted is the server's collection as the next process opens it, when that is ready.
func (s *server) restarted(t *testing.T) *collectiontest.Fixture {
	t.Helper()
	c, err := collection.New(s.fixture.Options)
	if err != nil {
		t.Fatal(err)
	}
	working(t, c)
	for deadline := time.Now().Add(time.Minute); c.Ready(t.Context()) != nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(fmt.Errorf("it is not ready: %w", c.Ready(t.Context())))
		}
	}
	f := *s.fixture
	f.Collection = c
	return &f
}
