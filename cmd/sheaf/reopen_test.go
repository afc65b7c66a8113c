package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"sheaf/collection/location"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storetest"
)

// TestServerReopensChangedIndex checks that a server shows changes of other processes to its index. An added
// folder stays when the server indexes. The server reopens an index that is rebuilt with other
// settings.
func TestServerReopensChangedIndex(t *testing.T) {
	n := newNotes(t)
	address := n.serve(t)
	found(t, address, "apples", "a.md")
	n.run(t, "add", n.extra)
	found(t, address, "elephants", "e.md")
	n.write(t, "b.md", "# B\n\nbears\n")
	found(t, address, "bears", "b.md")
	found(t, address, "elephants", "e.md")
	for _, how := range [][]string{{"--language", "de"}, {"--chunker", "window", "--language", "en"}} {
		n.run(t, append([]string{"index", "--rebuild"}, how...)...)
		found(t, address, "apples", "a.md")
		name := how[1] + ".md"
		n.write(t, name, "# C\n\n"+how[1]+" camels\n")
		found(t, address, "camels+"+how[1], name)
		status := fmt.Sprintf("%q", how[1])
		if how[1] != "de" {
			status = `"language":"en"`
		}
		waitFor(t, address+"/v1/status", func(_ int, body string) bool { return strings.Contains(body, status) })
	}
}

// TestMCPReopensChangedIndex checks the same for an assistant on standard input and output. Its connection
// stays open.
func TestMCPReopensChangedIndex(t *testing.T) {
	n := newNotes(t)
	binary := must.Get(exec.LookPath("sheaf"))
	ctx := t.Context()
	c := must.Get(newAssistant(ctx, binary, os.Environ(), "--in", n.folder, "--index", n.index))
	defer c.Close()
	found := func(word, name string) {
		t.Helper()
		ask := mcp.CallToolRequest{}
		ask.Params.Name, ask.Params.Arguments = "search", map[string]any{"query": word}
		for ; ; time.Sleep(20 * time.Millisecond) {
			r := must.Get(c.CallTool(ctx, ask))
			if text := fmt.Sprint(r.Content); !r.IsError && strings.Contains(text, name) {
				return
			}
		}
	}
	found("apples", "a.md")
	for _, language := range []string{"de", "en"} {
		n.run(t, "index", "--rebuild", "--language", language)
		found("apples", "a.md")
		n.write(t, language+".md", "# C\n\n"+language+" camels\n")
		found("camels", language+".md")
	}
}

// TestServerWhileIndexIsRemade checks that a server answers 503 while another process rebuilds its index
// with other settings, and recovers afterwards.
func TestServerWhileIndexIsRemade(t *testing.T) {
	n := newNotes(t)
	address := n.serve(t)
	found(t, address, "apples", "a.md")
	other := quietSession(location.Location{Root: n.folder, Dir: n.index, Exists: true})
	other.Making.Language, other.config.Chunk.Chunker = "de", "tree"
	must.Do(t, errors.Join(other.Drop(t.Context(), false), other.OpenStores(t.Context())))
	release := must.Get(other.Catalog.Hold())
	load, err := other.Backend.(store.Bulk).Bulk(t.Context())
	if err == nil {
		err = errors.Join(load.Add(t.Context(), storetest.One("t:b", "Stein")), load.Commit(t.Context()), load.Close())
	}
	must.Do(t, err)
	waitFor(t, address+"/v1/search?query=apples", func(status int, body string) bool {
		return status == http.StatusServiceUnavailable && strings.Contains(body, "index is not open")
	})
	waitFor(t, address+"/livez", func(status int, _ string) bool { return status == http.StatusOK })
	other.Close()
	must.Do(t, release())
	found(t, address, "apples", "a.md")
}

// TestReopeningRetriesWhileLocked checks that reopening retries while another process locks the index. The first
// opening returns that error at once.
func TestReopeningRetriesWhileLocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &app{streams: quiet()}
		check.Is(t, a.reopening(t.Context(), func(openOptions) error { return vfs.ErrLocked }), vfs.ErrLocked,
			"the first time")
		results := []error{ingest.ErrRebuilt, vfs.ErrLocked, vfs.ErrLocked, nil}
		err := a.reopening(t.Context(), func(openOptions) error {
			next := results[0]
			results = results[1:]
			return next
		})
		check.That(t, err == nil && len(results) == 0, "%v, and %d times were to come", err, len(results))
	})
}

// TestReopeningIsCanceled checks that canceling a long-running command while it opens its index is no
// error. Other errors, and canceling without a request to stop, are errors.
func TestReopeningIsCanceled(t *testing.T) {
	a := &app{streams: quiet()}
	ctx, stop := context.WithCancel(t.Context())
	opening := func(openOptions) error { return fmt.Errorf("open the index: %w", context.Canceled) }
	check.Is(t, a.reopening(ctx, opening), context.Canceled, "before it is told to end")
	stop()
	check.NoError(t, a.reopening(ctx, opening), "it is told to end")
	check.Is(t, a.reopening(ctx, func(openOptions) error { return vfs.ErrLocked }), vfs.ErrLocked, "another fault")
}
