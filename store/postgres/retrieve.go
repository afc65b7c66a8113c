package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"sheaf"
	"sheaf/store"
)

// Retrieve implements [store.Backend].
func (s *Store) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	out, err := s.RetrieveAll(ctx, []store.Request{req})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// Count implements [store.Counter].
func (s *Store) Count(ctx context.Context, req store.Request) (int, error) {
	out, err := s.CountAll(ctx, []store.Request{req})
	if err != nil {
		return 0, err
	}
	return out[0], nil
}

func (s *Store) countVectors(ctx context.Context, conn *pgxpool.Conn, req *store.Request) (n int, err error) {
	err = s.inField(ctx, conn, req.Vector, func(field vectorTable) (string, []any, error) {
		var st statement
		allowed := st.bound(req)
		sql, err := st.text("SELECT count(DISTINCT v.chunk) FROM " + field.table() + " v" + inside(allowed))
		return sql, st.args, err
	}, func(rows pgx.Rows) (err error) {
		n, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
		return err
	})
	return n, err
}

// inField runs one statement about the vector field of a request; read reads its rows. It does not
// call read when the field has no vectors. The same round trip looks up the field's table again: if
// another process replaced the table, inField repeats the statement.
func (s *Store) inField(ctx context.Context, conn *pgxpool.Conn, req *store.VectorRequest,
	compose func(vectorTable) (string, []any, error), read func(pgx.Rows) error) error {
	s.mu.Lock()
	seen, ok := s.vectors[req.Field]
	s.mu.Unlock()
	if ok && seen.Dims == len(req.Vector) {
		sql, args, err := compose(seen)
		if err != nil {
			return err
		}
		var b pgx.Batch
		var now map[string]vectorTable
		b.Queue(allVectorFields).Query(func(rows pgx.Rows) (err error) { now, err = readVectorFields(rows); return err })
		b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
			if now[req.Field] != seen {
				return nil
			}
			return read(rows)
		})
		if err = conn.SendBatch(ctx, &b).Close(); now[req.Field] == seen {
			return err
		}
	}
	field, ok, err := vectorField(ctx, conn, req)
	if err != nil || !ok {
		return err
	}
	s.mu.Lock()
	if s.vectors == nil {
		s.vectors = map[string]vectorTable{}
	}
	s.vectors[req.Field] = field
	s.mu.Unlock()
	sql, args, err := compose(field)
	if err != nil {
		return err
	}
	rows, _ := conn.Query(ctx, sql, args...)
	return read(rows)
}

// vectorField returns the field of a request; ok is false when it has no vectors. It reads the
// field for each request: if another process recreated the tables with other numbers, an old number
// would select another field's vectors.
func vectorField(ctx context.Context, conn *pgxpool.Conn, req *store.VectorRequest) (vectorTable, bool, error) {
	fields, err := vectorFields(ctx, conn)
	if err != nil {
		return vectorTable{}, false, err
	}
	field, ok := fields[req.Field]
	if ok && field.Dims != len(req.Vector) {
		return field, true, sheaf.Invalidf("request: the vector has %d dimensions, field %q has %d", len(req.Vector),
			req.Field, field.Dims)
	}
	return field, ok, nil
}

// inside restricts passages v to the chunks of a relation. As an array the condition filters the
// scan, so an HNSW scan continues until it has enough.
func inside(allowed string) string {
	if allowed == "" {
		return ""
	}
	return " WHERE v.chunk = ANY(ARRAY(SELECT ord FROM " + allowed + "))"
}

func (s *Store) retrieveVectors(ctx context.Context, conn *pgxpool.Conn, req *store.Request) (out sheaf.Ranking,
	err error) {
	if s.o.HNSW > 0 {
		field, ok, err := vectorField(ctx, conn, req.Vector)
		if err != nil || !ok {
			return nil, err
		}
		return s.approximate(ctx, conn, req, field)
	}
	err = s.inField(ctx, conn, req.Vector, func(field vectorTable) (string, []any, error) {
		var st statement
		scored := st.exact(field, req.Vector.Vector, st.bound(req))
		sql, err := st.text(best(scored, ", r.passage", st.arg(req.Limit, "bigint")))
		return sql, st.args, err
	}, func(rows pgx.Rows) (err error) {
		out, err = hits(rows, nil)
		return err
	})
	return out, err
}

// exact makes the relation (chunk, score, passage) of every chunk's best passage.
func (s *statement) exact(field vectorTable, vector []float32, allowed string) string {
	return s.with("near", fmt.Sprintf(`SELECT DISTINCT ON (chunk) chunk, -(v.v <#> %s) AS score, passage FROM %s v%s `+
		`ORDER BY chunk, score DESC, passage`,
		s.arg(vector, "real[]::vector"), field.table(), inside(allowed)))
}

// Limits of an HNSW scan.
const (
	minSearch = 40   // ef_search of a small request: pgvector's own default
	maxSearch = 1000 // the most that pgvector accepts
)

// approximate reads passages from the HNSW index until there are enough chunks or no more passages.
// It computes scores from the stored vectors, even if the index has half precision.
func (s *Store) approximate(ctx context.Context, conn *pgxpool.Conn, req *store.Request,
	field vectorTable) (sheaf.Ranking, error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly, IsoLevel: pgx.RepeatableRead})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(ctx) }() // nothing to roll back
	search := min(max(minSearch, 2*req.Limit, req.Vector.Candidates), maxSearch)
	_, err = tx.Exec(ctx, fmt.Sprintf("SET LOCAL hnsw.iterative_scan = strict_order; SET LOCAL hnsw.ef_search = %d; "+
		"SET LOCAL hnsw.max_scan_tuples = 1000000; SET LOCAL enable_seqscan = off", search))
	if err != nil {
		return nil, err
	}
	for passages := max(2*req.Limit, req.Vector.Candidates); ; passages *= 4 {
		var st statement
		allowed := st.bound(req)
		vector := st.arg(req.Vector.Vector, "real[]::vector")
		seen := st.with("seen", fmt.Sprintf(`SELECT v.chunk, -(v.v <#> %s) AS score, v.passage FROM %s v%s ORDER BY %s `+
			`<#> %s LIMIT %s`,
			vector, field.table(), inside(allowed), field.indexed("v.v"), field.indexed(vector), st.arg(passages, "bigint")))
		near := st.with("near", "SELECT DISTINCT ON (chunk) chunk, score, passage FROM "+seen+" ORDER BY chunk, score "+
			"DESC, passage")
		found := 0
		sql, err := st.text("SELECT count(*) FROM " + seen)
		if err != nil {
			return nil, err
		}
		if err := tx.QueryRow(ctx, sql, st.args...).Scan(&found); err != nil {
			return nil, err
		}
		if sql, err = st.text(best(near, ", r.passage", st.arg(req.Limit, "bigint"))); err != nil {
			return nil, err
		}
		out, err := hits(tx.Query(ctx, sql, st.args...))
		if err != nil || len(out) == req.Limit || found < passages {
			return out, err
		}
	}
}

// hits reads id, score and passage.
func hits(rows pgx.Rows, err error) (sheaf.Ranking, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out sheaf.Ranking
	for rows.Next() {
		var id []byte
		var h sheaf.Hit
		if err := rows.Scan(&id, &h.Score, &h.Passage); err != nil {
			return nil, err
		}
		h.ID = sheaf.ID(id)
		out = append(out, h)
	}
	return out, rows.Err()
}

// Explain implements [store.Explainer].
func (s *Store) Explain(ctx context.Context, req store.Request, ids []sheaf.ID) ([]*sheaf.Explanation, error) {
	if err := validate(&req); err != nil {
		return nil, err
	}
	out := make([]*sheaf.Explanation, len(ids))
	err := s.read(ctx, "explain", func(ctx context.Context, conn *pgxpool.Conn) error {
		var byID map[sheaf.ID]*sheaf.Explanation
		var err error
		if req.Text != nil {
			byID, err = s.explainWords(ctx, conn, &req, ids)
		} else {
			byID, err = s.explainVectors(ctx, conn, &req, ids)
		}
		for i, id := range ids {
			out[i] = byID[id]
		}
		return err
	})
	return out, err
}
