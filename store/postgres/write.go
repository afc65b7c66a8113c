package postgres

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"sheaf"
	"sheaf/store"
)

// Write implements [store.Backend].
func (s *Store) Write(ctx context.Context, batch store.Batch) error {
	load, err := s.Bulk(ctx)
	if err != nil {
		return err
	}
	defer load.Close()
	if err := load.Add(ctx, batch); err != nil {
		return err
	}
	return load.Commit(ctx)
}

// Bulk implements [store.Bulk]. Each Commit ends a transaction and the next Add begins one. The load keeps other
// writers of this store out until Close.
func (s *Store) Bulk(ctx context.Context) (store.BulkWriter, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	if !s.o.Access.Writes() {
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
	defer s.mu.Unlock()
	s.load = w
	return w, nil
}

// load is a bulk load. It holds the token of Store.writing until Close.
type load struct {
	s *Store

	mu           sync.Mutex // guards the fields below
	*transaction            // nil between a Commit and the next Add
	broken       error      // why the transaction cannot go on
	closed       bool
}

// transaction is the state of a load until its next Commit.
type transaction struct {
	conn *pgxpool.Conn
	tx   pgx.Tx
	// next has the chunks and the replaced documents that were added but not yet sent.
	next    part
	fields  map[string]*field
	vectors map[string]vectorTable
	dims    map[string]int   // of the vector fields, also of those in next
	terms   map[string]int32 // numbers of terms that were looked up or added
	added   struct{ chunks, vectors int64 }
}

// field is a row of the table field. chunks and tokens are what the transaction will add to it.
type field struct {
	id             int32
	fresh          bool // the table does not have the row yet
	chunks, tokens int64
}

var errEnded = fmt.Errorf("postgres: the load has ended: %w", sheaf.ErrUnavailable)

// check returns an error for a batch that the store cannot write. It does not check the dimensions of vector fields
// that the options do not name; Add does.
func (s *Store) check(batch *store.Batch) error {
	if err := batch.Validate(); err != nil {
		return err
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
	return batch.ValidateDims(store.DimsOf(s.o.Vectors), maxDims)
}

// storable reports whether PostgreSQL accepts a text.
func storable(s string) bool { return utf8.ValidString(s) && !slices.Contains([]byte(s), 0) }

// begin starts the transaction. The caller must hold w.mu.
func (w *load) begin(ctx context.Context) error {
	ctx, stop := w.s.withTimeout(ctx)
	defer stop()
	conn, err := w.s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	tx, err := conn.BeginTx(ctx, writeOptions)
	if err != nil {
		conn.Release()
		return err
	}
	w.transaction = &transaction{conn: conn, tx: tx, fields: map[string]*field{}, dims: map[string]int{},
		terms: map[string]int32{}}
	if err := w.s.show(store.WithViewer(ctx, store.Viewer{AnyTenant: true, AnyAccess: true}), tx); err != nil {
		return err
	}
	var b pgx.Batch
	b.Queue(lock, w.s.o.Schema)
	b.Queue("SELECT id, name FROM field").Query(func(rows pgx.Rows) error {
		var id int32
		var name string
		_, err := pgx.ForEachRow(rows, []any{&id, &name}, func() error { w.fields[name] = &field{id: id}; return nil })
		return err
	})
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return err
	}
	if w.vectors, err = vectorFields(ctx, tx); err != nil {
		return err
	}
	for name, v := range w.vectors {
		w.dims[name] = v.Dims
	}
	return nil
}

// end rolls back uncommitted changes and releases the connection. The caller must hold w.mu.
func (w *load) end() {
	if w.transaction == nil {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), w.s.o.Timeout)
	defer stop()
	_ = w.tx.Rollback(ctx) // no effect after a commit; otherwise the server rolls back with the connection
	w.conn.Release()
	w.transaction = nil
}

// Add implements [store.BulkWriter]. It collects small batches and sends them together. If the server fails,
// everything since the last Commit is lost, and every later call returns the error.
func (w *load) Add(ctx context.Context, batch store.Batch) error {
	if err := w.s.check(&batch); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil || len(batch.Replace)+len(batch.Chunks) == 0 {
		return fail("write", err)
	}
	add := w.s.analyze(&batch)
	w.mu.Lock()
	defer w.mu.Unlock()
	var invalid error
	err := w.change(ctx, len(add.chunks), func(ctx context.Context) error {
		dims := maps.Clone(w.dims)
		if invalid = batch.ValidateDims(dims, maxDims); invalid != nil {
			return nil
		}
		w.dims = dims
		if w.next.conflicts(&add) {
			if err := w.send(ctx); err != nil {
				return err
			}
		}
		if w.next.add(&add); w.next.full() {
			return w.send(ctx)
		}
		return nil
	})
	return cmp.Or(err, invalid)
}

// change runs f in the transaction; if there is no transaction, change begins one. An error ends the transaction. The
// message of the error has the number of chunks in w.next, or the parameter chunks if w.next is empty. The caller must
// hold w.mu.
func (w *load) change(ctx context.Context, chunks int, f func(ctx context.Context) error) error {
	switch {
	case w.closed:
		return errEnded
	case w.broken != nil:
		return w.broken
	}
	err := ctx.Err()
	if err == nil && w.transaction == nil {
		err = w.begin(ctx)
	}
	if err == nil {
		err = f(ctx)
	}
	if err != nil {
		if w.transaction != nil {
			chunks = cmp.Or(len(w.next.chunks), chunks)
		}
		err = fail(fmt.Sprintf("write %d chunks", chunks), err)
		w.broken = fmt.Errorf("nothing since the last commit was written: repeat the command: %w", err)
		w.end()
	}
	return err
}

func (w *load) Commit(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed && w.broken == nil && w.transaction == nil {
		return fail("commit", ctx.Err())
	}
	if err := w.change(ctx, 0, w.send); err != nil {
		return cmp.Or(w.broken, err)
	}
	ctx, stop := w.s.withTimeout(ctx)
	defer stop()
	told := "nothing since the last commit was written: repeat the command"
	err := w.totals(ctx)
	if err == nil {
		if err = w.tx.Commit(ctx); err != nil && broken(err) {
			told = "the connection broke during the commit: whether it is written is not known: repeat it"
		}
	}
	if err != nil {
		w.broken = fmt.Errorf("%s: %w", told, fail("commit", err))
	}
	w.end()
	return w.broken
}

// totals updates the stored counts of each field and of the whole store, at the end of a transaction.
func (w *load) totals(ctx context.Context) error {
	var ids []int32
	var names []string
	var chunks, tokens []int64
	for _, name := range slices.Sorted(maps.Keys(w.fields)) {
		if f := w.fields[name]; f.fresh || f.chunks != 0 || f.tokens != 0 {
			ids, names = append(ids, f.id), append(names, name)
			chunks, tokens = append(chunks, f.chunks), append(tokens, f.tokens)
		}
	}
	_, err := w.tx.Exec(ctx, addTotals, w.added.chunks, w.added.vectors, ids, names, chunks, tokens)
	return err
}

const addTotals = `WITH fields AS (
	INSERT INTO field SELECT * FROM unnest($3::int[], $4::text[], $5::bigint[], $6::bigint[])
	ON CONFLICT (id) DO UPDATE SET chunks = field.chunks + excluded.chunks, tokens = field.tokens + excluded.tokens)
UPDATE total SET chunks = chunks + $1::bigint, vectors = vectors + $2::bigint, generation = generation + 1`

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

// Empty implements [store.Emptier] in one transaction. The dictionary stays.
func (s *Store) Empty(ctx context.Context) error {
	bulk, err := s.Bulk(ctx)
	if err != nil {
		return err
	}
	defer bulk.Close()
	w := bulk.(*load)
	ctx, stop := s.withTimeout(ctx)
	defer stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err = w.begin(ctx); err == nil {
		names := []string{"chunk", "posting", "property"}
		if s.o.RowSecurity {
			names = append(names, "wall")
		}
		var b pgx.Batch
		b.Queue("TRUNCATE " + strings.Join(append(names, w.vectorTables()...), ", "))
		b.Queue("UPDATE field SET chunks = 0, tokens = 0")
		b.Queue("UPDATE total SET chunks = 0, vectors = 0, generation = generation + 1")
		if err = w.tx.SendBatch(ctx, &b).Close(); err == nil {
			err = w.tx.Commit(ctx)
		}
	}
	return fail("empty the schema "+s.o.Schema, err)
}

func hashes(ids []sheaf.ID) [][]byte {
	out := make([][]byte, len(ids))
	for i, id := range ids {
		h := sha256.Sum256([]byte(id))
		out[i] = h[:]
	}
	return out
}
