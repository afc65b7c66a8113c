package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"sheaf"
	"sheaf/store"
)

// streamBatch is the number of chunks that Stream reads at a time.
const streamBatch = 500

// Stream implements [store.Streamer], in the order in which chunks were written.
func (s *Store) Stream(ctx context.Context, cursor string,
	yield func(chunks []store.Chunk, cursor string) error) error {
	after := int64(0)
	if cursor != "" {
		var err error
		if after, err = strconv.ParseInt(cursor, 10, 64); err != nil {
			return sheaf.Invalidf("postgres: the cursor %q does not belong to this store", cursor)
		}
	}
	for {
		var chunks []store.Chunk
		err := s.read(ctx, "read chunks", func(ctx context.Context, conn *pgxpool.Conn) error {
			return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{AccessMode: pgx.ReadOnly, IsoLevel: pgx.RepeatableRead},
				func(tx pgx.Tx) (err error) {
					chunks, after, err = readChunks(ctx, tx, after)
					return err
				})
		})
		if err != nil || len(chunks) == 0 {
			return err
		}
		if err := yield(chunks, strconv.FormatInt(after, 10)); err != nil {
			return err
		}
	}
}

// readChunks reads the chunks that follow chunk number after, at most streamBatch. It also returns the number of the
// last chunk, or after if no chunk follows.
func readChunks(ctx context.Context, tx pgx.Tx, after int64) ([]store.Chunk, int64, error) {
	var chunks []store.Chunk
	at := map[int64]int{}
	rows, _ := tx.Query(ctx, "SELECT ord, id, doc, fields FROM chunk WHERE ord > $1 ORDER BY ord LIMIT $2", after,
		streamBatch)
	var ord int64
	var id, doc []byte
	var fields [][]byte
	_, err := pgx.ForEachRow(rows, []any{&ord, &id, &doc, &fields}, func() error {
		c := store.Chunk{ID: sheaf.ID(id), Doc: sheaf.ID(doc)}
		for i := 0; i+1 < len(fields); i += 2 {
			c.Fields = append(c.Fields, store.Field{Name: string(fields[i]), Text: string(fields[i+1])})
		}
		at[ord], after = len(chunks), ord
		chunks = append(chunks, c)
		return nil
	})
	if err != nil || len(chunks) == 0 {
		return nil, after, err
	}
	ords := slices.Sorted(maps.Keys(at))
	if err := readColumns(ctx, tx, ords, at, chunks); err != nil {
		return nil, after, err
	}
	vectors, err := vectorFields(ctx, tx)
	if err != nil {
		return nil, after, err
	}
	for _, name := range slices.Sorted(maps.Keys(vectors)) {
		rows, _ := tx.Query(ctx, fmt.Sprintf("SELECT chunk, v::real[] FROM %s WHERE chunk = ANY($1) ORDER BY chunk, passage",
			vectors[name].table()), ords)
		var v []float32
		_, err := pgx.ForEachRow(rows, []any{&ord, &v}, func() error {
			c := &chunks[at[ord]]
			if n := len(c.Vectors); n == 0 || c.Vectors[n-1].Name != name {
				c.Vectors = append(c.Vectors, store.Vectors{Name: name})
			}
			last := &c.Vectors[len(c.Vectors)-1]
			last.Passages = append(last.Passages, slices.Clone(v))
			return nil
		})
		if err != nil {
			return nil, after, err
		}
	}
	return chunks, after, nil
}

func readColumns(ctx context.Context, tx pgx.Tx, ords []int64, at map[int64]int, chunks []store.Chunk) error {
	rows, _ := tx.Query(ctx, "SELECT chunk, name, kind, text, number FROM property WHERE chunk = ANY($1) ORDER BY "+
		"chunk, name", ords)
	var ord int64
	var name, text []byte
	var kind int16
	var number *float64
	_, err := pgx.ForEachRow(rows, []any{&ord, &name, &kind, &text, &number}, func() error {
		v := sheaf.Value{Kind: sheaf.Kind(kind), Text: string(text)}
		if number != nil {
			v.Number = *number
		}
		c := &chunks[at[ord]]
		if n := len(c.Columns); n == 0 || c.Columns[n-1].Name != string(name) {
			c.Columns = append(c.Columns, store.Column{Name: string(name)})
		}
		last := &c.Columns[len(c.Columns)-1]
		last.Values = append(last.Values, v)
		return nil
	})
	return err
}
