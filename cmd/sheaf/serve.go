package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	httpdoor "sheaf/door/http"
	"sheaf/door/mcp"
	"sheaf/door/web"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/wording"
)

// serveOptions are the flags of sheaf serve. They also hold the state that stays when the index is reopened.
type serveOptions struct {
	addr    string
	hosts   []string
	origins []string
	noKeys  bool
	noWatch bool
	// readOnly forbids the server to change the index, the store or the folder of the index.
	readOnly bool
	shared   bool        // the value of --shared-statistics
	running  int         // the value of --concurrency
	server   *httpServer // nil before the server listens
}

const defaultAddr = "127.0.0.1:7333"

func (a *app) serveCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer over HTTP until Ctrl-C",
		Long: `Serves the index of the current folder, or of --in FOLDER, over HTTP and keeps it up
to date: a page to search with at /, the tools of assistants at /mcp, and an interface
for programs that /docs describes and /openapi.json defines.

Only this machine can reach it unless --addr says otherwise, and then callers need
keys: sheaf key add. Once there is a key, every caller needs one.`,
		Example: `  sheaf serve
  sheaf serve --in ~/notes --addr 127.0.0.1:8080
  curl 'http://127.0.0.1:7333/v1/search?query=undo+commit'`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.addr, "addr", defaultAddr, "listen on this HOST:PORT; port 0 takes a free one")
	f.StringSliceVar(&o.hosts, "host", nil,
		"names by which the server may be addressed, beside localhost and IP addresses")
	f.StringSliceVar(&o.origins, "origin", nil, "web pages, as https://example.org, that may ask the server")
	f.BoolVar(&o.noKeys, "without-keys", false, "let other machines in although there are no keys: everybody who can "+
		"reach the address reads everything")
	f.BoolVar(&o.shared, "shared-statistics", false, "let keys that see a part search by words in a store that counts "+
		"how rare words are in all documents only: scores tell whether hidden ones hold a word")
	f.BoolVar(&o.noWatch, "no-watch", false, "do not look for changed files")
	f.BoolVar(&o.readOnly, "read-only", false, "write nothing: serve the index as it is, take no documents, and keep "+
		"no answers to repeated requests")
	f.IntVar(&o.running, "concurrency", 0,
		"requests that work at once; 0 for 2 per processor, or 8 with a remote store or model")
	f.StringP("profile", "p", "", "ranking profile when a request names none (see: sheaf profile list)")
	addIndexFlags(f)
	return cmd
}

func (a *app) serve(cmd *cobra.Command, o serveOptions) error {
	loopback, err := isLoopback("--addr", o.addr)
	if err != nil {
		return err
	}
	if o.running < 0 {
		return sheaf.Invalidf("--concurrency is %d: must be 1 or more, or 0 for the default", o.running)
	}
	err = a.reopening(cmd.Context(), func(open openOptions) error { return a.serveIndex(cmd, open, &o, loopback) })
	if o.server != nil {
		err = errors.Join(err, o.server.close())
	}
	return err
}

// serveIndex opens the index and serves it. It returns when the command ends, or when the caller must reopen the index.
// The first call starts the server. While no index is open, the server answers "unavailable".
func (a *app) serveIndex(cmd *cobra.Command, open openOptions, o *serveOptions, loopback bool) error {
	if o.readOnly {
		open, o.noWatch = openOptions{AsIs: true}, true
	}
	s, err := a.open(cmd, open)
	if err != nil {
		return err
	}
	defer s.Close()
	if !o.readOnly {
		if err := vfs.Sweep(s.Where.Dir, vfs.UnfinishedAge); err != nil {
			s.notice("what a process left that was killed is not removed: %v", err)
		}
	}
	keys, err := s.keys()
	if err != nil {
		return err
	}
	keyed, err := keys.Any()
	if err != nil {
		return err
	}
	if !loopback && !keyed && !o.noKeys {
		return withHint(sheaf.Invalidf("%s can be reached from other machines, and there are no keys", o.addr),
			"make one with sheaf key add, or let everybody read everything with --without-keys")
	}
	first := o.server == nil
	if tree, _ := s.Place(); first && tree != "" {
		s.notice("what is served is the index of %s, not of %s alone: for one of its own: sheaf init %s", s.Where.Root,
			s.Folder, wording.ShellQuoted(s.Folder))
	}
	if first { // listen first: a server that cannot start prints no further notices
		listener, err := listen("--addr", o.addr)
		if err != nil {
			return err
		}
		o.addr, o.server = listener.Addr().String(), startServer(listener, away())
	}
	s.Answering.SharedStatistics = o.shared
	door, err := s.door()
	if err != nil {
		return err
	}
	defer func() { _ = door.Close() }() // a failed close loses no data
	unkeyed := access.Grant{}           // what callers may do while the index has no keys
	if loopback || o.noKeys {
		unkeyed = access.Unrestricted()
	}
	handler, err := httpdoor.New(httpdoor.Options{
		Collections: []*collection.Collection{door}, Keys: keys, Open: unkeyed,
		Hosts: o.hosts, Origins: o.origins, Version: readVersion().Version,
		RRF:    httpdoor.RRF{Method: s.config.HybridSearch.FusionMethod, K: s.config.HybridSearch.RRFK},
		Limits: httpdoor.Limits{Running: o.running},
		Log:    slog.New(slog.NewTextHandler(a.stderr, nil)),
	})
	if err != nil {
		return err
	}
	mountDoors(handler, door, slog.New(slog.NewTextHandler(a.stderr,
		&slog.HandlerOptions{Level: slog.LevelWarn})))

	if !o.readOnly {
		door.WillWork()
	}
	if !o.noWatch {
		door.WillWatch()
	}
	s.NoteReading(!o.noWatch)
	if o.noWatch && !o.readOnly && s.View.Chunks() == 0 {
		s.notice("nothing is indexed, and with --no-watch the server looks for no files: sheaf index makes the index, and " +
			"it is searched at once")
	}
	if o.server.setHandler(handler); first {
		fmt.Fprintf(a.stdout, "listening on http://%s\n", shownAddress(o.addr))
		if err := a.flush(); err != nil {
			return err
		}
	}
	return s.serve(cmd.Context(), o, door)
}

// serve answers requests, applies accepted changes and watches the folders. It returns when the context outer ends, or
// when the caller must reopen the index.
func (s *session) serve(outer context.Context, o *serveOptions, door *collection.Collection) error {
	group, ctx := errgroup.WithContext(outer)
	group.Go(func() error {
		if o.noWatch {
			return s.untilReplaced(ctx, door)
		}
		return s.follow(ctx, door, func(*ingest.Report, error) {})
	})
	group.Go(func() error {
		err := o.server.wait(ctx)
		if outer.Err() != nil {
			return errors.Join(err, o.server.close())
		}
		o.server.setHandler(away())
		return err
	})
	group.Go(func() error {
		if o.readOnly {
			return nil
		}
		err := door.Work(ctx)
		if vfs.Forbidden(err) && !collection.Writable(s.Where.Dir) {
			s.notice("the index cannot be written: documents that were accepted are not all found: %v", err)
			return nil // the server still answers questions
		}
		if errors.Is(err, vfs.ErrCorrupt) {
			s.notice("documents that were accepted are not all found until the index is made again: %v", err)
			return nil
		}
		return err
	})
	return group.Wait()
}

// away returns the handler to use until the index is open. The files of the page need no index.
func away() http.Handler {
	mux, page := http.NewServeMux(), web.Handler(nil, access.Grant{}, nil)
	mux.Handle("/", httpdoor.Away())
	mux.Handle("GET "+web.DocumentPath, httpdoor.Away())
	mux.Handle("GET /{$}", page)
	mux.Handle("GET /ui/", page)
	return mux
}

// mountDoors adds the web page at / and the MCP server at /mcp.
func mountDoors(handler *httpdoor.API, door *collection.Collection, log *slog.Logger) {
	page := func(grant access.Grant, admit httpdoor.Admit) http.Handler {
		return web.Handler(handler.Collection, grant, admit)
	}
	handler.Mount("/", "", page)
	handler.Mount("/ui/", "", page)
	handler.Mount(web.DocumentPath, access.ScopeSearch, page)
	handler.Mount("/mcp", access.ScopeSearch, func(grant access.Grant, admit httpdoor.Admit) http.Handler {
		return mcp.Handler(mcp.Options{Collections: []*collection.Collection{door}, Version: readVersion().Version,
			Time: httpdoor.DefaultTime, Admit: admit, Log: log}, grant)
	})
}

// isLoopback reports whether only this machine can reach a server at addr, the value of the flag.
func isLoopback(flag, addr string) (bool, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "" || strings.Contains(port, "/") {
		return false, sheaf.Invalidf("%s is %q: must be HOST:PORT, such as %s", flag, addr, defaultAddr)
	}
	if host == "localhost" {
		return true, nil
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback(), nil
}

// shownAddress returns an address that a person can open. It replaces an address that means all addresses by 127.0.0.1.
func shownAddress(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port) + ", and on every other address of this machine"
	}
	return addr
}

// listen opens a listener at addr. flag is the name of the flag with this value, for errors.
func listen(flag, addr string) (net.Listener, error) {
	listener, err := net.Listen("tcp", addr)
	var wrong *net.AddrError
	switch {
	case err == nil:
		return listener, nil
	case errors.As(err, &wrong):
		return nil, sheaf.Invalidf("%s is %q: %s: ports are 0 (a free one) to 65535", flag, addr, wrong.Err)
	}
	err = fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err)
	switch {
	case isTaken(err):
		return nil, withHint(err, "another program listens there, perhaps another sheaf: end it, or name another port "+
			"with %s, 0 for a free one", flag)
	case isForbidden(err):
		return nil, withHint(err, "this port is not for every user: name another with %s, such as %s", flag, defaultAddr)
	}
	return nil, err
}

// These limits protect the server from slow or large requests.
const (
	headTimeout  = 5 * time.Second
	bodyTimeout  = 30 * time.Second
	writeTimeout = 60 * time.Second
	idleTimeout  = 2 * time.Minute
	maxHead      = 256 << 10 // largest size of the headers of a request in bytes
)

// graceTimeout is the longest time that the server waits for running requests when it stops or replaces its handler.
const graceTimeout = 10 * time.Second

// httpServer is an HTTP server at one address. setHandler replaces its handler without closing connections.
type httpServer struct {
	server  *http.Server
	ended   chan error // holds the error that ended the server
	current atomic.Pointer[countedHandler]
}

// countedHandler is a handler that counts the requests that it is answering now.
type countedHandler struct {
	http.Handler
	running atomic.Int64
}

func startServer(listener net.Listener, handler http.Handler) *httpServer {
	s := &httpServer{ended: make(chan error, 1)}
	s.current.Store(&countedHandler{Handler: handler})
	s.server = &http.Server{
		Handler: s, ReadHeaderTimeout: headTimeout, ReadTimeout: bodyTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHead,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() { s.ended <- s.server.Serve(listener) }()
	return s
}

func (s *httpServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := s.current.Load()
	h.running.Add(1)
	defer h.running.Add(-1)
	h.ServeHTTP(w, r)
}

// setHandler replaces the handler. It waits until the previous handler has answered its requests, at most graceTimeout.
func (s *httpServer) setHandler(handler http.Handler) {
	before := s.current.Swap(&countedHandler{Handler: handler})
	for began := time.Now(); before.running.Load() > 0 && time.Since(began) < graceTimeout; {
		time.Sleep(time.Millisecond)
	}
}

// wait returns nil when ctx ends. If the server ends earlier, wait returns the server's error.
func (s *httpServer) wait(ctx context.Context) error {
	select {
	case err := <-s.ended:
		s.ended <- err
		return err
	case <-ctx.Done():
		return nil
	}
}

// close stops the server. It waits for running requests, for at most graceTimeout. A second call does nothing.
func (s *httpServer) close() error {
	grace, cancel := context.WithTimeout(context.Background(), graceTimeout)
	defer cancel()
	err := s.server.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.server.Close()
	}
	s.ended <- <-s.ended
	return err
}

// serveUntil serves until ctx ends or the server fails, and then waits for running requests.
func serveUntil(ctx context.Context, listener net.Listener, handler http.Handler) error {
	s := startServer(listener, handler)
	return errors.Join(s.wait(ctx), s.close())
}
