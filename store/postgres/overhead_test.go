package postgres

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/collectiontest"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
)

// fresh returns a new, empty store, and removes it at the end of the test.
func fresh(b testing.TB, o Options) *Store {
	b.Helper()
	o.URL = os.Getenv("SHEAF_TEST_POSTGRES")
	if o.URL == "" {
		b.Skip("no PostgreSQL: SHEAF_TEST_POSTGRES is not set; see scripts/servers/postgres.sh")
	}
	o.Schema = fmt.Sprintf("sheaf_bench_%d", rand.Uint32())
	s := must.Get(Open(b.Context(), o))
	b.Cleanup(func() {
		_ = s.Close()
		if err := Drop(context.Background(), o.URL, o.Schema); err != nil {
			b.Error(err)
		}
	})
	return s
}

// statements returns the SQL and arguments for the two branches of a query.
func (s *Store) statements(ctx context.Context, words, vector store.Request) (sql [2]string, args [2][]any, err error) {
	err = s.read(ctx, "search", func(ctx context.Context, conn *pgxpool.Conn) (err error) {
		if sql[0], args[0], err = s.wordStatement(ctx, conn, &words, false); err != nil {
			return err
		}
		fields, err := vectorFields(ctx, conn)
		if err == nil {
			sql[1], args[1], err = vectorStatement(&vector, fields[vector.Vector.Field], false)
		}
		return err
	})
	return sql, args, err
}

// BenchmarkOverhead compares a whole query through the collection with the two statements of its
// branches, sent at the same time.
func BenchmarkOverhead(b *testing.B) {
	var st *Store
	f, whole := collectiontest.Searches(b, "rrf", func(o *collection.Options) {
		st = fresh(b, Options{Analyzer: o.Analyzer})
		o.Backend, o.Store = st, "PostgreSQL"
	})
	type branches struct {
		sql  [2]string
		args [2][]any
	}
	ctx := context.Background()
	plain := make([]branches, len(collectiontest.Asked))
	for i, text := range collectiontest.Asked {
		vectors, err := f.Options.Embed(ctx, []string{text})
		must.Do(b, err)
		words := storetest.Words(sheaf.Match{Text: text})
		words.Limit, words.Text.Fields[0].Weight = 50, 1
		near := store.Request{Limit: 50, Vector: &store.VectorRequest{Field: store.VectorBody, Vector: vectors[0]}}
		if plain[i].sql, plain[i].args, err = st.statements(ctx, words, near); err != nil {
			b.Fatal(err)
		}
	}
	storetest.Overhead(b, len(collectiontest.Asked), nil, whole, func(i int) error {
		var g errgroup.Group
		for leg := range 2 {
			g.Go(func() error {
				rows, err := st.pool.Query(ctx, plain[i].sql[leg], plain[i].args[leg]...)
				if err != nil {
					return err
				}
				defer rows.Close()
				for rows.Next() {
				}
				return rows.Err()
			})
		}
		return g.Wait()
	})
}

// BenchmarkBulk compares filling a schema with COPY of the same rows, in one batch or one for each document. For
// "words" the COPY also analyzes the texts first.
func BenchmarkBulk(b *testing.B) {
	collected := &storetest.Collected{}
	f := collectiontest.Open(b, collectiontest.Documentation(b), func(o *collection.Options) { o.Backend = collected })
	ctx := context.Background()
	o := Options{Analyzer: f.Options.Analyzer,
		Vectors: []store.VectorField{{Name: store.VectorBody, Dims: 64}, {Name: store.VectorTitle, Dims: 64}}}
	batch := store.Batch{Chunks: collected.Chunks}
	full := fresh(b, o)
	must.Do(b, full.Write(ctx, batch))
	tables := []string{"chunk", "term", "posting", "property", "vector_1", "vector_2", "field"}
	copies := make([][]byte, len(tables))
	conn := must.Get(full.pool.Acquire(ctx))
	for i, table := range tables {
		var rows bytes.Buffer
		must.Get(conn.Conn().PgConn().CopyTo(ctx, &rows, "COPY "+table+" TO STDOUT (FORMAT binary)"))
		copies[i] = rows.Bytes()
	}
	var counts string
	must.Do(b, conn.QueryRow(ctx, `SELECT format('UPDATE total SET chunks = %s, vectors = %s, generation = generation + 1;
		SELECT setval(''chunk_ord'', %s), setval(pg_get_serial_sequence(''term'', ''id''), %s)', chunks, vectors,
		(SELECT max(ord) FROM chunk), (SELECT max(id) FROM term)) FROM total`).Scan(&counts))
	conn.Release()
	var into *Store
	plain := func() error {
		conn, err := into.pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer conn.Release()
		tx, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		for i, table := range tables {
			if _, err := conn.Conn().PgConn().CopyFrom(ctx, bytes.NewReader(copies[i]), "COPY "+table+
				" FROM STDIN (FORMAT binary)"); err != nil {
				return err
			}
		}
		if _, err := conn.Conn().PgConn().Exec(ctx, counts).ReadAll(); err != nil {
			return err
		}
		return tx.Commit(ctx)
	}
	write := func() error { return into.Write(ctx, batch) }
	documents := func() error { return into.addDocuments(ctx, batch.Chunks) }
	// The copied rows contain analyzed words. A program that fills by COPY must analyze first.
	words := func() error {
		for i := range batch.Chunks {
			for _, f := range batch.Chunks[i].Fields {
				storekit.Analyze(o.Analyzer, f.Text)
			}
		}
		return plain()
	}
	for _, c := range []struct {
		name        string
		ours, plain func() error
	}{{"batch", write, plain}, {"documents", documents, plain}, {"batch,words", write, words},
		{"documents,words", documents, words}} {
		b.Run(c.name, func(b *testing.B) {
			var server [2]time.Duration
			timed := func(i int, f func() error) func(int) error {
				return func(int) error {
					before := serverTime(b, into)
					err := f()
					server[i] += serverTime(b, into) - before
					return err
				}
			}
			storetest.Overhead(b, 1, func() { into = fresh(b, o) }, timed(0, c.ours), timed(1, c.plain))
			if server[1] > 0 {
				b.ReportMetric(float64(server[0])/float64(server[1]), "server-ratio")
				b.ReportMetric(float64(server[1])/1e6/float64(b.N), "server-ms/plain")
			}
		})
	}
}

// addDocuments adds the documents one by one, two at the same time.
func (s *Store) addDocuments(ctx context.Context, chunks []store.Chunk) error {
	w, err := s.Bulk(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	var g errgroup.Group
	g.SetLimit(2)
	for len(chunks) > 0 {
		n := slices.IndexFunc(chunks, func(c store.Chunk) bool { return c.Doc != chunks[0].Doc })
		if n < 0 {
			n = len(chunks)
		}
		one := store.Batch{Replace: []sheaf.ID{chunks[0].Doc}, Chunks: chunks[:n]}
		chunks = chunks[n:]
		g.Go(func() error { return w.Add(ctx, one) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return w.Commit(ctx)
}
