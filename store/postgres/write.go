package postgres

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"sheaf"
	"sheaf/store"
)

// Write implements [store.Backend].
func (s *Store) Write(ctx context.Context, batch store.Batch) error {
	if err := s.check(&batch); err != nil {
		return err
	}
	bulk, err := s.Bulk(ctx)
	if err != nil {
		return err
	}
	defer bulk.Close()
	w := bulk.(*load)
	for more := true; more; {
		// While the server stores a part, this program prepares the next.
		part := store.Batch{Replace: batch.Replace, Chunks: batch.Chunks[:min(firstPart, len(batch.Chunks))]}
		if err := w.add(ctx, &part, lastOfEqual(part.Chunks)); err != nil {
			return err
		}
		batch.Replace, batch.Chunks = nil, batch.Chunks[len(part.Chunks):]
		more = len(batch.Chunks) > 0
	}
	return w.Commit(ctx)
}

// Delete implements [store.Backend].
func (s *Store) Delete(ctx context.Context, docs []sheaf.ID) error {
	return s.Write(ctx, store.Batch{Replace: docs})
}

// Bulk implements [store.Bulk]. A load is one transaction until each Commit; it holds the lock that
// excludes other writers.
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
	s.load = w
	s.mu.Unlock()
	return w, nil
}

// load is a bulk load; it holds Store.writing's token until Close.
type load struct {
	s *Store

	// gathering guards next, which Add fills while the queue sends.
	gathering sync.Mutex
	next      waiting

	// mu guards the fields below; its holder prepares tasks. Lock it before gathering.
	mu           sync.Mutex
	*transaction       // nil between a Commit and the next Add
	sending      int   // chunks, for the error message
	broken       error // why the transaction cannot go on
	closed       bool
}

// transaction is the state of a load until its next Commit.
type transaction struct {
	conn *pgxpool.Conn
	tx   pgx.Tx
	// queue sends the prepared tasks. Only its tasks use the connection and removed, until it
	// settles.
	queue   *queue
	removed removed

	fields map[string]*field
	vector map[string]vectorTable
	terms  newTerms
	ord    sequence // numbers of chunks
	added  struct{ chunks, vectors int64 }
	seen   seenIDs
}

// newTerms are the terms that a transaction looked up or added.
type newTerms struct {
	place uint32 // of the tables
	ids   map[string]int32
	// all means that the dictionary was empty before the first field; then ids has every term.
	all     bool
	numbers sequence
}

// seenIDs has the hashes of the IDs of documents and chunks that a transaction writes to an empty
// schema. For new IDs it then needs no deletion.
type seenIDs struct {
	hashes map[uint64]struct{} // nil when the schema had chunks, or these are too many
	seed   maphash.Seed
}

// removed counts the chunks, vectors and fields that a transaction removed.
type removed struct {
	chunks, vectors int64
	fields          map[int32]field
}

// sequence counts like a sequence of the server. Only one writer runs, so numbers are counted here and
// sent to the server at the end.
type sequence struct{ last, told int64 }

// take reserves n numbers and returns the number before them.
func (c *sequence) take(n int) int64 {
	c.last += int64(n)
	return c.last - int64(n)
}

// field is a row of the table field with the numbers that the transaction adds to it.
type field struct {
	id             int32
	fresh          bool
	chunks, tokens int64
}

var errEnded = fmt.Errorf("postgres: the load has ended: %w", sheaf.ErrUnavailable)

// check refuses batches that cannot be written. checkDims checks the dimensions of fields that the
// options do not name.
func (s *Store) check(batch *store.Batch) error {
	if err := batch.Validate(); err != nil {
		return err
	}
	dims := store.DimsOf(s.o.Vectors)
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

// checkDims refuses vectors whose dimensions differ from those of their field. It does not repeat
// the tests of check, because other calls of Add may wait.
func (w *waiting) checkDims(batch *store.Batch) error {
	return batch.ValidateDims(maps.Clone(w.dims), maxDims)
}

// storable reports whether PostgreSQL accepts a text.
func storable(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	return !slices.Contains([]byte(s), 0)
}

// begin starts the transaction; it requires w.mu.
func (w *load) begin(ctx context.Context) error {
	ctx, stop := w.s.bounded(ctx)
	defer stop()
	conn, err := w.s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	tx, err := conn.BeginTx(ctx, writing)
	if err != nil {
		conn.Release()
		return err
	}
	w.transaction, w.broken = &transaction{conn: conn, tx: tx, removed: removed{fields: map[int32]field{}},
		fields: map[string]*field{}, terms: newTerms{ids: map[string]int32{}}}, nil
	if err := w.s.show(store.WithViewer(ctx, store.Viewer{AnyTenant: true, AnyAccess: true}), tx); err != nil {
		return err
	}
	var b pgx.Batch
	b.Queue(lock, w.s.o.Schema)
	b.Queue(allVectorFields).Query(func(rows pgx.Rows) (err error) {
		w.vector, err = readVectorFields(rows)
		return err
	})
	b.Queue("SELECT id, name FROM field").Query(func(rows pgx.Rows) error {
		var id int32
		var name string
		_, err := pgx.ForEachRow(rows, []any{&id, &name}, func() error { w.fields[name] = &field{id: id}; return nil })
		return err
	})
	chunks := 0
	// Not pg_sequence_last_value: it is null for a user who may not read a sequence, and numbers
	// would repeat.
	b.Queue(`SELECT chunks, (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM chunk_ord),
		(SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM term_id_seq), tableoid FROM total`).QueryRow(
		func(row pgx.Row) error { return row.Scan(&chunks, &w.ord.last, &w.terms.numbers.last, &w.terms.place) })
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return err
	}
	w.s.moved(w.terms.place) // valid until the transaction ends, because it holds the tables
	w.ord.told, w.terms.numbers.told = w.ord.last, w.terms.numbers.last
	w.terms.all = len(w.fields) == 0
	if chunks == 0 {
		w.seen = seenIDs{map[uint64]struct{}{}, maphash.MakeSeed()}
	}
	w.gathering.Lock()
	defer w.gathering.Unlock()
	w.next = waiting{dims: map[string]int{}}
	for name, v := range w.vector {
		w.next.dims[name] = v.Dims
	}
	w.queue = newQueue(ctx)
	return nil
}

// end rolls back uncommitted changes and returns the connection; it requires w.mu.
func (w *load) end() {
	if w.transaction == nil {
		return
	}
	if w.queue != nil {
		w.queue.stop()
	}
	ctx, stop := context.WithTimeout(context.Background(), w.s.o.Timeout)
	defer stop()
	_ = w.tx.Rollback(ctx) // no effect after a commit; otherwise the server rolls back with the connection
	w.conn.Release()
	w.transaction = nil
	w.gathering.Lock()
	defer w.gathering.Unlock()
	w.next = waiting{}
}

// Add implements [store.BulkWriter]. Small batches wait for others and are sent together. After an
// error of the server everything since the last Commit is lost, and the next call returns that
// error.
func (w *load) Add(ctx context.Context, batch store.Batch) error {
	if err := w.s.check(&batch); err != nil {
		return err
	}
	return w.add(ctx, &batch, kept(lastOfEqual(batch.Chunks)))
}

// add adds a checked batch; chunks are the last of equal ones in it.
func (w *load) add(ctx context.Context, batch *store.Batch, chunks []analyzed) error {
	if err := ctx.Err(); err != nil || len(batch.Replace)+len(batch.Chunks) == 0 {
		return fail("write", err)
	}
	chunks = w.s.analyze(chunks)
	for {
		n, err := w.gather(batch, chunks)
		switch {
		case err != nil:
			return err
		case n >= maxPart, n >= firstPart && w.lockIdle():
			if n >= maxPart {
				w.mu.Lock()
			}
			defer w.mu.Unlock()
			return w.change(ctx, w.flush)
		case n > 0:
			return nil
		}
		w.mu.Lock()
		w.sending = len(chunks) // in case the transaction does not begin
		err = w.change(ctx, w.flush)
		w.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// lockIdle locks w.mu if no task waits for the server. Then it is time to prepare the next part.
func (w *load) lockIdle() bool {
	if !w.mu.TryLock() {
		return false
	}
	if w.transaction != nil && w.queue != nil && len(w.queue.tasks) > 0 {
		w.mu.Unlock()
		return false
	}
	return true
}

// change runs f in the transaction, without other writers. It may return before the queue has sent
// everything. Each statement has the whole timeout. It requires w.mu.
func (w *load) change(ctx context.Context, f func(ctx context.Context) error) error {
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
		cancel := w.queue.cancel
		stop := context.AfterFunc(ctx, func() { cancel(ctx.Err()) })
		err = f(ctx)
		stop()
	}
	if err != nil {
		if w.transaction != nil && w.queue != nil {
			w.sending = cmp.Or(w.queue.failed(), w.sending)
		}
		err = fail(fmt.Sprintf("write %d chunks", w.sending), err)
		w.broken = fmt.Errorf("nothing since the last commit is written, it can be repeated: %w", err)
		w.end()
	}
	return err
}

// flush prepares the waiting batches for sending; it requires w.mu and the transaction. Meanwhile
// the queue sends earlier tasks.
func (w *load) flush(context.Context) error {
	w.gathering.Lock()
	next := w.next
	w.next = waiting{dims: next.dims}
	w.gathering.Unlock()
	w.sending = len(next.chunks)
	if len(next.replace)+len(next.chunks) == 0 {
		return nil
	}
	if err := w.remove(next.replace, next.chunks); err != nil || len(next.chunks) == 0 {
		return err
	}
	before := w.ord.take(len(next.chunks))
	if err := w.sendColumns(next.chunks, before); err != nil {
		return err
	}
	return w.sendTexts(&next.part, before)
}

// put queues work for the server.
func (w *load) put(run func(ctx context.Context) error) error {
	return w.queue.put(task{w.sending, run})
}

// ask queues work for the server and waits until it is done.
func (w *load) ask(run func(ctx context.Context) error) error {
	if err := w.put(run); err != nil {
		return err
	}
	return w.queue.settle()
}

func hashes(ids []sheaf.ID) [][]byte {
	out := make([][]byte, len(ids))
	for i, id := range ids {
		h := sha256.Sum256([]byte(id))
		out[i] = h[:]
	}
	return out
}

// makeVectors creates the tables of new vector fields.
func (w *load) makeVectors(chunks []analyzed) error {
	for i := range chunks {
		for _, v := range chunks[i].source.Vectors {
			if _, ok := w.vector[v.Name]; ok {
				continue
			}
			err := w.ask(func(ctx context.Context) error {
				ctx, stop := w.s.bounded(ctx)
				defer stop()
				err := w.s.createVectors(ctx, w.tx, store.VectorField{Name: v.Name, Dims: len(v.Passages[0]),
					Model: w.s.model(v.Name)})
				if err == nil {
					w.vector, err = vectorFields(ctx, w.tx)
				}
				return err
			})
			if err != nil {
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

// removeChunks uses a join, because the server plans each constant of a list separately.
const removeChunks = `DELETE FROM chunk WHERE ord IN (
	SELECT ord FROM unnest($1::bytea[]) AS gone JOIN chunk ON sha256(doc) = gone
	UNION ALL SELECT ord FROM unnest($2::bytea[]) AS gone JOIN chunk ON sha256(id) = gone) RETURNING ord, lens`

// unseen reports whether the store cannot have anything of documents and chunks yet, and records
// the chunks. Two IDs with the same hash only cost a query.
func (w *load) unseen(docs []sheaf.ID, chunks []analyzed) bool {
	if w.seen.hashes == nil {
		return false
	}
	key := func(kind string, id sheaf.ID) uint64 {
		return maphash.Comparable(w.seen.seed, [2]string{kind, string(id)})
	}
	unseen := true
	for _, doc := range docs {
		_, there := w.seen.hashes[key("doc", doc)]
		unseen = unseen && !there
	}
	for i := range chunks {
		id := key("chunk", chunks[i].source.ID)
		_, there := w.seen.hashes[id]
		unseen = unseen && !there
		w.seen.hashes[id] = struct{}{}
		w.seen.hashes[key("doc", chunks[i].source.Doc)] = struct{}{}
	}
	if len(w.seen.hashes) > maxRemembered {
		w.seen.hashes = nil
	}
	return unseen
}

// remove deletes the chunks of documents, and those with the IDs of chunks.
func (w *load) remove(docs []sheaf.ID, chunks []analyzed) error {
	if w.unseen(docs, chunks) {
		return nil
	}
	ofDocs, ofChunks := hashes(docs), hashes(idsOf(chunks))
	var vectors []string // the tables of vector fields
	for _, name := range slices.Sorted(maps.Keys(w.vector)) {
		vectors = append(vectors, w.vector[name].table())
	}
	return w.put(func(ctx context.Context) error {
		return w.removeNow(ctx, ofDocs, ofChunks, vectors)
	})
}

// removeNow deletes the chunks of documents and those with the IDs that have these hashes.
func (w *load) removeNow(ctx context.Context, docs, chunks [][]byte, vectors []string) error {
	one, stop := w.s.bounded(ctx)
	defer stop()
	rows, _ := w.tx.Query(one, removeChunks, docs, chunks)
	var ords []int64
	var ord int64
	var lens []int32
	_, err := pgx.ForEachRow(rows, []any{&ord, &lens}, func() error {
		ords = append(ords, ord)
		for i, n := range lens {
			if n > 0 {
				f := w.removed.fields[int32(i+1)]
				f.chunks, f.tokens = f.chunks+1, f.tokens+int64(n)
				w.removed.fields[int32(i+1)] = f
			}
		}
		return nil
	})
	if err != nil || len(ords) == 0 {
		return err
	}
	w.removed.chunks += int64(len(ords))
	var b pgx.Batch
	b.Queue("DELETE FROM posting WHERE chunk = ANY($1)", ords)
	b.Queue("DELETE FROM property WHERE chunk = ANY($1)", ords)
	others := 2
	if w.s.o.RowSecurity {
		b.Queue("DELETE FROM wall WHERE chunk = ANY($1)", ords)
		others++
	}
	for _, table := range vectors {
		b.Queue("DELETE FROM "+table+" WHERE chunk = ANY($1)", ords)
	}
	rest, stopRest := w.s.bounded(ctx)
	defer stopRest()
	results := w.tx.SendBatch(rest, &b)
	for i := range others + len(vectors) {
		tag, err := results.Exec()
		if err != nil {
			_ = results.Close() // the first error counts
			return err
		}
		if i >= others {
			w.removed.vectors += tag.RowsAffected()
		}
	}
	return results.Close()
}

// intern gives the terms and the new fields of a part their IDs. It returns the IDs, and the terms
// to write.
func (w *load) intern(p *part) (ids, fresh []int32, err error) {
	for i := range p.chunks {
		for j, f := range p.chunks[i].fields {
			if name := p.chunks[i].source.Fields[j].Name; w.fields[name] == nil && f.Length > 0 {
				w.fields[name] = &field{id: int32(len(w.fields) + 1), fresh: true}
			}
		}
	}
	ids = make([]int32, len(p.terms)) // 0 means none
	sorted := p.sorted()
	w.s.mu.Lock()
	known := w.s.terms
	if w.s.place != w.terms.place {
		known = nil // a slow search remembers another place's terms
	}
	for _, number := range sorted {
		id, ok := known[p.terms[number]]
		if !ok {
			id, ok = w.terms.ids[p.terms[number]]
		}
		if ids[number] = id; !ok {
			fresh = append(fresh, number)
		}
	}
	w.s.mu.Unlock()
	if len(fresh) > 0 && !w.terms.all {
		if fresh, err = w.find(p, ids, fresh); err != nil {
			return nil, nil, err
		}
	}
	id := w.terms.numbers.take(len(fresh)) // the lock keeps others from adding the same
	if w.terms.numbers.last > math.MaxInt32 {
		return nil, nil, fmt.Errorf("%w: the dictionary has no number left for new words: fill another schema",
			sheaf.ErrUnsupported)
	}
	for _, number := range fresh {
		id++
		ids[number] = int32(id)
	}
	return ids, fresh, nil
}

// find looks up terms that the store does not remember, and returns the missing ones.
func (w *load) find(p *part, ids, missing []int32) (fresh []int32, err error) {
	texts := make([]string, len(missing))
	for i, number := range missing {
		texts[i] = p.terms[number]
	}
	found := map[string]int32{}
	err = w.ask(func(ctx context.Context) error {
		ctx, stop := w.s.bounded(ctx)
		defer stop()
		rows, _ := w.tx.Query(ctx, "SELECT id, text FROM unnest($1::text[]) AS word JOIN term ON text = word", texts)
		return readTerms(rows, found)
	})
	if err != nil {
		return nil, err
	}
	for _, number := range missing {
		if id, ok := found[p.terms[number]]; ok {
			ids[number] = id
			w.terms.ids[p.terms[number]] = id
			continue
		}
		fresh = append(fresh, number)
	}
	return fresh, nil
}

// remember records the IDs of terms that the transaction adds.
func (w *load) remember(p *part, ids, fresh []int32) {
	if len(w.terms.ids) > maxRemembered {
		clear(w.terms.ids)
		w.terms.all = false
	}
	for _, number := range fresh {
		w.terms.ids[p.terms[number]] = ids[number]
	}
}

const termsByText = "SELECT id, text FROM term WHERE text = ANY($1)"

// lookUp adds the ids of terms to a map; it skips missing terms.
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

// Commit implements [store.BulkWriter].
func (w *load) Commit(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed && w.broken == nil && w.transaction == nil {
		return fail("commit", ctx.Err())
	}
	err := w.change(ctx, func(ctx context.Context) error {
		if err := w.flush(ctx); err != nil {
			return err
		}
		return w.queue.settle()
	})
	if err != nil {
		return cmp.Or(w.broken, err)
	}
	ctx, stop := w.s.bounded(ctx)
	defer stop()
	told := "nothing since the last commit is written, it can be repeated"
	err = w.totals(ctx)
	if err == nil {
		if err = w.tx.Commit(ctx); err != nil && broken(err) {
			told = "the connection broke during the commit: whether it is written is not known: repeat it"
		}
	}
	if err == nil {
		w.s.remember(w.terms.place, w.terms.ids)
	} else {
		w.broken = fmt.Errorf("%s: %w", told, fail("commit", err))
	}
	w.end()
	return w.broken
}

// totals updates the counts of fields and chunks.
func (w *load) totals(ctx context.Context) error {
	var ids []int32
	var names []string
	var chunks, tokens []int64
	for _, name := range slices.Sorted(maps.Keys(w.fields)) {
		f := w.fields[name]
		gone := w.removed.fields[f.id]
		if more, longer := f.chunks-gone.chunks, f.tokens-gone.tokens; f.fresh || more != 0 || longer != 0 {
			ids, names, chunks, tokens = append(ids, f.id), append(names, name), append(chunks, more), append(tokens, longer)
		}
	}
	_, err := w.tx.Exec(ctx, addTotals, pgx.QueryExecModeExec, // this takes one round trip
		w.added.chunks-w.removed.chunks, w.added.vectors-w.removed.vectors, ids, names, chunks, tokens, w.ord.last,
		w.ord.last != w.ord.told, w.terms.numbers.last, w.terms.numbers.last != w.terms.numbers.told)
	return err
}

const addTotals = `WITH fields AS (
	INSERT INTO field SELECT * FROM unnest($3::int[], $4::text[], $5::bigint[], $6::bigint[])
	ON CONFLICT (id) DO UPDATE SET chunks = field.chunks + excluded.chunks, tokens = field.tokens + excluded.tokens)
UPDATE total SET chunks = chunks + $1::bigint, vectors = vectors + $2::bigint, generation = generation + 1
RETURNING CASE WHEN $8::boolean THEN setval('chunk_ord', $7::bigint) END,
	CASE WHEN $10::boolean THEN setval(pg_get_serial_sequence('term', 'id'), $9::bigint) END`

// maxRemembered limits the terms that a store and a load keep in memory.
const maxRemembered = 1_000_000

// remember records IDs of terms of a place, unless the place has changed.
func (s *Store) remember(place uint32, terms map[string]int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if place != s.place {
		return
	}
	if len(s.terms)+len(terms) > maxRemembered {
		clear(s.terms)
	}
	maps.Copy(s.terms, terms)
}

// Close implements [store.BulkWriter].
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
