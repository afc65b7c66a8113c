package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"sheaf"
	"sheaf/store"
)

// Fuse implements [store.Fuser] with one statement: both legs ranked within their
// windows, and a full outer join. It equals the plain path: same order, scores and
// legs. Vectors are compared exactly, whatever index there is.
func (s *Store) Fuse(ctx context.Context, req store.FuseRequest) (store.Fused, error) {
	out := store.Fused{By: "one statement of PostgreSQL"}
	if err := req.Validate(); err != nil {
		return out, err
	}
	if err := fits(req.Filter); err != nil {
		return out, err
	}
	if req.Method == store.FuseMinMaxOpenSearch {
		return out, fmt.Errorf("postgres: %w: fuse by the min-max of OpenSearch: use minmax", sheaf.ErrUnsupported)
	}
	err := s.read(ctx, "search", func(ctx context.Context, conn *pgxpool.Conn) error {
		sql, args, err := s.fused(ctx, conn, &req)
		if err != nil {
			return err
		}
		out.Hits, err = readFused(ctx, conn, sql, args)
		return err
	})
	return out, err
}

// fused is the statement for a request, and its arguments.
func (s *Store) fused(ctx context.Context, conn *pgxpool.Conn, req *store.FuseRequest) (string, []any, error) {
	words, meaning, ok := req.Kinds()
	if !ok {
		return "", nil, fmt.Errorf("postgres: %w: fuse two branches of one kind: one must search words and the other a vector", sheaf.ErrUnsupported)
	}
	requests := req.Requests()
	st, root, err := s.build(ctx, conn, &requests[words], buildOptions{})
	if err != nil {
		return "", nil, err
	}
	field, ok, err := vectorField(ctx, conn, requests[meaning].Vector)
	if err != nil {
		return "", nil, err
	}
	near := "(SELECT 0::bigint AS chunk, 0::float8 AS score, 0 AS passage WHERE false) none"
	if ok {
		near = st.exact(field, requests[meaning].Vector.Vector, st.allowed)
	}
	var legs [2]string
	legs[words] = st.ranked("text_ranked", st.scored(root), "0 AS passage", requests[words].Limit, req.Method)
	legs[meaning] = st.ranked("vector_ranked", near, "r.passage", requests[meaning].Limit, req.Method)
	weights := [2]string{st.arg(req.Legs[0].Weight, "float8"), st.arg(req.Legs[1].Weight, "float8")}
	score := fmt.Sprintf("(coalesce(%s * a.share, 0) + coalesce(%s * b.share, 0)) / (%[1]s + %[2]s)", weights[0], weights[1])
	if req.Method == store.FuseRRF {
		k := st.arg(req.K, "float8")
		score = fmt.Sprintf("coalesce(%s / (%s + a.rank), 0) + coalesce(%s / (%[2]s + b.rank), 0)", weights[0], k, weights[1])
	}
	fused := st.with("fused", fmt.Sprintf(`SELECT coalesce(a.id, b.id) AS id, %s AS score, coalesce(a.rank, 0) AS rank_a, coalesce(b.rank, 0) AS rank_b,
		coalesce(a.score, 0) AS score_a, coalesce(b.score, 0) AS score_b, coalesce(nullif(a.passage, 0), b.passage, 0) AS passage
	FROM %s a FULL OUTER JOIN %s b ON a.id = b.id`, score, legs[0], legs[1]))
	sql, err := st.text(fmt.Sprintf(`SELECT id, score, rank_a, rank_b, score_a, score_b, passage FROM %s
	ORDER BY score DESC, least(nullif(rank_a, 0), nullif(rank_b, 0)), nullif(rank_a, 0), id LIMIT %s`, fused, st.arg(req.Limit, "bigint")))
	return sql, st.args, err
}

// ranked makes the relation (id, score, passage, rank, share) of the best of a
// relation (chunk, score); share is the score between the lowest and the highest.
func (s *statement) ranked(name, from, passage string, limit int, method store.FuseMethod) string {
	share := "0::float8 AS share"
	if method != store.FuseRRF {
		share = "coalesce((score - min(score) OVER ()) / nullif(max(score) OVER () - min(score) OVER (), 0), 1) AS share"
	}
	return s.with(name, fmt.Sprintf("SELECT *, row_number() OVER (ORDER BY score DESC, id) AS rank, %s FROM (%s) hits", share, best(from, ", "+passage, s.arg(limit, "bigint"))))
}

func readFused(ctx context.Context, conn *pgxpool.Conn, sql string, args []any) (sheaf.Ranking, error) {
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out sheaf.Ranking
	for rows.Next() {
		var id []byte
		h := sheaf.Hit{Legs: make([]sheaf.Leg, 2)}
		if err := rows.Scan(&id, &h.Score, &h.Legs[0].Rank, &h.Legs[1].Rank, &h.Legs[0].Score, &h.Legs[1].Score, &h.Passage); err != nil {
			return nil, err
		}
		h.ID = sheaf.ID(id)
		out = append(out, h)
	}
	return out, rows.Err()
}
