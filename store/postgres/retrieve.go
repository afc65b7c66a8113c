package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// Retrieve implements [store.Backend].
func (s *Store) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	return storekit.One(s.RetrieveAll(ctx, []store.Request{req}))
}

// Count implements [store.Counter].
func (s *Store) Count(ctx context.Context, req store.Request) (int, error) {
	return storekit.One(s.CountAll(ctx, []store.Request{req}))
}

// RetrieveAll implements [store.Batcher]. It sends the statements of all requests to the server together.
func (s *Store) RetrieveAll(ctx context.Context, reqs []store.Request) ([]sheaf.Ranking, error) {
	out := make([]sheaf.Ranking, len(reqs))
	err := s.sendTogether(ctx, "search", false, reqs, func(i int, rows pgx.Rows) (err error) {
		out[i], err = hits(rows, nil)
		return err
	}, func(ctx context.Context, conn *pgxpool.Conn, field vectorTable, i int) (err error) {
		out[i], err = s.approximate(ctx, conn, &reqs[i], field)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Sort()
	}
	return out, nil
}

// CountAll implements [store.Batcher].
func (s *Store) CountAll(ctx context.Context, reqs []store.Request) ([]int, error) {
	out := make([]int, len(reqs))
	err := s.sendTogether(ctx, "count", true, reqs, func(i int, rows pgx.Rows) (err error) {
		out[i], err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
		return err
	}, nil)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// sendTogether sends the statements of requests in one round trip and passes the rows of each to the function read. For
// a search through the HNSW index it calls the function graph instead.
func (s *Store) sendTogether(ctx context.Context, what string, count bool, reqs []store.Request,
	read func(i int, rows pgx.Rows) error,
	graph func(ctx context.Context, conn *pgxpool.Conn, field vectorTable, i int) error) error {
	vectors := false
	for i := range reqs {
		if err := validate(&reqs[i]); err != nil {
			return err
		}
		vectors = vectors || reqs[i].Vector != nil
	}
	if len(reqs) == 0 {
		return nil
	}
	return s.read(ctx, what, func(ctx context.Context, conn *pgxpool.Conn) (err error) {
		var fields map[string]vectorTable
		if vectors {
			if fields, err = vectorFields(ctx, conn); err != nil {
				return err
			}
		}
		var b pgx.Batch
		for i := range reqs {
			sql, args := "", []any(nil)
			if req := &reqs[i]; req.Text != nil {
				sql, args, err = s.wordStatement(ctx, conn, req, count)
			} else {
				field, ok, invalid := vectorField(fields, req.Vector)
				switch err = invalid; {
				case err != nil:
				case !ok:
					continue
				case !count && s.o.HNSW > 0:
					if err = graph(ctx, conn, field, i); err == nil {
						continue
					}
				default:
					sql, args, err = vectorStatement(req, field, count)
				}
			}
			if err != nil {
				return err
			}
			b.Queue(sql, args...).Query(func(rows pgx.Rows) error { return read(i, rows) })
		}
		return conn.SendBatch(ctx, &b).Close()
	})
}

// wordStatement returns the statement for the hits of a request by words, or for their number if count is true.
func (s *Store) wordStatement(ctx context.Context, conn *pgxpool.Conn, req *store.Request, count bool) (string, []any,
	error) {
	w, root, err := s.build(ctx, conn, req, count)
	if err != nil {
		return "", nil, err
	}
	final := "SELECT count(DISTINCT chunk) FROM " + root
	if !count {
		limit := w.arg(req.Limit, "bigint")
		final = best(w.scoreRelation(root), ", 0 AS passage", limit)
	}
	sql, err := w.text(final)
	return sql, w.args, err
}

// vectorStatement returns the statement for the hits of a request by vector, or for their number if count is true. It
// compares every vector.
func vectorStatement(req *store.Request, field vectorTable, count bool) (string, []any, error) {
	var st statement
	allowed := st.allowedRelation(req)
	final := "SELECT count(DISTINCT v.chunk) FROM " + field.table() + " v" + inside(allowed)
	if !count {
		scored := st.exact(field, req.Vector.Vector, allowed)
		final = best(scored, ", r.passage", st.arg(req.Limit, "bigint"))
	}
	sql, err := st.text(final)
	return sql, st.args, err
}

// vectorField returns the field of a request, or false if the field has no vectors. The caller must read fields for
// each request, because another process may recreate the tables with other numbers.
func vectorField(fields map[string]vectorTable, req *store.VectorRequest) (vectorTable, bool, error) {
	field := fields[req.Field]
	ok, err := field.Answers(req)
	return field, ok, err
}

// inside returns a WHERE clause for passages v. It keeps the passages whose chunks are in the relation with the name
// allowed. If allowed is "", all chunks are allowed, and the clause is "". The clause uses an array, so that an HNSW
// scan tests each passage and continues until it has enough.
func inside(allowed string) string {
	if allowed == "" {
		return ""
	}
	return " WHERE v.chunk = ANY(ARRAY(SELECT ord FROM " + allowed + "))"
}

// exact adds a relation (chunk, score, passage) with the best passage of every allowed chunk, and returns its name. It
// compares every vector.
func (s *statement) exact(field vectorTable, vector []float32, allowed string) string {
	return s.withTable("near", fmt.Sprintf(`SELECT DISTINCT ON (chunk) chunk, -(v.v <#> %s) AS score, passage `+
		`FROM %s v%s ORDER BY chunk, score DESC, passage`,
		s.arg(vector, "real[]::vector"), field.table(), inside(allowed)))
}

// These are limits of an HNSW scan.
const (
	minSearch = 40   // ef_search of a small request: pgvector's own default
	maxSearch = 1000 // the most that pgvector accepts
)

// approximate reads passages from the HNSW index until they belong to enough chunks, or until no passage is left.
// Scores come from the stored vectors, even if the index has half precision.
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
		allowed := st.allowedRelation(req)
		vector := st.arg(req.Vector.Vector, "real[]::vector")
		seen := st.withTable("seen", fmt.Sprintf(`SELECT v.chunk, -(v.v <#> %s) AS score, v.passage FROM %s v%s ORDER BY %s `+
			`<#> %s LIMIT %s`,
			vector, field.table(), inside(allowed), field.indexCast("v.v"), field.indexCast(vector), st.arg(passages, "bigint")))
		near := st.withTable("near", "SELECT DISTINCT ON (chunk) chunk, score, passage FROM "+seen+" ORDER BY chunk, score "+
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

// hits reads the hits of a ranking from rows of ID, score and passage.
func hits(rows pgx.Rows, err error) (sheaf.Ranking, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (h sheaf.Hit, err error) {
		var id []byte
		err = row.Scan(&id, &h.Score, &h.Passage)
		h.ID = sheaf.ID(id)
		return h, err
	})
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
