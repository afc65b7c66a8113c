package pgvector

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"sheaf"
	"sheaf/backend"
)

// Write implements [backend.Backend].
func (s *Store) Write(ctx context.Context, batch backend.Batch) error {
	if err := s.check(&batch, nil); err != nil {
		return err
	}
	bulk, err := s.Bulk(ctx)
	if err != nil {
		return err
	}
	defer bulk.Close()
	w := bulk.(*load)
	if err := w.addParts(ctx, &batch); err != nil {
		return err
	}
	return w.Commit(ctx)
}

// Delete implements [backend.Backend].
func (s *Store) Delete(ctx context.Context, docs []sheaf.ID) error {
	return s.Write(ctx, backend.Batch{Replace: docs})
}

// Bulk implements [backend.Bulk]. A load is one transaction up to each Commit,
// and holds the lock that keeps other writers out.
func (s *Store) Bulk(ctx context.Context) (backend.BulkWriter, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	if s.o.ReadOnly {
		return nil, fmt.Errorf("postgres: %w: the store is open for reading only", sheaf.ErrUnsupported)
	}
	if err := ctx.Err(); err != nil {
		return nil, fail("begin a load", err)
	}
	select {
	case <-s.writing:
	case <-ctx.Done():
		return nil, fail("wait for another write", ctx.Err())
	}
	w := &load{s: s}
	s.mu.Lock()
	s.load = w
	s.mu.Unlock()
	return w, nil
}

// load is a bulk load; it holds Store.writing's token until Close.
type load struct {
	s *Store

	mu     sync.Mutex
	conn   *pgxpool.Conn // nil between a Commit and the next Add
	tx     pgx.Tx
	fields map[string]*field
	vector map[string]vectorTable
	ids    map[string]int32 // of the terms of the batch that is written
	fresh  map[string]int32 // terms that this transaction looked up or added
	// wordless is that the dictionary was empty, as it is before there are fields, and
	// fresh has every term.
	wordless bool
	total    struct{ chunks, vectors int64 }
	broken   error // why the transaction cannot go on
	closed   bool
}

// field is a row of the table field with what the transaction adds to it.
type field struct {
	id             int32
	fresh          bool
	chunks, tokens int64
}

var errEnded = fmt.Errorf("postgres: the load has ended: %w", sheaf.ErrUnavailable)

// check refuses what cannot be written; dims are those of vector fields that are
// known.
func (s *Store) check(batch *backend.Batch, known map[string]vectorTable) error {
	if err := batch.Validate(); err != nil {
		return err
	}
	dims := map[string]int{}
	for _, v := range s.o.Vectors {
		dims[v.Name] = v.Dims
	}
	for name, v := range known {
		dims[name] = v.Dims
	}
	for i := range batch.Chunks {
		c := &batch.Chunks[i]
		for _, f := range c.Fields {
			if !storable(f.Name) {
				return sheaf.Invalidf("write %s: field %q: names of fields must be UTF-8 without zero bytes", c.ID, f.Name)
			}
		}
		for _, v := range c.Vectors {
			if !storable(v.Name) {
				return sheaf.Invalidf("write %s: vector field %q: names of fields must be UTF-8 without zero bytes", c.ID, v.Name)
			}
		}
	}
	return batch.ValidateDims(dims, maxDims)
}

// storable reports whether PostgreSQL takes a text.
func storable(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	return !slices.Contains([]byte(s), 0)
}

// begin starts the transaction; it needs w.mu.
func (w *load) begin(ctx context.Context) error {
	conn, err := w.s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		conn.Release()
		return err
	}
	w.conn, w.tx, w.fresh, w.broken = conn, tx, map[string]int32{}, nil
	w.total.chunks, w.total.vectors = 0, 0
	if err := w.s.show(backend.WithViewer(ctx, backend.Viewer{AnyTenant: true, AnyAccess: true}), tx); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, lock, w.s.o.Schema); err != nil {
		return err
	}
	if w.vector, err = vectorFields(ctx, tx); err != nil {
		return err
	}
	w.fields = map[string]*field{}
	rows, _ := tx.Query(ctx, "SELECT id, name FROM field")
	var id int32
	var name string
	_, err = pgx.ForEachRow(rows, []any{&id, &name}, func() error { w.fields[name] = &field{id: id}; return nil })
	w.wordless = len(w.fields) == 0
	return err
}

// end gives the connection back, undoing what was not committed; it needs w.mu.
func (w *load) end() {
	if w.conn == nil {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), w.s.o.Timeout)
	defer stop()
	_ = w.tx.Rollback(ctx) // after a commit it does nothing; else the server forgets with the connection
	w.conn.Release()
	w.conn, w.tx = nil, nil
}

// Add implements [backend.BulkWriter]. Texts are analyzed before the connection is
// asked for, which takes one batch at a time. After an error of the
// server everything since the last Commit is lost, and Commit says so.
func (w *load) Add(ctx context.Context, batch backend.Batch) error {
	if err := w.s.check(&batch, nil); err != nil {
		return err
	}
	if len(batch.Replace)+len(batch.Chunks) == 0 {
		return fail("write", ctx.Err())
	}
	chunks := lastOfEqual(batch.Chunks)
	w.s.analyze(chunks)
	return w.change(ctx, &batch, func(ctx context.Context) error {
		if err := w.remove(ctx, batch.Replace, idsOf(chunks)); err != nil {
			return err
		}
		return w.put(ctx, chunks)
	})
}

// change lets f change what is stored, in the transaction, while nobody else does, with
// what is in batch, which it checks before.
func (w *load) change(ctx context.Context, batch *backend.Batch, f func(ctx context.Context) error) error {
	ctx, stop := w.s.bounded(ctx)
	defer stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return errEnded
	case w.broken != nil:
		return w.broken
	}
	err := ctx.Err()
	if err == nil && w.conn == nil {
		err = w.begin(ctx)
	}
	if err == nil {
		if err = w.s.check(batch, w.vector); err != nil {
			return err
		}
		err = f(ctx)
	}
	if err != nil {
		err = fail(fmt.Sprintf("write %d chunks", len(batch.Chunks)), err)
		w.broken = fmt.Errorf("nothing since the last commit is written, it can be repeated: %w", err)
		w.end()
	}
	return err
}

func hashes(ids []sheaf.ID) [][]byte {
	out := make([][]byte, len(ids))
	for i, id := range ids {
		h := sha256.Sum256([]byte(id))
		out[i] = h[:]
	}
	return out
}

// put writes chunks that are not there; it needs w.mu and the transaction.
func (w *load) put(ctx context.Context, chunks []analyzed) error {
	if len(chunks) == 0 {
		return nil
	}
	if err := w.intern(ctx, chunks); err != nil {
		return err
	}
	for i := range chunks {
		for _, v := range chunks[i].source.Vectors {
			if _, ok := w.vector[v.Name]; !ok {
				if err := w.s.createVectors(ctx, w.tx, backend.VectorField{Name: v.Name, Dims: len(v.Passages[0]), Model: w.s.model(v.Name)}); err != nil {
					return err
				}
				var err error
				if w.vector, err = vectorFields(ctx, w.tx); err != nil {
					return err
				}
			}
		}
	}
	var next int64
	if err := w.tx.QueryRow(ctx, "SELECT setval('chunk_ord', nextval('chunk_ord') + $1)", len(chunks)).Scan(&next); err != nil {
		return err
	}
	return w.copy(ctx, chunks, next-int64(len(chunks)))
}

func (s *Store) model(vectorField string) string {
	for _, v := range s.o.Vectors {
		if v.Name == vectorField {
			return v.Model
		}
	}
	return ""
}

// removeChunks joins, because the server plans a list of constants one by one.
const removeChunks = `DELETE FROM chunk WHERE ord IN (
	SELECT ord FROM unnest($1::bytea[]) AS gone JOIN chunk ON sha256(doc) = gone
	UNION ALL SELECT ord FROM unnest($2::bytea[]) AS gone JOIN chunk ON sha256(id) = gone) RETURNING ord, lens`

// remove deletes the chunks of documents, and those with IDs.
func (w *load) remove(ctx context.Context, docs, ids []sheaf.ID) error {
	rows, _ := w.tx.Query(ctx, removeChunks, hashes(docs), hashes(ids))
	byID := map[int32]*field{}
	for _, f := range w.fields {
		byID[f.id] = f
	}
	var ords []int64
	var ord int64
	var lens []int32
	_, err := pgx.ForEachRow(rows, []any{&ord, &lens}, func() error {
		ords = append(ords, ord)
		for i, n := range lens {
			if f := byID[int32(i+1)]; f != nil && n > 0 {
				f.chunks--
				f.tokens -= int64(n)
			}
		}
		return nil
	})
	if err != nil || len(ords) == 0 {
		return err
	}
	w.total.chunks -= int64(len(ords))
	var b pgx.Batch
	b.Queue("DELETE FROM posting WHERE chunk = ANY($1)", ords)
	b.Queue("DELETE FROM property WHERE chunk = ANY($1)", ords)
	others := 2
	if w.s.o.RowSecurity {
		b.Queue("DELETE FROM wall WHERE chunk = ANY($1)", ords)
		others++
	}
	vectors := 0
	for _, name := range slices.Sorted(maps.Keys(w.vector)) {
		b.Queue("DELETE FROM "+w.vector[name].table()+" WHERE chunk = ANY($1)", ords)
		vectors++
	}
	results := w.tx.SendBatch(ctx, &b)
	for i := range others + vectors {
		tag, err := results.Exec()
		if err != nil {
			_ = results.Close() // the first error tells
			return err
		}
		if i >= others {
			w.total.vectors -= tag.RowsAffected()
		}
	}
	return results.Close()
}

// intern sees to it that every term and field of the chunks is known.
func (w *load) intern(ctx context.Context, chunks []analyzed) error {
	w.ids = map[string]int32{}
	missing := map[string]bool{}
	w.s.mu.Lock()
	for i := range chunks {
		for j, f := range chunks[i].fields {
			if name := chunks[i].source.Fields[j].Name; w.fields[name] == nil && f.Length > 0 {
				w.fields[name] = &field{id: int32(len(w.fields) + 1), fresh: true}
			}
			for _, p := range f.Postings {
				if _, ok := w.ids[p.Term]; ok {
					continue
				}
				if id, ok := w.s.terms[p.Term]; ok {
					w.ids[p.Term] = id
				} else if id, ok := w.fresh[p.Term]; ok {
					w.ids[p.Term] = id
				} else {
					missing[p.Term] = true
				}
			}
		}
	}
	w.s.mu.Unlock()
	if len(missing) == 0 {
		return nil
	}
	texts := slices.Sorted(maps.Keys(missing))
	found := map[string]int32{}
	if !w.wordless {
		rows, _ := w.tx.Query(ctx, "SELECT id, text FROM unnest($1::text[]) AS word JOIN term ON text = word", texts)
		if err := readTerms(rows, found); err != nil {
			return err
		}
	}
	fresh := slices.DeleteFunc(texts, func(text string) bool { _, ok := found[text]; return ok })
	if err := w.addTerms(ctx, fresh, found); err != nil {
		return err
	}
	if len(w.fresh) > maxRemembered {
		clear(w.fresh)
		w.wordless = false
	}
	maps.Copy(w.ids, found)
	maps.Copy(w.fresh, found)
	return nil
}

// addTerms writes terms that are not there, in order, and adds their ids to a map. The
// lock of the writers keeps others from adding the same.
func (w *load) addTerms(ctx context.Context, texts []string, into map[string]int32) error {
	if len(texts) == 0 {
		return nil
	}
	var last int32
	err := w.tx.QueryRow(ctx, "SELECT setval(s, nextval(s) + $2)::int FROM (SELECT pg_get_serial_sequence($1, 'id')::regclass AS s) q", w.s.o.Schema+".term", len(texts)-1).Scan(&last)
	if err != nil {
		return err
	}
	var term rows
	for i, text := range texts {
		id := last - int32(len(texts)-1-i)
		into[text] = id
		term.begin(2)
		term.int32(id)
		term.bytes(text)
	}
	return term.copyTo(ctx, w.tx.Conn(), "term")
}

const termsByText = "SELECT id, text FROM term WHERE text = ANY($1)"

// lookUp adds the ids of terms to a map; terms that are not there are left out.
func lookUp(ctx context.Context, q querier, texts []string, into map[string]int32) error {
	rows, _ := q.Query(ctx, termsByText, texts)
	return readTerms(rows, into)
}

func readTerms(rows pgx.Rows, into map[string]int32) error {
	var id int32
	var text string
	_, err := pgx.ForEachRow(rows, []any{&id, &text}, func() error { into[text] = id; return nil })
	return err
}

// Commit implements [backend.BulkWriter].
func (w *load) Commit(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return errEnded
	case w.broken != nil:
		return w.broken
	case w.conn == nil:
		return fail("commit", ctx.Err())
	}
	ctx, stop := w.s.bounded(ctx)
	defer stop()
	err := w.totals(ctx)
	if err == nil {
		err = w.tx.Commit(ctx)
		if err != nil && broken(err) {
			err = fmt.Errorf("%w: the connection broke during the commit: whether it is written is not known: repeat it: %w", sheaf.ErrUnavailable, err)
		}
	}
	if err == nil {
		w.s.remember(w.fresh)
	}
	w.end()
	return fail("commit", err)
}

// totals brings the counts of fields and chunks up to date.
func (w *load) totals(ctx context.Context) error {
	var b pgx.Batch
	for _, name := range slices.Sorted(maps.Keys(w.fields)) {
		f := w.fields[name]
		switch {
		case f.fresh:
			b.Queue("INSERT INTO field VALUES ($1, $2, $3, $4)", f.id, name, f.chunks, f.tokens)
		case f.chunks != 0 || f.tokens != 0:
			b.Queue("UPDATE field SET chunks = chunks + $2, tokens = tokens + $3 WHERE id = $1", f.id, f.chunks, f.tokens)
		}
	}
	b.Queue("UPDATE total SET chunks = chunks + $1, vectors = vectors + $2, generation = generation + 1", w.total.chunks, w.total.vectors)
	return w.tx.SendBatch(ctx, &b).Close()
}

// maxRemembered bounds the terms that a store and a load keep in memory.
const maxRemembered = 1_000_000

func (s *Store) remember(terms map[string]int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.terms)+len(terms) > maxRemembered {
		clear(s.terms)
	}
	maps.Copy(s.terms, terms)
}

// Close implements [backend.BulkWriter].
func (w *load) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	w.end()
	w.s.mu.Lock()
	w.s.load = nil
	w.s.mu.Unlock()
	w.s.writing <- struct{}{}
	return nil
}
