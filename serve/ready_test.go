package serve_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"sheaf/ingest"
	"sheaf/serve"
	"sheaf/serve/access"
	"sheaf/serve/servetest"
)

// TestReadyUnwatched: a collection of which nothing is indexed waits for the first run of
// who watches, and of nobody else.
func TestReadyUnwatched(t *testing.T) {
	c := servetest.Unindexed(t, map[string]string{"a.md": "# A\n"}, nil)
	if err := c.Ready(t.Context()); err != nil {
		t.Errorf("nobody watches: %v", err)
	}
	said := func() bool {
		t.Helper()
		st, err := reader(t, c, access.Unrestricted()).Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		told := find(t, reader(t, c, access.Unrestricted()), serve.SearchRequest{Text: "a", Limit: 10}).Warnings
		if !slices.Equal(told, st.Warnings) {
			t.Errorf("the status says %q, an answer %q", st.Warnings, told)
		}
		return strings.Contains(strings.Join(told, "\n"), "for the first time")
	}
	if said() {
		t.Error("nobody watches, and answers say that there will be more")
	}
	c.WillWatch()
	if c.Ready(t.Context()) == nil {
		t.Error("ready before the first run")
	}
	if !said() {
		t.Error("an answer before the first run does not say that there will be more")
	}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan struct{}, 8)
	ended := make(chan error, 1)
	go func() { ended <- c.Watch(ctx, func(*ingest.Report, error) { ran <- struct{}{} }) }()
	<-ran
	if err := c.Ready(t.Context()); err != nil {
		t.Errorf("after the first run: %v", err)
	}
	if said() {
		t.Error("after the first run answers say that there will be more")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
