package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/postgres"
	"sheaf/store/storetest"
)

// stored returns all rows of a schema. IDs, words and names replace the numbers of rows, because
// numbers depend on the order of writing. It also checks that the stored counts equal the numbers
// of rows.
func stored(t *testing.T, url, schema string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	must.Do(t, err)
	defer conn.Close(t.Context())
	must.Get(conn.Exec(t.Context(), "SET search_path = "+schema+", public"))
	sql := `SELECT format('chunk %s of %s, %s, lengths %s', id, doc, fields,
			(SELECT array_agg(format('%s %s', name, lens[field.id]) ORDER BY name)
			FROM field WHERE lens[field.id] > 0)) FROM chunk
		UNION ALL SELECT format('posting %s %s in %s: %s %s %s', term.text, field.name, chunk.id, tf, len, pos)
			FROM posting LEFT JOIN term ON term.id = term LEFT JOIN field ON field.id = field LEFT JOIN chunk ON ord = chunk
		UNION ALL SELECT format('property of %s: %s %s %s %s', chunk.id, name, kind, text, number)
			FROM property LEFT JOIN chunk ON ord = chunk
		UNION ALL SELECT format('field %s %s %s', name, chunks, tokens) FROM field WHERE chunks > 0
		UNION ALL SELECT format('total %s %s', chunks, vectors) FROM total`
	rows, _ := conn.Query(t.Context(), "SELECT id, name FROM vector_field")
	var id int
	var name string
	vectors := []string{"SELECT 1 WHERE false"}
	_, err = pgx.ForEachRow(rows, []any{&id, &name}, func() error {
		sql += fmt.Sprintf(" UNION ALL SELECT format('vector %s of %%s: %%s %%s', chunk.id, passage, v) FROM vector_%d "+
			"LEFT JOIN chunk ON ord = chunk", name, id)
		vectors = append(vectors, fmt.Sprintf("SELECT 1 FROM vector_%d", id))
		return nil
	})
	must.Do(t, err)
	rows, _ = conn.Query(t.Context(), `SELECT format('field %s', name) FROM field
		WHERE chunks <> (SELECT count(*) FROM chunk WHERE lens[field.id] > 0)
		OR tokens <> (SELECT coalesce(sum(lens[field.id]), 0) FROM chunk)
		UNION ALL SELECT 'total' FROM total WHERE chunks <> (SELECT count(*) FROM chunk)
		OR vectors <> (SELECT count(*) FROM (`+strings.Join(vectors, " UNION ALL ")+`) passages)`)
	miscounted, err := pgx.CollectRows(rows, pgx.RowTo[string])
	check.That(t, err == nil && len(miscounted) <= 0, "counted otherwise than there are rows: %q, %v", miscounted, err)
	rows, _ = conn.Query(t.Context(), sql)
	out := must.Get(pgx.CollectRows(rows, pgx.RowTo[string]))
	slices.Sort(out)
	return out
}

// randomDocuments returns batches of one document each, some with very many chunks, with columns
// and vectors. Some batches replace documents of earlier ones.
func randomDocuments(r *rand.Rand) []store.Batch {
	var out []store.Batch
	for range 30 + r.IntN(80) {
		doc := sheaf.ID(fmt.Sprintf("t:%d", r.IntN(100)))
		n := r.IntN(12)
		if r.IntN(30) == 0 {
			n = 300 + r.IntN(500)
		}
		batch := store.Batch{Replace: []sheaf.ID{doc}}
		if n > 0 && r.IntN(3) == 0 {
			batch.Replace = nil // chunks with the same IDs are replaced all the same
		}
		for i := range n {
			var words []string
			for range r.IntN(20) {
				words = append(words, fmt.Sprintf("w%d", int(r.ExpFloat64()*40)))
			}
			c := storetest.Chunk(fmt.Sprintf("%s#%d", doc, i), sheaf.FieldBody, strings.Join(words, " "))
			if r.IntN(3) > 0 {
				c.Fields = append(c.Fields, store.Field{Name: fmt.Sprintf("f%d", r.IntN(3)), Text: "title " +
					strings.Join(words[:len(words)/2], " ")})
			}
			c.Columns = []store.Column{
				{Name: sheaf.ColumnAccess, Values: []sheaf.Value{sheaf.TextValue(fmt.Sprintf("team%d", r.IntN(5)))}},
				{Name: "n", Values: []sheaf.Value{sheaf.NumberValue(float64(r.IntN(1000)))}},
			}
			for v := range r.IntN(3) {
				one := store.Vectors{Name: fmt.Sprintf("v%d", v)}
				for range 1 + r.IntN(3) {
					p := make([]float32, 3+v)
					p[r.IntN(len(p))] = 1
					one.Passages = append(one.Passages, p)
				}
				c.Vectors = append(c.Vectors, one)
			}
			batch.Chunks = append(batch.Chunks, c)
		}
		out = append(out, batch)
	}
	return out
}

// TestLoadEqualsWrites checks that a load stores the same rows as single writes. The schema is empty or
// filled, with row-level security or without.
func TestLoadEqualsWrites(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 7))
		var got [2][]string
		documents := [][]store.Batch{randomDocuments(r), randomDocuments(r)}
		for way := range got {
			o := options(t)
			o.RowSecurity = seed%3 == 2
			s := stores().Open(t, o)
			for _, list := range documents {
				if way == 0 {
					for _, batch := range list {
						must.Do(t, s.Write(t.Context(), batch))
					}
					continue
				}
				load := must.Get(s.(store.Bulk).Bulk(t.Context()))
				// One goroutine sends all batches of a document, in order. The group cancels its
				// context at the end; the load must still send what Add accepted.
				group, ctx := errgroup.WithContext(t.Context())
				for i := range 3 {
					group.Go(func() error {
						for _, batch := range list {
							doc := slices.Concat(batch.Replace, []sheaf.ID{""})[0]
							if doc == "" {
								doc = batch.Chunks[0].Doc
							}
							if int(doc[len(doc)-1])%3 != i {
								continue
							}
							if err := load.Add(ctx, batch); err != nil {
								return err
							}
							for _, c := range batch.Chunks { // the caller may change vectors after Add
								for _, v := range c.Vectors {
									for _, p := range v.Passages {
										defer func(was []float32) { copy(p, was) }(slices.Clone(p))
										clear(p)
									}
								}
							}
						}
						return nil
					})
				}
				must.Do(t, group.Wait())
				must.Do(t, load.Commit(t.Context()))
				must.Do(t, load.Close())
			}
			got[way] = stored(t, o.URL, o.Schema)
			must.Do(t, s.Close())
		}
		if slices.Equal(got[0], got[1]) {
			continue
		}
		for i := range min(len(got[0]), len(got[1])) {
			must.Equal(t, got[0][i], got[1][i], "seed %d: written one by one, and loaded", seed)
		}
		t.Fatalf("seed %d: written one by one there are %d rows, loaded %d", seed, len(got[0]), len(got[1]))
	}
}

// TestLoadWithCutConnection checks a load whose connection is cut: a call fails, nothing is written, and repeating
// works.
func TestLoadWithCutConnection(t *testing.T) {
	documents := randomDocuments(rand.New(rand.NewPCG(1, 2)))
	add := func(s store.Backend) error {
		load, err := s.(store.Bulk).Bulk(t.Context())
		if err != nil {
			return err
		}
		defer load.Close()
		for _, batch := range documents {
			if err := load.Add(t.Context(), batch); err != nil {
				return err
			}
		}
		return load.Commit(t.Context())
	}
	o := options(t)
	direct := stores().Open(t, o)
	defer direct.Close()
	u := must.Get(url.Parse(o.URL))
	server := u.Host
	for after := 5_000; after < 700_000; after = after * 3 / 2 {
		p := proxy{cutAfter: after}
		u.Host = p.start(t, server)
		through := o
		through.URL = u.String()
		s, err := postgres.Open(t.Context(), through)
		must.Do(t, err)
		err = add(s)
		stats, failed := direct.(store.Reporter).Stats(t.Context())
		check.That(t, errors.Is(err, sheaf.ErrUnavailable) && strings.Contains(fmt.Sprint(err), "repeat") &&
			failed == nil && stats.Chunks == 0,
			"cut after %d bytes: %v; %d chunks are written, %v", after, err, stats.Chunks, failed)
		must.Do(t, s.Close())
	}
	check.NoError(t, add(direct), "repeated")
}

// TestLoadIsCanceled checks that canceling the context of a call that sends ends the load, with that
// error.
func TestLoadIsCanceled(t *testing.T) {
	o := options(t)
	o.URL = slow(t, o.URL, 50*time.Millisecond)
	s := stores().Open(t, o)
	defer s.Close()
	load := must.Get(s.(store.Bulk).Bulk(t.Context()))
	defer load.Close()
	passages := make([][]float32, 5_000)
	for i := range passages {
		passages[i] = make([]float32, 256)
		passages[i][i%256] = 1
	}
	batch := storetest.One("t:big", "x")
	batch.Chunks[0].Vectors = []store.Vectors{{Name: "body", Passages: passages}}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	check.Is(t, load.Add(ctx, batch), context.Canceled, "canceled while it sends")
	check.Fails(t, load.Commit(t.Context()), context.Canceled,
		"nothing since the last commit was written", "commit after that")
}

// TestOtherIsolation checks that a writer that waited for another sees the other's changes, even if
// the database makes transactions serializable.
func TestOtherIsolation(t *testing.T) {
	o := options(t)
	o.URL = saying(t, o.URL, "default_transaction_isolation", "serializable")
	first, second := stores().Open(t, o), stores().Open(t, o)
	defer first.Close()
	defer second.Close()
	load := must.Get(first.(store.Bulk).Bulk(t.Context()))
	defer load.Close()
	must.Do(t, load.Add(t.Context(), storetest.One("t:a", "stone river")))
	var group errgroup.Group
	group.Go(func() error { return second.Write(t.Context(), storetest.One("t:b", "stone meadow")) })
	time.Sleep(200 * time.Millisecond) // time for the second writer to start waiting
	must.Do(t, errors.Join(load.Commit(t.Context()), load.Close(), group.Wait()))
	check.Equal(t, storetest.Hits(t, first, "stone"), 2, "found")
}
