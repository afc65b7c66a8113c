package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
	"sheaf/door/mcp"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

// pipes is a listener in memory. A fake clock waits for its connections.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// slowStore answers after a delay. If heeds is set, cancellation ends the delay early.
type slowStore struct {
	store.Backend
	takes time.Duration
	heeds bool
	asked chan struct{}
}

func (b *slowStore) Retrieve(ctx context.Context, r store.Request) (sheaf.Ranking, error) {
	select {
	case b.asked <- struct{}{}:
	default:
	}
	var gone <-chan struct{}
	if b.heeds {
		gone = ctx.Done()
	}
	select {
	case <-time.After(b.takes):
		return b.Backend.Retrieve(context.WithoutCancel(ctx), r)
	case <-gone:
		return sheaf.Ranking{}, ctx.Err()
	}
}

// TestStoppedHTTPServerAnswersRunningCall checks that a stopped MCP server over HTTP answers the running call
// or reports its timeout. A store that ignores cancellation loses its connection after the grace
// period. The server refuses new connections meanwhile.
func TestStoppedHTTPServerAnswersRunningCall(t *testing.T) {
	const stopped = 3 * time.Second // after the call began
	for name, c := range map[string]struct {
		takes time.Duration
		heeds bool
		ends  time.Duration // after the call began
		want  string        // "" for a connection that ends
	}{
		"answered in time":  {takes: 7 * time.Second, heeds: true, ends: 7 * time.Second, want: "move the branch"},
		"too late":          {takes: time.Hour, heeds: true, ends: 9 * time.Second, want: "it took more than 10s"},
		"a store like that": {takes: time.Hour, ends: stopped + graceTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			b := &slowStore{takes: c.takes, heeds: c.heeds}
			f := collectiontest.Open(t, map[string]string{"git.md": "# Git\n\n## Undo a commit\n\nTo undo a commit, move the " +
				"branch back.\n"}, func(o *collection.Options) { b.Backend, o.Backend = o.Backend, b })
			synctest.Test(t, func(t *testing.T) {
				b.asked = make(chan struct{}, 1)
				h := mcp.Handler(mcp.Options{Collections: []*collection.Collection{f.Collection}, Version: "test",
					Time: httpdoor.DefaultTime}, access.Unrestricted())
				p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				ended := make(chan error, 1)
				go func() { ended <- serveUntil(ctx, p, h) }()
				client := &http.Client{Transport: &http.Transport{DialContext: p.dial}}
				call := func() (string, error) {
					req, err := http.NewRequest(http.MethodPost, "http://localhost/mcp",
						strings.NewReader(
							`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"undo commit"}}}`))
					if err != nil {
						return "", err
					}
					req.Header.Set("Content-Type", "application/json")
					req.Header.Set("Accept", "application/json, text/event-stream")
					res, err := client.Do(req)
					if err != nil {
						return "", err
					}
					defer func() { _ = res.Body.Close() }()
					body, err := io.ReadAll(res.Body)
					return string(body), err
				}
				began := time.Now()
				var text string
				var fault error
				answered := make(chan struct{})
				go func() {
					text, fault = call()
					check.Equal(t, time.Since(began), c.ends, "time until the end")
					close(answered)
				}()
				<-b.asked
				time.Sleep(stopped)
				stop()
				synctest.Wait()
				check.Is(t, must.Err(call()), net.ErrClosed, "a call while it ends")
				<-answered
				check.That(t, (c.want != "" || fault != nil) && (c.want == "" || fault == nil && strings.Contains(text, c.want)),
					"%v %s, want %q", fault, text, c.want)
				check.NoError(t, <-ended, "the server")
				client.CloseIdleConnections()
				time.Sleep(2 * time.Hour) // lets the store that ignores cancellation end
			})
		})
	}
}
