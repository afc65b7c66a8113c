package http

import (
	"context"
	"crypto/sha256"
	"net/url"
	"strings"

	"sheaf/collection"
)

// repeatable is a context in which the request of c is done once under the Idempotency-Key that
// it came with; ctx when it came with none.
func (c *call) repeatable(ctx context.Context, key string) context.Context {
	if key == "" {
		return ctx
	}
	condition := func(name string) string { return strings.Join(c.request.Header.Values(name), ",") }
	address := url.URL{Path: c.request.URL.Path, RawQuery: c.request.URL.Query().Encode()} // however its characters came
	return collection.WithKey(ctx, collection.Key{
		Name: sha256.Sum256([]byte(c.caller + "\x00" + key)),
		Request: sha256.Sum256([]byte(strings.Join([]string{c.request.Method, address.String(), condition("If-Match"),
			condition("If-None-Match"), string(c.body)}, "\x00"))),
	})
}
