package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	httpdoor "sheaf/door/http"
	"sheaf/door/mcp"
	"sheaf/ingest"
	"sheaf/internal/wording"
)

func (a *app) mcpCommand() *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Let an assistant search, by the Model Context Protocol",
		Long: `Serves the folder to an assistant: on standard input and output, as assistants
start such servers, or over HTTP with --http. The folder is indexed when it is new
and kept up to date while the server runs. The tools only read.

  sheaf mcp install    writes the entry into the configuration of your assistants`,
		Example: `  sheaf mcp --in ~/notes
  sheaf mcp --in ~/notes --http 127.0.0.1:8765`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.mcp(cmd, address) },
	}
	cmd.Flags().StringVar(&address, "http", "", "serve HTTP at this address of the loopback instead, as in "+
		"127.0.0.1:8765; the path is /mcp")
	addIndexFlags(cmd.Flags())
	cmd.AddCommand(a.mcpInstallCommand())
	return cmd
}

// mcp serves the folder until the client disconnects or a signal arrives. Standard output carries only the protocol.
func (a *app) mcp(cmd *cobra.Command, address string) error {
	if address != "" {
		if loopback, err := isLoopback("--http", address); err != nil {
			return err
		} else if !loopback {
			return withHint(sheaf.Invalidf("--http is %q: must be an address of the loopback, such as 127.0.0.1:8765", address),
				"sheaf serve serves others, with keys")
		}
	}
	var served atomic.Pointer[[]*collection.Collection]
	o := mcp.Options{Now: func() []*collection.Collection { return *served.Load() }, Version: readVersion().Version,
		Log: slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	outer, stop := context.WithCancel(cmd.Context())
	defer stop()
	clients := errgroup.Group{} // a client keeps its server while the index is reopened
	serve := func(grant access.Grant) error {
		defer stop()
		if address != "" {
			return a.mcpHTTP(outer, o, grant, address)
		}
		server, err := mcp.New(o, grant)
		if err != nil {
			return err
		}
		return mcp.Stdio(outer, server, os.Stdin, os.Stdout)
	}
	err := a.reopening(outer, func(open openOptions) error {
		s, err := a.open(cmd, open)
		if err != nil {
			return err
		}
		defer s.Close()
		s.Answering.SharedStatistics = true // word rarity in the folders above is not secret
		door, err := s.door()
		if err != nil {
			return err
		}
		defer func() { _ = door.Close() }()
		s.NoteReading(true)
		door.WillWatch()
		now := []*collection.Collection{door}
		if served.Swap(&now) == nil {
			grant := access.Unrestricted()
			grant.Tree, grant.Folder = s.Place()
			o.Collections = now
			clients.Go(func() error { return serve(grant) })
		}
		err = s.follow(outer, door, func(*ingest.Report, error) {})
		if outer.Err() != nil { // running calls get their time to answer from the open index
			_ = clients.Wait() // reported below
		}
		return err
	})
	stop()
	if fault := clients.Wait(); err == nil {
		err = fault
	}
	if errors.Is(err, context.Canceled) {
		return nil // the client left, or a signal ended the command
	}
	return err
}

// mcpHTTP serves MCP over HTTP. It listens on localhost only, because every caller can read the whole folder.
func (a *app) mcpHTTP(ctx context.Context, o mcp.Options, grant access.Grant, address string) error {
	o.Time = httpdoor.DefaultTime
	mux := http.NewServeMux()
	handler := http.NewCrossOriginProtection().Handler(mcp.Handler(o, grant))
	mux.Handle("/mcp", handler)
	mux.Handle("/mcp/{$}", handler)
	listener, err := listen("--http", address)
	if err != nil {
		return err
	}
	a.notice("serving %s", wording.Clean("http://"+listener.Addr().String()+"/mcp"))
	return serveUntil(ctx, listener, mux)
}
