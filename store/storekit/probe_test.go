package storekit_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/store"
	"sheaf/store/storekit"
)

// TestProbe checks that Probe removes what it made, even after a canceled context or a lost answer.
// Otherwise its error names what is left.
func TestProbe(t *testing.T) {
	refused := fmt.Errorf("no right: %w", sheaf.ErrInvalid)
	lost := fmt.Errorf("cut: %w", sheaf.ErrUnavailable)
	for name, c := range map[string]struct {
		made    error
		cancel  bool
		status  int // of the answer to DELETE
		removes int
		is      error
		says    string
	}{
		"made and removed":   {nil, false, 200, 1, nil, ""},
		"removed by a retry": {nil, false, 404, 1, nil, ""},
		"may not be made":    {refused, false, 200, 0, refused, ""},
		"answer was lost":    {lost, false, 200, 1, lost, ""},
		"caller went away":   {nil, true, 200, 1, nil, ""},
		"may not be removed": {nil, false, 403, 1, store.ErrForbidden,
			"/notes-probe-1 was made to test the rights and is left behind: remove it"},
		"neither is known": {lost, false, 403, 1, lost, "/notes-probe-1 may have been made"},
	} {
		t.Run(name, func(t *testing.T) {
			removes := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				check.That(t, r.Method == "DELETE" && r.URL.Path == "/notes-probe-1", "%s %s", r.Method, r.URL.Path)
				removes++
				w.WriteHeader(c.status)
			}))
			defer server.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			client := &storekit.Client{Store: "store", URL: server.URL, HTTP: server.Client()}
			err := client.Probe(ctx, "/notes-probe-1", func() error {
				if c.cancel {
					cancel()
				}
				return c.made
			})
			check.That(t, errors.Is(err, c.is) && removes == c.removes,
				"%v after %d removals, want %v after %d", err, removes, c.is, c.removes)
			check.That(t, (c.is != nil || err == nil) && (err == nil || strings.Contains(err.Error(), c.says)),
				"%v, which does not say %q", err, c.says)
		})
	}
}
