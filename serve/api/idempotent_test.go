package api_test

import (
	"testing"

	"sheaf/serve/access"
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
		res, body := s.ask(t, "PUT", "/v1/documents/api:fruit.md", `{"text": "`+c.text+`"}`, "Idempotency-Key", "k1", "Authorization", "Bearer "+keys[c.key])
		if res.StatusCode != c.status {
			t.Errorf("%s with %s: %d %s, want %d", c.key, c.text, res.StatusCode, body, c.status)
		}
	}
}
