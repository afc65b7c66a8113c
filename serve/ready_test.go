package serve_test

import (
	"context"
	"testing"

	"sheaf/ingest"
	"sheaf/serve/servetest"
)

// TestReadyUnwatched: a collection of which nothing is indexed waits for the first run of
// who watches, and of nobody else.
func TestReadyUnwatched(t *testing.T) {
	c := servetest.Unindexed(t, map[string]string{"a.md": "# A\n"}, nil)
	if err := c.Ready(t.Context()); err != nil {
		t.Errorf("nobody watches: %v", err)
	}
	c.WillWatch()
	if c.Ready(t.Context()) == nil {
		t.Error("ready before the first run")
	}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan struct{}, 8)
	ended := make(chan error, 1)
	go func() { ended <- c.Watch(ctx, func(*ingest.Report, error) { ran <- struct{}{} }) }()
	<-ran
	if err := c.Ready(t.Context()); err != nil {
		t.Errorf("after the first run: %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
