package postgres

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// A load sends its next part when the part has partChunks chunks and replaced documents together, or partBytes bytes.
const (
	partChunks = 512
	partBytes  = 4 << 20
	// pieceRows is the largest number of rows that one COPY writes. Each COPY has the whole time limit.
	pieceRows = 10_000
)

// part has chunks that are written together, and the documents that they replace.
type part struct {
	replace []sheaf.ID
	chunks  []chunk
	ids     map[sheaf.ID]bool // of the chunks
	docs    map[sheaf.ID]bool // the documents of the chunks
	bytes   int               // of texts and vectors, approximately
}

// chunk is a chunk with its terms and its encoded passages.
type chunk struct {
	store.Chunk                     // without vectors
	terms       []storekit.Field    // in the order of Fields
	passages    map[string][][]byte // by vector field, in pgvector's own format
}

// analyze converts a batch to a part. For several chunks with one ID, it takes the last. The part shares no vector
// memory with the batch.
func (s *Store) analyze(batch *store.Batch) part {
	out := part{replace: slices.Clone(batch.Replace), ids: map[sheaf.ID]bool{}, docs: map[sheaf.ID]bool{}}
	last := map[sheaf.ID]int{}
	for i := range batch.Chunks {
		last[batch.Chunks[i].ID] = i
	}
	for i, source := range batch.Chunks {
		if last[source.ID] != i {
			continue
		}
		c := chunk{Chunk: source, terms: make([]storekit.Field, len(source.Fields)), passages: map[string][][]byte{}}
		for j, f := range source.Fields {
			out.bytes += len(f.Text)
			if terms := storekit.Analyze(s.o.Analyzer, f.Text); terms.Length > 0 {
				c.terms[j] = terms
			}
		}
		for _, v := range source.Vectors {
			for _, p := range v.Passages {
				out.bytes += 4 * len(p)
				c.passages[v.Name] = append(c.passages[v.Name], encoded(p))
			}
		}
		c.Vectors = nil
		out.ids[c.ID], out.docs[c.Doc] = true, true
		out.chunks = append(out.chunks, c)
	}
	return out
}

// encoded returns a vector in the binary format of pgvector.
func encoded(v []float32) []byte {
	out := binary.BigEndian.AppendUint32(make([]byte, 0, 4+4*len(v)), uint32(len(v))<<16)
	for _, x := range v {
		out = binary.BigEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

// conflicts reports whether a second part, more, replaces a chunk of p. If so, the caller must send p first.
func (p *part) conflicts(more *part) bool {
	return slices.ContainsFunc(more.replace, func(doc sheaf.ID) bool { return p.docs[doc] }) ||
		slices.ContainsFunc(more.chunks, func(c chunk) bool { return p.ids[c.ID] })
}

func (p *part) add(more *part) {
	if p.ids == nil {
		*p = *more
		return
	}
	p.replace, p.chunks, p.bytes = append(p.replace, more.replace...), append(p.chunks, more.chunks...), p.bytes+more.bytes
	maps.Copy(p.ids, more.ids)
	maps.Copy(p.docs, more.docs)
}

func (p *part) full() bool { return len(p.chunks)+len(p.replace) >= partChunks || p.bytes >= partBytes }

// send writes the part in w.next. The caller must hold w.mu, and the transaction must be open.
func (w *load) send(ctx context.Context) error {
	p := &w.next
	if len(p.replace)+len(p.chunks) == 0 {
		return nil
	}
	if err := w.remove(ctx, p); err != nil {
		return err
	}
	if len(p.chunks) > 0 {
		var first int64
		err := w.query(ctx, func(rows pgx.Rows) (err error) {
			first, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int64])
			return err
		}, "SELECT min(nextval('chunk_ord')) FROM generate_series(1, $1::int)", len(p.chunks))
		for _, write := range []func(context.Context, []chunk, int64) error{w.writeColumns, w.writeVectors, w.writeTexts} {
			if err == nil {
				err = write(ctx, p.chunks, first)
			}
		}
		if err != nil {
			return err
		}
		w.added.chunks += int64(len(p.chunks))
	}
	w.next = part{}
	return nil
}

// query runs a statement and passes its rows to the function read. The statement has the whole time of Options.Timeout.
func (w *load) query(ctx context.Context, read func(pgx.Rows) error, sql string, args ...any) error {
	ctx, stop := w.s.withTimeout(ctx)
	defer stop()
	rows, _ := w.tx.Query(ctx, sql, args...)
	return read(rows)
}

// exec runs a statement and returns how many rows it changed. The statement has the whole time of Options.Timeout.
func (w *load) exec(ctx context.Context, sql string, args ...any) (int64, error) {
	ctx, stop := w.s.withTimeout(ctx)
	defer stop()
	tag, err := w.tx.Exec(ctx, sql, args...)
	return tag.RowsAffected(), err
}

// copy writes n rows to a table; each COPY writes at most limit rows. PostgreSQL refuses COPY into tables with
// row-level security, so copy then uses a temporary table.
func (w *load) copy(ctx context.Context, table string, limit, n int, row func(i int) []any, columns ...string) error {
	into := table
	if w.s.o.RowSecurity && n > 0 {
		into = "staged_" + table
		if _, err := w.exec(ctx, fmt.Sprintf("CREATE TEMP TABLE IF NOT EXISTS %s (LIKE %s) ON COMMIT DROP", into,
			table)); err != nil {
			return err
		}
	}
	for from := 0; from < n; from += limit {
		err := w.copyPiece(ctx, into, columns, pgx.CopyFromSlice(min(limit, n-from), func(i int) ([]any, error) {
			return row(from + i), nil
		}))
		if err == nil && into != table {
			if _, err = w.exec(ctx, fmt.Sprintf("INSERT INTO %s SELECT * FROM %s", table, into)); err == nil {
				_, err = w.exec(ctx, "TRUNCATE "+into)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *load) copyPiece(ctx context.Context, table string, columns []string, rows pgx.CopyFromSource) error {
	ctx, stop := w.s.withTimeout(ctx)
	defer stop()
	_, err := w.tx.CopyFrom(ctx, pgx.Identifier{table}, columns, rows)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("copy to %s: %w: %w", table, ctx.Err(), err) // the driver only says: closed
	}
	return err
}

// writeColumns writes the columns of chunks. first is the number of the first chunk.
func (w *load) writeColumns(ctx context.Context, chunks []chunk, first int64) error {
	var rows [][]any
	for i := range chunks {
		for _, column := range chunks[i].Columns {
			for _, v := range column.Values {
				row := []any{first + int64(i), []byte(column.Name), int16(v.Kind), nil, nil}
				if v.Kind == sheaf.KindText {
					row[3] = []byte(v.Text)
				} else {
					row[4] = v.Number
				}
				rows = append(rows, row)
			}
		}
	}
	err := w.copy(ctx, "property", pieceRows, len(rows), func(i int) []any { return rows[i] }, "chunk", "name", "kind",
		"text", "number")
	if err != nil || !w.s.o.RowSecurity {
		return err
	}
	return w.copy(ctx, "wall", pieceRows, len(chunks), func(i int) []any {
		return []any{first + int64(i), wallNames(&chunks[i].Chunk, sheaf.ColumnTenant),
			wallNames(&chunks[i].Chunk, sheaf.ColumnAccess)}
	}, "chunk", "tenants", "access")
}

// writeVectors writes the passages of chunks. It creates the tables of new vector fields. first is the number of the
// first chunk.
func (w *load) writeVectors(ctx context.Context, chunks []chunk, first int64) error {
	rows := map[string][][]any{}
	for i := range chunks {
		for name, passages := range chunks[i].passages {
			for n, p := range passages {
				rows[name] = append(rows[name], []any{first + int64(i), int32(n), p})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		v, ok := w.vectors[name]
		if !ok {
			v.VectorField = store.VectorField{Name: name, Dims: w.dims[name]}
			for _, wanted := range w.s.o.Vectors {
				if wanted.Name == name {
					v.Model = wanted.Model
				}
			}
			made, stop := w.s.withTimeout(ctx)
			err := w.s.createVectors(made, w.tx, &v)
			stop()
			if err != nil {
				return err
			}
			w.vectors[name] = v
		}
		list := rows[name]
		if err := w.copy(ctx, v.table(), max(1, partBytes/(4*v.Dims)), len(list), func(i int) []any { return list[i] },
			"chunk", "passage", "v"); err != nil {
			return err
		}
		w.added.vectors += int64(len(list))
	}
	return nil
}

// posting is a row of the table posting.
type posting struct {
	term, field, length int32
	chunk               int64
	*storekit.Posting
}

// writeTexts writes the texts of chunks and their postings. It sorts the postings by term, then by chunk, so that the
// server fills its index faster.
func (w *load) writeTexts(ctx context.Context, chunks []chunk, first int64) error {
	if err := w.intern(ctx, chunks); err != nil {
		return err
	}
	var postings []posting
	rows := make([][]any, len(chunks))
	for i := range chunks {
		c := &chunks[i]
		lens, texts := []int32{}, [][]byte{}
		for j, f := range c.Fields {
			texts = append(texts, []byte(f.Name), []byte(f.Text))
			terms := c.terms[j]
			if terms.Length == 0 {
				continue
			}
			at := w.fields[f.Name]
			if at == nil {
				at = &field{id: int32(len(w.fields) + 1), fresh: true}
				w.fields[f.Name] = at
			}
			at.chunks, at.tokens = at.chunks+1, at.tokens+int64(terms.Length)
			for len(lens) < int(at.id) {
				lens = append(lens, 0)
			}
			lens[at.id-1] = int32(terms.Length)
			for k := range terms.Postings {
				p := &terms.Postings[k]
				postings = append(postings, posting{w.terms[p.Term], at.id, int32(terms.Length), first + int64(i), p})
			}
		}
		rows[i] = []any{first + int64(i), []byte(c.ID), []byte(c.Doc), lens, texts}
	}
	if err := w.copy(ctx, "chunk", pieceRows, len(rows), func(i int) []any { return rows[i] }, "ord", "id", "doc", "lens",
		"fields"); err != nil {
		return err
	}
	slices.SortFunc(postings, func(a, b posting) int {
		return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(a.chunk, b.chunk), cmp.Compare(a.field, b.field))
	})
	return w.copy(ctx, "posting", pieceRows, len(postings), func(i int) []any {
		p := &postings[i]
		row := []any{p.term, p.field, p.chunk, int32(p.Frequency), p.length, nil}
		if len(p.Positions) > 0 {
			row[5] = p.Positions
		}
		return row
	}, "term", "field", "chunk", "tf", "len", "pos")
}

// maxRemembered is about the largest number of terms that a transaction caches.
const maxRemembered = 1_000_000

// intern reads the numbers of the chunks' terms into w.terms. It adds new terms to the dictionary.
func (w *load) intern(ctx context.Context, chunks []chunk) error {
	if len(w.terms) > maxRemembered {
		clear(w.terms)
	}
	missing := map[string]bool{}
	for i := range chunks {
		for _, f := range chunks[i].terms {
			for k := range f.Postings {
				if term := f.Postings[k].Term; w.terms[term] == 0 {
					missing[term] = true
				}
			}
		}
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(missing)), pieceRows) {
		err := w.query(ctx, func(rows pgx.Rows) error {
			var id int32
			var text string
			_, err := pgx.ForEachRow(rows, []any{&id, &text}, func() error { w.terms[text] = id; return nil })
			return err
		}, internTerms, some)
		if err != nil {
			return err
		}
	}
	return nil
}

// internTerms is a query that adds missing terms and returns the numbers of all terms. It needs no lock, because only
// one writer runs at a time.
const internTerms = `WITH known AS (SELECT id, text FROM unnest($1::text[]) AS word JOIN term ON text = word),
	fresh AS (INSERT INTO term (text) SELECT word FROM unnest($1::text[]) AS word
		WHERE word NOT IN (SELECT text FROM known) RETURNING id, text)
	SELECT id, text FROM known UNION ALL SELECT id, text FROM fresh`

// removeChunks is a statement that deletes chunks by document and by ID. It uses a join, because the server would plan
// each constant of a list separately.
const removeChunks = `DELETE FROM chunk WHERE ord IN (
	SELECT ord FROM unnest($1::bytea[]) AS gone JOIN chunk ON sha256(doc) = gone
	UNION ALL SELECT ord FROM unnest($2::bytea[]) AS gone JOIN chunk ON sha256(id) = gone) RETURNING ord, lens`

// remove deletes the chunks of the documents that p replaces, and the chunks with IDs of chunks in p.
func (w *load) remove(ctx context.Context, p *part) error {
	var ords []int64
	byID := map[int]*field{}
	for _, f := range w.fields {
		byID[int(f.id)] = f
	}
	err := w.query(ctx, func(rows pgx.Rows) error {
		var ord int64
		var lens []int32
		_, err := pgx.ForEachRow(rows, []any{&ord, &lens}, func() error {
			ords = append(ords, ord)
			for i, n := range lens {
				if n > 0 {
					f := byID[i+1]
					f.chunks, f.tokens = f.chunks-1, f.tokens-int64(n)
				}
			}
			return nil
		})
		return err
	}, removeChunks, hashes(p.replace), hashes(slices.Collect(maps.Keys(p.ids))))
	if err != nil || len(ords) == 0 {
		return err
	}
	w.added.chunks -= int64(len(ords))
	tables := []string{"posting", "property"}
	if w.s.o.RowSecurity {
		tables = append(tables, "wall")
	}
	for i, table := range append(tables, w.vectorTables()...) {
		n, err := w.exec(ctx, "DELETE FROM "+table+" WHERE chunk = ANY($1)", ords)
		if err != nil {
			return err
		}
		if i >= len(tables) {
			w.added.vectors -= n
		}
	}
	return nil
}

func (w *load) vectorTables() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(w.vectors)) {
		out = append(out, w.vectors[name].table())
	}
	return out
}
