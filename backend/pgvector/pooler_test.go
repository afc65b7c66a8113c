package pgvector

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"sheaf"
	"sheaf/backend/backendtest"
)

// forgetful is the address of what passes everything on to the server of to but the
// setting search_path, as a pooler does that was told to ignore it.
func forgetful(t *testing.T, to string) string {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	behind := u.Host
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var connections sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); connections.Wait() })
	pass := func(client net.Conn) error {
		defer client.Close()
		message, err := pgproto3.NewBackend(client, client).ReceiveStartupMessage()
		begin, ok := message.(*pgproto3.StartupMessage)
		if err != nil || !ok {
			return err
		}
		delete(begin.Parameters, "search_path")
		hello, err := begin.Encode(nil)
		if err != nil {
			return err
		}
		server, err := net.Dial("tcp", behind)
		if err != nil {
			return err
		}
		_, err = server.Write(hello)
		connections.Go(func() { _, _ = io.Copy(client, server); _ = client.Close() })
		if err == nil {
			_, _ = io.Copy(server, client)
		}
		return errors.Join(err, server.Close())
	}
	connections.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Go(func() {
				if err := pass(client); err != nil {
					t.Error(err)
				}
			})
		}
	})
	u.Host = listener.Addr().String()
	return u.String()
}

// TestForgetfulPooler: tables are not looked for or made where a pooler's connection looks,
// and doctor says so too.
func TestForgetfulPooler(t *testing.T) {
	s := fresh(t, Options{Analyzer: backendtest.Analyzer(t, "en")})
	o := s.o
	o.Schema, o.URL = s.o.Schema+"_pooled", forgetful(t, s.o.URL)
	store, err := Open(t.Context(), o)
	if err == nil {
		_ = store.Close()
	}
	findings := Examine(t.Context(), o)
	for _, err := range []error{err, findings[len(findings)-1].Err} {
		if !errors.Is(err, sheaf.ErrUnsupported) || !strings.Contains(fmt.Sprint(err), "pooler") {
			t.Errorf("%v, want one that names the pooler", err)
		}
	}
	var made bool
	if err := s.pool.QueryRow(t.Context(), "SELECT to_regclass('public.posting') IS NOT NULL OR to_regnamespace($1) IS NOT NULL", o.Schema).Scan(&made); err != nil || made {
		t.Errorf("something was made: %v, %v", made, err)
	}
}
