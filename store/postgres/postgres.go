// Package postgres keeps chunks in PostgreSQL with the extension pgvector. Its main type is [Store].
//
// BM25 scores words over posting lists of the analyzer's own terms, so that scores equal the embedded engine's. The
// store does not use PostgreSQL's ts_rank_cd, which ignores the rarity of terms and the average length of texts. Every
// request, with its statistics, is one statement and so sees one state of the store. Vectors are compared exactly, or
// through an HNSW index with [Options.HNSW].
//
// A write is one transaction. All tables are in one schema of the database. The schema has no other tables.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"sheaf"
	"sheaf/internal/pattern"
	"sheaf/store"
	"sheaf/store/storekit"
	"sheaf/text/analysis"
)

// Options say where the store is, and how to make and use it.
type Options struct {
	// URL is a connection string of libpq: user, password, host, database, sslmode, sslrootcert and
	// so on. The usual PG variables of the environment supply what is missing.
	URL string
	// Schema is the name of the schema with the tables; "" means DefaultSchema. The name consists of lower-case
	// letters, digits and underscores.
	Schema string
	// Analyzer makes terms from texts. A store can only be opened with the analyzer that made it.
	Analyzer *analysis.Analyzer
	// Vectors are the vector fields with their models. Other fields take the dimensions of their first vector.
	Vectors []store.VectorField
	// HNSW is the number of neighbors (m, 2..100) in the HNSW index of each vector field. With 0 there is no index,
	// and a search compares every vector.
	HNSW int
	// RowSecurity adds row-level security by tenant and access list to the tables with documents: see store.Viewer.
	// Every Open of a schema must use the same value. Users with BYPASSRLS see everything.
	RowSecurity bool
	// Timeout limits every call without an earlier deadline; 0 means 30 s. In a bulk load, it limits each statement, not
	// the whole load.
	Timeout time.Duration
	// Access says whether Open may create the tables, and whether calls may write to them.
	Access store.Access
}

// DefaultSchema is the schema if the options name none.
const DefaultSchema = "sheaf"

// Store keeps chunks in tables of one schema.
type Store struct {
	o    Options
	pool *pgxpool.Pool
	// writing holds one token. A write takes the token, and puts it back when it ends.
	writing chan struct{}

	mu     sync.Mutex
	load   *load // the open load
	closed bool
}

var _ interface {
	store.Backend
	store.Bulk
	store.Explainer
	store.Streamer
	store.Counter
	store.Batcher
	store.Reporter
} = (*Store)(nil)

// Open connects to the server. If the database has no tables of a store and Options.Access allows it, Open creates
// them. Open fails with sheaf.ErrInvalid for another analyzer, other dimensions or foreign tables, or if the server
// refuses the user. It fails with sheaf.ErrUnsupported if a later version made the store, or if the server has no
// pgvector. It fails with sheaf.ErrUnavailable if the server does not answer. The message gives advice.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	config, err := o.connection()
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, sheaf.Invalidf("postgres: %w", err)
	}
	s := &Store{o: o, pool: pool, writing: make(chan struct{}, 1)}
	s.writing <- struct{}{}
	if err := s.prepare(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// connection returns the settings of the connection pool.
func (o *Options) connection() (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		// The parser's error hides the password, but may show the rest.
		return nil,
			sheaf.Invalidf("postgres: the URL cannot be used: want postgres://user@host:port/database?sslmode=...: %w", err)
	}
	path := o.Schema + ",public"
	defaults := map[string]string{
		"application_name": "sheaf",
		"search_path":      path,
		// Each statement serves one request: generic plans and compiled code cost more than they save.
		"plan_cache_mode": "force_custom_plan",
		"jit":             "off",
	}
	for name, value := range defaults {
		if name == "search_path" || config.ConnConfig.RuntimeParams[name] == "" {
			config.ConnConfig.RuntimeParams[name] = value
		}
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		var got string
		var installed *string
		if err := conn.QueryRow(ctx, "SELECT current_setting('search_path'), (SELECT extversion FROM pg_extension WHERE "+
			"extname = 'vector')", pgx.QueryExecModeExec).Scan(&got, &installed); err != nil {
			return err
		}
		if err := tooOld("installed", installed); err != nil {
			return fmt.Errorf("postgres: %w", err)
		}
		if !strings.HasPrefix(got, path) { // the store would use tables in foreign paths
			return fmt.Errorf("postgres: %w: a pooler before the server leaves out the setting search_path, which says where "+
				"the tables are: name the server itself in the address, or let the pooler pass it on", sheaf.ErrUnsupported)
		}
		_, err := conn.Exec(ctx, reachExtension)
		return err
	}
	return config, nil
}

// schemaName matches the names of schemas that a store may have.
var schemaName = pattern.Lazy(`^[a-z][a-z0-9_]{0,47}$`)

// prepare sets defaults, and returns an error for options that no server accepts.
func (o *Options) prepare() error {
	o.Schema = cmp.Or(o.Schema, DefaultSchema)
	o.Timeout = cmp.Or(o.Timeout, storekit.DefaultTimeout)
	if o.HNSW != 0 && (o.HNSW < 2 || o.HNSW > 100) {
		return sheaf.Invalidf("open postgres: hnsw is %d: must be 0 or within 2..100", o.HNSW)
	}
	if !schemaName().MatchString(o.Schema) {
		return sheaf.Invalidf("open postgres: schema %q: must be at most 48 lower-case letters, digits and underscores, a "+
			"letter first", o.Schema)
	}
	made := storekit.Options{Analyzer: o.Analyzer, Vectors: o.Vectors}
	return made.PrepareMade("postgres", maxDims)
}

// withTimeout returns a context that limits a call to Options.Timeout, and a function that releases it.
func (s *Store) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.o.Timeout)
}

var errClosed = fmt.Errorf("postgres: the store is closed: %w", sheaf.ErrUnavailable)

// open returns nil while the store is open, and errClosed after Close.
func (s *Store) open() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	return nil
}

// Close implements [store.Backend].
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return errClosed
	}
	s.closed = true
	load := s.load
	s.mu.Unlock()
	if load != nil {
		_ = load.Close() // a load that was never closed holds a connection
	}
	s.pool.Close() // waits for running calls
	return nil
}

// readAttempts is the largest number of times that read calls its function if connections break.
const readAttempts = 3

// read calls f, which must only read. If the connection breaks, as when the server restarts, it calls f again.
func (s *Store) read(ctx context.Context, what string, f func(ctx context.Context, conn *pgxpool.Conn) error) error {
	if err := s.open(); err != nil {
		return err
	}
	ctx, stop := s.withTimeout(ctx)
	defer stop()
	for attempt := 1; ; attempt++ {
		err := s.pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
			if err := s.show(ctx, conn); err != nil {
				return err
			}
			return f(ctx, conn)
		})
		if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && s.pool.Stat().AcquireCount() == 0 {
			return fmt.Errorf("postgres: %s: %w: the server at %s:%d did not answer the login in time (is that "+
				"PostgreSQL?): %w",
				what, sheaf.ErrUnavailable, s.pool.Config().ConnConfig.Host, s.pool.Config().ConnConfig.Port, ctx.Err())
		}
		if err == nil || attempt == readAttempts || ctx.Err() != nil || !broken(err) {
			return fail(what, err)
		}
		// If ctx ends meanwhile, the next attempt reports it.
		_ = storekit.Wait(ctx, attempt, time.Duration(attempt)*50*time.Millisecond)
	}
}

// Stats implements [store.Reporter].
func (s *Store) Stats(ctx context.Context) (store.Stats, error) {
	out := store.Stats{Parts: map[string]int64{}}
	err := s.read(ctx, "read the size of the store", func(ctx context.Context, conn *pgxpool.Conn) error {
		var generation int64
		if err := conn.QueryRow(ctx, "SELECT chunks, vectors, generation FROM total").Scan(&out.Chunks, &out.Vectors,
			&generation); err != nil {
			return err
		}
		out.Generation = uint64(generation)
		rows, _ := conn.Query(ctx, `SELECT relname, pg_total_relation_size(oid) FROM pg_class
			WHERE relnamespace = $1::regnamespace AND relkind = 'r'`, s.o.Schema)
		var table string
		var size int64
		_, err := pgx.ForEachRow(rows, []any{&table, &size}, func() error {
			out.Bytes += size
			out.Parts[table] += size
			return nil
		})
		return err
	})
	return out, err
}

// broken reports whether a broken connection caused the error, not the statement.
func broken(err error) bool {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		// 57P: the server is shutting down, starting up or crashed.
		return len(server.Code) == 5 && (server.Code[:3] == "57P" || server.Code[:2] == "08")
	}
	return !errors.Is(err, sheaf.ErrInvalid) && !errors.Is(err, sheaf.ErrUnsupported) // errors of this package
}
