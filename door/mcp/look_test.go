package mcp_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// TestFirstLook: what was saved while no server ran is found by a call that comes before
// the server has looked for it.
func TestFirstLook(t *testing.T) {
	before := collectiontest.Open(t, notes, nil)
	before.Write(t, "new.md", "# Walrus\n\nA walrus at the door.\n")
	f := before.Beside(t)
	f.WillWatch()
	s := connectOver(t, f, access.Unrestricted())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		time.Sleep(100 * time.Millisecond)
		ended <- f.Watch(ctx, nil)
	}()
	if text := call(t, s, "search", map[string]any{"query": "walrus"}, nil); !strings.Contains(text, "1. notes:new.md") {
		t.Error(text)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
