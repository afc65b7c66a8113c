package pgvector

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"sheaf"
	"sheaf/backend"
)

// Fusion is a hybrid query that the server answers in one statement: the words and
// the vector of a request, each cut to a window, joined by reciprocal ranks.
type Fusion struct {
	Text   *backend.TextRequest
	Vector *backend.VectorRequest
	// Filter and Within bound both, as in backend.Request.
	Filter sheaf.Filter
	Within []sheaf.ID
	// Window is how many hits of each are ranked, Limit how many are returned.
	Window, Limit int
	// K is the constant of the reciprocal ranks, 1..1000, and Weights are
	// those of vector and words.
	K       int
	Weights [2]float64
}

// Fuse answers a hybrid query with one statement and one answer: the ranks of both
// legs, a full outer join, and the sum of weight/(K + rank). It equals fusing what
// two calls of Retrieve with a limit of Window return: same order, ties by the best
// single rank and then by ID, with Legs for vector and words. Vectors are compared
// exactly, whatever index there is.
func (s *Store) Fuse(ctx context.Context, f Fusion) (sheaf.Ranking, error) {
	words := backend.Request{Text: f.Text, Filter: f.Filter, Within: f.Within, Limit: f.Window}
	nearest := backend.Request{Vector: f.Vector, Filter: f.Filter, Within: f.Within, Limit: f.Window}
	for _, req := range []backend.Request{words, nearest} {
		if err := req.Validate(); err != nil {
			return nil, err
		}
	}
	switch {
	case f.K < 1 || f.K > 1000:
		return nil, sheaf.Invalidf("fuse: k is %d: must be within 1..1000", f.K)
	case f.Limit < 1 || f.Limit > 2*f.Window:
		return nil, sheaf.Invalidf("fuse: limit is %d: must be within 1..%d, twice the window", f.Limit, 2*f.Window)
	}
	for _, weight := range f.Weights {
		if !(weight >= 0 && weight <= 1e6) {
			return nil, sheaf.Invalidf("fuse: weight is %v: must be within 0..1000000", weight)
		}
	}
	var out sheaf.Ranking
	err := s.read(ctx, "search", func(ctx context.Context, conn *pgxpool.Conn) error {
		w, root, err := s.build(ctx, conn, &words)
		if err != nil {
			return err
		}
		field, ok, err := s.vectorField(ctx, conn, f.Vector)
		if err != nil {
			return err
		}
		near := ""
		if ok {
			near = w.exact(field, f.Vector.Vector, w.allowed)
		} else {
			near = w.with("near", "SELECT 0::bigint AS chunk, 0::float8 AS score, 0 AS passage WHERE false")
		}
		out, err = s.fuse(ctx, conn, w, f, w.scored(root), near)
		return err
	})
	return out, err
}

// fuse joins the relations (chunk, score) of the legs.
func (s *Store) fuse(ctx context.Context, conn *pgxpool.Conn, w *words, f Fusion, text, near string) (sheaf.Ranking, error) {
	window, k := w.arg(f.Window, "bigint"), w.arg(f.K, "float8")
	ranked := func(columns, from string) string {
		return fmt.Sprintf("SELECT *, row_number() OVER (ORDER BY score DESC, id) AS rank FROM (%s) hits", best(from, columns, window))
	}
	vectors := w.with("vector_ranked", ranked(", r.passage", near))
	texts := w.with("text_ranked", ranked("", text))
	fused := w.with("rrf_scores", fmt.Sprintf(`SELECT coalesce(v.id, t.id) AS id,
		coalesce(%s / (%s + v.rank), 0) + coalesce(%s / (%s + t.rank), 0) AS rrf_score,
		coalesce(v.rank, 0) AS vector_rank, coalesce(t.rank, 0) AS text_rank,
		coalesce(v.score, 0) AS vector_score, coalesce(t.score, 0) AS text_score, coalesce(v.passage, 0) AS passage
	FROM %s v FULL OUTER JOIN %s t ON v.id = t.id`, w.arg(f.Weights[0], "float8"), k, w.arg(f.Weights[1], "float8"), k, vectors, texts))
	rows, err := conn.Query(ctx, w.text(fmt.Sprintf(`SELECT id, rrf_score, vector_rank, text_rank, vector_score, text_score, passage FROM %s
	ORDER BY rrf_score DESC, least(nullif(vector_rank, 0), nullif(text_rank, 0)), id LIMIT %s`, fused, w.arg(f.Limit, "bigint"))), w.args...)
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
