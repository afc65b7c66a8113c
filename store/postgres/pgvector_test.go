package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/postgres"
	"sheaf/store/storetest"
)

// TestOpenRefuses checks that Open refuses bad options and explains what to do.
func TestOpenRefuses(t *testing.T) {
	o := options(t)
	o.Vectors = []store.VectorField{{Name: "body", Model: "small", Dims: 4}}
	s := stores()
	must.Do(t, s.Open(t, o).Close())
	german := storetest.Analyzer(t, "de")
	at := func(change func(*url.URL)) string {
		u := must.Get(url.Parse(o.URL))
		change(u)
		return u.String()
	}
	refused := s.Refusing(t, o)
	refused("another analyzer", func(o *postgres.Options) { o.Analyzer = german }, store.ErrMadeOtherwise,
		"made with the analyzer")
	refused("other dimensions", func(o *postgres.Options) {
		o.Vectors = []store.VectorField{{Name: "body", Model: "small", Dims: 5}}
	}, sheaf.ErrInvalid, "4 dimensions")
	refused("another model", func(o *postgres.Options) {
		o.Vectors = []store.VectorField{{Name: "body", Model: "big", Dims: 4}}
	}, sheaf.ErrInvalid, "model small")
	refused("no such database", func(o *postgres.Options) { o.URL = at(func(u *url.URL) { u.Path = "/none" }) },
		sheaf.ErrInvalid, "make the database")
	refused("no such user", func(o *postgres.Options) { o.URL = at(func(u *url.URL) { u.User = url.User("nobody") }) },
		sheaf.ErrInvalid, "check user and password")
	refused("nobody listens", func(o *postgres.Options) { o.URL = at(func(u *url.URL) { u.Host = "127.0.0.1:1" }) },
		sheaf.ErrUnavailable, "refused")
	refused("no URL", func(o *postgres.Options) { o.URL = "postgres://%zz" }, sheaf.ErrInvalid, "cannot be used")
	refused("a schema by its name", func(o *postgres.Options) { o.Schema = `x"; DROP TABLE chunk; --` }, sheaf.ErrInvalid,
		"letters")
	refused("tables of others", func(o *postgres.Options) { o.Schema = "pg_catalog" }, sheaf.ErrInvalid,
		", which holds pg_aggregate, ")
	refused("where pgvector is", func(o *postgres.Options) { o.Schema = "public" }, sheaf.ErrInvalid,
		"name another schema, as in")
	refused("nothing to read", func(o *postgres.Options) { o.Schema = "sheaf_never_made"; o.Access = store.ReadOnly },
		sheaf.ErrNotFound, "no tables")
	refused("nothing to write to", func(o *postgres.Options) { o.Schema = "sheaf_never_made"; o.Access = store.Existing },
		sheaf.ErrNotFound, "no tables")
	refused("no analyzer", func(o *postgres.Options) { o.Analyzer = nil }, sheaf.ErrInvalid, "analyzer")
	refused("too many neighbors", func(o *postgres.Options) { o.HNSW = 1000 }, sheaf.ErrInvalid, "2..100")
	o.Access = store.ReadOnly
	b := s.Open(t, o)
	defer b.Close()
	check.Is(t, b.Write(t.Context(), storetest.One("t:a", "x")), sheaf.ErrUnsupported, "write to a store open for reading")
}

// proxy passes connections on, and can cut or slow them.
type proxy struct {
	mu       sync.Mutex
	conns    []net.Conn
	cutAfter int           // bytes to the server before a connection is cut; 0 means never
	pause    time.Duration // for each 64 KiB to the server
}

// slowly is a reader that pauses after each read.
type slowly struct {
	io.Reader
	pause time.Duration
}

func (s slowly) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b[:min(len(b), 64<<10)])
	time.Sleep(s.pause * time.Duration(n) / (64 << 10))
	return n, err
}

func (p *proxy) start(t *testing.T, to string) (address string) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	t.Cleanup(func() { l.Close(); p.cut() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				return
			}
			p.mu.Lock()
			p.conns = append(p.conns, in, out)
			limit := p.cutAfter
			p.mu.Unlock()
			go func() { _, _ = io.Copy(in, out); in.Close() }()
			go func() {
				switch {
				case limit > 0:
					_, _ = io.CopyN(out, in, int64(limit))
				case p.pause > 0:
					_, _ = io.Copy(out, slowly{in, p.pause})
				default:
					_, _ = io.Copy(out, in)
				}
				out.Close()
				in.Close()
			}()
		}
	}()
	return l.Addr().String()
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

// TestCutConnections checks that a read survives a cut connection, and that a write is all or none.
func TestCutConnections(t *testing.T) {
	o := options(t)
	direct := stores().Open(t, o)
	defer direct.Close()
	must.Do(t, direct.Write(t.Context(), storetest.One("t:a", "before")))
	u := must.Get(url.Parse(o.URL))
	var p proxy
	u.Host = p.start(t, u.Host)
	o.URL = u.String()
	b := stores().Open(t, o)
	defer b.Close()
	must.Equal(t, storetest.Hits(t, b, "before"), 1, "found through the proxy")
	p.cut()
	check.Equal(t, storetest.Hits(t, b, "before"), 1, "found after a cut")
	loader := b.(store.Bulk)
	w := must.Get(loader.Bulk(t.Context()))
	must.Do(t, w.Add(t.Context(), storetest.One("t:b", "during")))
	p.cut()
	check.NoError(t, w.Add(t.Context(), storetest.One("t:c", "during")), "what waits with others to be sent")
	for range 2 {
		err := w.Commit(t.Context())
		check.That(t, errors.Is(err, sheaf.ErrUnavailable) && strings.Contains(err.Error(),
			"nothing since the last commit was written: repeat the command: postgres: write 2 chunks"),
			"commit after a cut: %v", err)
	}
	check.Is(t, w.Add(t.Context(), storetest.One("t:c", "during")), sheaf.ErrUnavailable, "add after that")
	must.Do(t, w.Close())
	check.Equal(t, storetest.Hits(t, direct, "during"), 0, "chunks of a load that was cut")
}

// TestTwoWriters checks that two stores can write by turns and see each other's changes and terms.
func TestTwoWriters(t *testing.T) {
	o := options(t)
	s := stores()
	a := s.Open(t, o)
	defer a.Close()
	b := s.Open(t, o)
	defer b.Close()
	var group sync.WaitGroup
	for i := range 10 {
		group.Go(func() {
			if err := a.Write(context.Background(),
				storetest.One(fmt.Sprintf("t:a%d", i), "shared qu"+string(rune(97+i))+"x")); err != nil {
				t.Error(err)
			}
		})
		group.Go(func() {
			if err := b.Write(context.Background(),
				storetest.One(fmt.Sprintf("t:b%d", i), "shared qu"+string(rune(97+i))+"x")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for name, st := range map[string]store.Backend{"first": a, "second": b} {
		check.Equal(t, storetest.Hits(t, st, "shared"), 20, "hits of 20 in the %s store", name)
		check.Equal(t, storetest.Hits(t, st, "quhx"), 2, "hits of 2 in the %s store", name)
	}
	st, err := a.(store.Reporter).Stats(t.Context())
	check.That(t, err == nil && st.Chunks == 20 && st.Bytes != 0, "stats: %+v, %v", st, err)
}

// TestSQL checks that the exported statements make the same tables as Open.
func TestSQL(t *testing.T) {
	o := options(t)
	o.Vectors, o.HNSW = []store.VectorField{{Name: "body", Model: "it's", Dims: 3},
		{Name: "title", Model: "wide", Dims: 2500}}, 16
	sql := must.Get(o.SQL())
	conn := must.Get(pgx.Connect(t.Context(), o.URL))
	defer conn.Close(t.Context())
	must.Get(conn.Exec(t.Context(), sql))
	o.Access = store.ReadOnly // so Open makes no tables
	must.Do(t, stores().Open(t, o).Close())
	o.Access = store.Make
	b := stores().Open(t, o)
	defer b.Close()
	batch := storetest.One("t:a", "by hand")
	batch.Chunks[0].Vectors = []store.Vectors{{Name: "body", Passages: [][]float32{{0, 1, 0}}}}
	must.Do(t, b.Write(t.Context(), batch))
	check.Equal(t, storetest.Hits(t, b, "hand"), 1, "found")
	check.Is(t, must.Err((postgres.Options{Schema: "x; --", Analyzer: storetest.Analyzer(t, "en")}).SQL()),
		sheaf.ErrInvalid, "a value that is no schema")
}

// TestMissingExtension checks the advice for a database without pgvector whose user may not install
// it.
func TestMissingExtension(t *testing.T) {
	ctx := context.Background()
	admin := must.Get(pgx.Connect(ctx, server(t)))
	defer admin.Close(ctx)
	name := fmt.Sprintf("sheaf_bare_%d", os.Getpid())
	run := func(sql string) {
		t.Helper()
		must.Get(admin.Exec(ctx, sql))
	}
	run("CREATE DATABASE " + name)
	defer run("DROP DATABASE " + name + " WITH (FORCE)")
	run("CREATE ROLE " + name + " LOGIN")
	defer run("DROP ROLE " + name)
	u := must.Get(url.Parse(server(t)))
	u.Path, u.User = "/"+name, url.User(name)
	o := postgres.Options{URL: u.String(), Schema: "notes", Analyzer: storetest.Analyzer(t, "en")}
	_, err := postgres.Open(ctx, o)
	for _, f := range postgres.Examine(ctx, o) {
		if f.Check == "extension" {
			err = errors.Join(err, f.Err)
		}
	}
	check.That(t, errors.Is(err, sheaf.ErrUnsupported) &&
		strings.Count(fmt.Sprint(err), "let an administrator run CREATE EXTENSION vector") == 2, "%v", err)
}

// TestListOnly checks listing with another analyzer, with row-level security and without.
func TestListOnly(t *testing.T) {
	for _, wall := range []bool{false, true} {
		made := options(t)
		made.RowSecurity = wall
		o := made
		o.Analyzer, o.RowSecurity, o.Access = storetest.Analyzer(t, "de"), false, store.ListOnly
		storetest.ListOnly(t, stores(), made, o)
	}
}
