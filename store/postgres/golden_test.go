package postgres_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/postgres"
	"sheaf/store/storetest"
)

var update = flag.Bool("update", false, "write golden files anew")

// overheard records the statements that a store sends to PostgreSQL.
type overheard struct {
	ignored    string // a setting that is removed, as some poolers do
	mu         sync.Mutex
	statements []string
}

// between starts a proxy in front of the server and returns its URL.
func (o *overheard) between(t *testing.T, address string) string {
	t.Helper()
	u := must.Get(url.Parse(address))
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	server := u.Host
	var connections sync.WaitGroup
	connections.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Go(func() { o.listen(t, client, server) })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); connections.Wait() })
	u.Host = listener.Addr().String()
	q := u.Query()
	q.Set("sslmode", "disable")
	q.Set("pool_max_conns", "1") // keeps the order of statements
	u.RawQuery = q.Encode()
	return u.String()
}

// listen passes messages on, and reads those of the client one by one.
func (o *overheard) listen(t *testing.T, client net.Conn, address string) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		t.Error(err)
		return
	}
	defer server.Close()
	var answers sync.WaitGroup
	defer answers.Wait()
	defer server.Close()
	answers.Go(func() { _, _ = io.Copy(client, server) })
	from := pgproto3.NewBackend(client, client)
	message, err := from.ReceiveStartupMessage()
	if begin, ok := message.(*pgproto3.StartupMessage); ok {
		delete(begin.Parameters, o.ignored)
	}
	for err == nil {
		switch m := message.(type) {
		case *pgproto3.Parse:
			o.hear(m.Query)
		case *pgproto3.Query:
			o.hear(m.String)
		}
		var bytes []byte
		if bytes, err = message.Encode(nil); err == nil {
			_, err = server.Write(bytes)
		}
		if err == nil {
			message, err = from.Receive()
		}
	}
}

func (o *overheard) hear(statement string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.statements = append(o.statements, strings.TrimSpace(statement))
}

// take returns the statements since the last call.
func (o *overheard) take() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer func() { o.statements = nil }()
	return slices.Clone(o.statements)
}

// TestStatements compares the SQL with golden files: the schema, a batch, joined branches, and deletion. It searches
// with each feature, exactly and with the graph. Statements that the connection has prepared before are not sent
// again, so the files do not repeat them.
func TestStatements(t *testing.T) {
	for name, hnsw := range map[string]int{"exact": 0, "hnsw": 16} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			var heard overheard
			o.URL, o.HNSW, o.RowSecurity = heard.between(t, o.URL), hnsw, true
			var out strings.Builder
			note := func(about string, err error) {
				t.Helper()
				must.That(t, err == nil || errors.Is(err, sheaf.ErrUnsupported), "%s: %v", about, err)
				fmt.Fprintf(&out, "# %s\n", about)
				for _, statement := range heard.take() {
					fmt.Fprintf(&out, "%s;\n", strings.ReplaceAll(statement, o.Schema, "golden"))
				}
				if err != nil {
					fmt.Fprintf(&out, "-- %v\n", err)
				}
				out.WriteByte('\n')
			}
			s, err := postgres.Open(t.Context(), o)
			note("open", err)
			defer s.Close()
			note("write", s.Write(t.Context(), storetest.Library()))
			for _, r := range storetest.Requests() {
				_, err := s.Retrieve(t.Context(), r.Request)
				note(r.Name, err)
			}
			_, err = s.Count(t.Context(), storetest.Words(sheaf.Match{Text: "tea"}))
			note("count", err)
			note("delete", s.Write(t.Context(), store.Batch{Replace: []sheaf.ID{"notes:a.md"}}))
			storetest.Golden(t, filepath.Join("testdata", name+".sql"), out.String(), *update)
		})
	}
}
