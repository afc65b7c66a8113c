package pgvector

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
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
	fresh  map[string]int32 // terms that this transaction looked up or added
	// wordless is that the dictionary was empty, as it is before there are fields, and
	// fresh has every term.
	wordless bool
	// before is how many chunks there were, total what the transaction adds.
	before int64
	total  struct{ chunks, vectors int64 }
	// ord and term are the last numbers that were given away. Who writes keeps others
	// out, so numbers are counted here, and the server is told the last at the end.
	ord, term sequence
	broken    error // why the transaction cannot go on
	closed    bool
}

// sequence counts as one of the server does.
type sequence struct{ last, told int64 }

// take gives away n numbers and returns the one before them.
func (c *sequence) take(n int) int64 {
	c.last += int64(n)
	return c.last - int64(n)
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
	ctx, stop := w.s.bounded(ctx)
	defer stop()
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
	var b pgx.Batch
	b.Queue(lock, w.s.o.Schema)
	b.Queue(allVectorFields).Query(func(rows pgx.Rows) (err error) {
		w.vector, err = readVectorFields(rows)
		return err
	})
	w.fields = map[string]*field{}
	b.Queue("SELECT id, name FROM field").Query(func(rows pgx.Rows) error {
		var id int32
		var name string
		_, err := pgx.ForEachRow(rows, []any{&id, &name}, func() error { w.fields[name] = &field{id: id}; return nil })
		return err
	})
	b.Queue(`SELECT chunks, coalesce(pg_sequence_last_value('chunk_ord'), 0), coalesce(pg_sequence_last_value(pg_get_serial_sequence('term', 'id')::regclass), 0)
		FROM total`).QueryRow(func(row pgx.Row) error { return row.Scan(&w.before, &w.ord.last, &w.term.last) })
	err = tx.SendBatch(ctx, &b).Close()
	w.ord.told, w.term.told = w.ord.last, w.term.last
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
	analyzed := w.s.analyze(chunks)
	return w.change(ctx, len(batch.Chunks), &batch, func(ctx context.Context) error {
		if err := w.remove(ctx, batch.Replace, idsOf(chunks)); err != nil {
			return err
		}
		return w.put(ctx, analyzed)
	})
}

// change lets f change what is stored, in the transaction, while nobody else does. chunks
// is how many an error speaks of; batch is checked before, but for nil, which was. Each
// statement has the whole timeout.
func (w *load) change(ctx context.Context, chunks int, batch *backend.Batch, f func(ctx context.Context) error) error {
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
	if err == nil && batch != nil {
		if err := w.s.check(batch, w.vector); err != nil {
			return err
		}
	}
	if err == nil {
		err = f(ctx)
	}
	if err != nil {
		err = fail(fmt.Sprintf("write %d chunks", chunks), err)
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
func (w *load) put(ctx context.Context, p part) error {
	if len(p.chunks) == 0 {
		return nil
	}
	var encoding sync.WaitGroup
	defer encoding.Wait() // it reads what is the caller's again
	before := w.ord.take(len(p.chunks))
	t, err := w.encode(ctx, &encoding, &p, before)
	if err != nil {
		return err
	}
	if err := w.sendColumns(ctx, p.chunks, before); err != nil {
		return err
	}
	return w.sendTexts(ctx, t)
}

// makeVectors makes the tables of vector fields that are new.
func (w *load) makeVectors(ctx context.Context, chunks []analyzed) error {
	for i := range chunks {
		for _, v := range chunks[i].source.Vectors {
			if _, ok := w.vector[v.Name]; ok {
				continue
			}
			ctx, stop := w.s.bounded(ctx)
			defer stop()
			err := w.s.createVectors(ctx, w.tx, backend.VectorField{Name: v.Name, Dims: len(v.Passages[0]), Model: w.s.model(v.Name)})
			if err != nil {
				return err
			}
			if w.vector, err = vectorFields(ctx, w.tx); err != nil {
				return err
			}
		}
	}
	return nil
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
	if w.before+w.total.chunks == 0 {
		return nil
	}
	one, stop := w.s.bounded(ctx)
	defer stop()
	rows, _ := w.tx.Query(one, removeChunks, hashes(docs), hashes(ids))
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
	rest, stopRest := w.s.bounded(ctx)
	defer stopRest()
	results := w.tx.SendBatch(rest, &b)
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

// intern sees to it that every term and field of the chunks is known, and returns the
// IDs of the terms.
func (w *load) intern(ctx context.Context, p *part) ([]int32, error) {
	for i := range p.chunks {
		for j, f := range p.chunks[i].fields {
			if name := p.chunks[i].source.Fields[j].Name; w.fields[name] == nil && f.Length > 0 {
				w.fields[name] = &field{id: int32(len(w.fields) + 1), fresh: true}
			}
		}
	}
	ids := make([]int32, len(p.terms)) // 0 is none
	var missing []string
	w.s.mu.Lock()
	for i, term := range p.terms {
		id, ok := w.s.terms[term]
		if !ok {
			id, ok = w.fresh[term]
		}
		if ids[i] = id; !ok {
			missing = append(missing, term)
		}
	}
	w.s.mu.Unlock()
	if len(missing) == 0 {
		return ids, nil
	}
	slices.Sort(missing)
	found := map[string]int32{}
	if !w.wordless {
		ctx, stop := w.s.bounded(ctx)
		defer stop()
		rows, _ := w.tx.Query(ctx, "SELECT id, text FROM unnest($1::text[]) AS word JOIN term ON text = word", missing)
		if err := readTerms(rows, found); err != nil {
			return nil, err
		}
	}
	fresh := slices.DeleteFunc(missing, func(text string) bool { _, ok := found[text]; return ok })
	if err := w.addTerms(ctx, fresh, found); err != nil {
		return nil, err
	}
	if len(w.fresh) > maxRemembered {
		clear(w.fresh)
		w.wordless = false
	}
	maps.Copy(w.fresh, found)
	for i, term := range p.terms {
		if ids[i] == 0 {
			ids[i] = found[term]
		}
	}
	return ids, nil
}

// addTerms writes terms that are not there, in order, and adds their IDs to a map. The
// lock of the writers keeps others from adding the same.
func (w *load) addTerms(ctx context.Context, texts []string, into map[string]int32) error {
	id := w.term.take(len(texts))
	if w.term.last > math.MaxInt32 {
		return fmt.Errorf("%w: the dictionary has no number left for new words: fill another schema", sheaf.ErrUnsupported)
	}
	var term rows
	for _, text := range texts {
		id++
		into[text] = int32(id)
		term.begin(2)
		term.int32(int32(id))
		term.bytes(text)
	}
	for piece := range term.pieces() {
		if err := w.copyPiece(ctx, piece, "term"); err != nil {
			return err
		}
	}
	return nil
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
	if w.ord.last != w.ord.told {
		b.Queue("SELECT setval('chunk_ord', $1)", w.ord.last)
	}
	if w.term.last != w.term.told {
		b.Queue("SELECT setval(pg_get_serial_sequence('term', 'id'), $1)", w.term.last)
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
