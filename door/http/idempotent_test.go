package http_test

import (
	"testing"

	"sheaf/collection/access"
)

// TestIdempotencyKeysAreTheCallers: the Idempotency-Key of one caller is another's to use: neither the answer
// nor a conflict with it is theirs.
func TestIdempotencyKeysAreTheCallers(t *testing.T) {
	feed := access.Grant{Scopes: []access.Scope{access.ScopeIngest}}
	s, keys := keyed(t, notes, map[string]access.Grant{"one": feed, "another": feed})
	for _, c := range []struct {
		key, text string
		status    int
	}{{"one", "Apples.", 201}, {"one", "Apples.", 201}, {"another", "Apples.", 200}, {"one", "Pears.", 409}} {
		res, body := s.ask(t, "PUT", "/v1/documents/api:fruit.md", `{"text": "`+c.text+`"}`, "Idempotency-Key", "k1",
			"Authorization", "Bearer "+keys[c.key])
		if res.StatusCode != c.status {
			t.Errorf("%s with %s: %d %s, want %d", c.key, c.text, res.StatusCode, body, c.status)
		}
	}
}

// TestIdempotencyKeysOfOneAddress: an address is the same one however its characters are escaped.
func TestIdempotencyKeysOfOneAddress(t *testing.T) {
	s := start(t, notes, nil)
	for i, c := range []struct {
		path   string
		status int
	}{{"api:a/b.md?collection=notes", 201}, {"api:a%2Fb.md?collection=%6eotes", 201},
		{"api%3Aa/b%2emd?collection=notes", 201}, {"api:a/b.md", 409}, {"api:a/c.md?collection=notes", 409}} {
		if res, body := s.ask(t, "PUT", "/v1/documents/"+c.path, `{"text": "Apples."}`, "Idempotency-Key",
			"k1"); res.StatusCode != c.status {
			t.Errorf("%d, %s: %d %s, want %d", i, c.path, res.StatusCode, body, c.status)
		}
	}
}
