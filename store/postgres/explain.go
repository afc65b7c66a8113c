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

func (s *Store) explainVectors(ctx context.Context, conn *pgxpool.Conn, req *store.Request,
	ids []sheaf.ID) (map[sheaf.ID]*sheaf.Explanation, error) {
	fields, err := vectorFields(ctx, conn)
	if err != nil {
		return nil, err
	}
	field, ok, err := vectorField(fields, req.Vector)
	if err != nil || !ok {
		return nil, err
	}
	var st statement
	near := st.exact(field, req.Vector.Vector, st.allowedRelation(req))
	sql, err := st.text("SELECT c.id, r.score, r.passage FROM " + near + " r JOIN chunk c ON c.ord = r.chunk WHERE " +
		"sha256(c.id) = ANY(" + st.arg(hashes(ids), "bytea[]") + ")")
	if err != nil {
		return nil, err
	}
	found, err := hits(conn.Query(ctx, sql, st.args...))
	out := map[sheaf.ID]*sheaf.Explanation{}
	for _, h := range found {
		out[h.ID] = &sheaf.Explanation{Label: fmt.Sprintf("similarity of %s, passage %d", req.Vector.Field, h.Passage),
			Value: h.Score, Kind: sheaf.KindSimilarity}
	}
	return out, err
}

// explainWords explains the scores of chunks by the scores of their terms. The result lacks chunks that do not match.
func (s *Store) explainWords(ctx context.Context, conn *pgxpool.Conn, req *store.Request,
	ids []sheaf.ID) (map[sheaf.ID]*sheaf.Explanation, error) {
	w, root, err := s.build(ctx, conn, req, false)
	if err != nil {
		return nil, err
	}
	sql, err := w.text("SELECT c.id, q.f, coalesce(t.text, ''), q.s FROM " + root + " q JOIN chunk c ON c.ord = " +
		"q.chunk LEFT JOIN term t ON t.id = q.term WHERE sha256(c.id) = ANY(" + w.arg(hashes(ids), "bytea[]") +
		") ORDER BY c.id, q.f, q.n")
	if err != nil {
		return nil, err
	}
	rows, _ := conn.Query(ctx, sql, w.args...)
	parts := map[sheaf.ID][][]sheaf.Explanation{}
	var id []byte
	var f int
	var term string
	var score float64
	_, err = pgx.ForEachRow(rows, []any{&id, &f, &term, &score}, func() error {
		if parts[sheaf.ID(id)] == nil {
			parts[sheaf.ID(id)] = make([][]sheaf.Explanation, len(w.plan.Fields))
		}
		if term == "" {
			return nil // the row only marks a match
		}
		field := ""
		if w.req.Combine != store.CombineBM25F {
			field = w.plan.Fields[f].Name
		}
		parts[sheaf.ID(id)][f] = append(parts[sheaf.ID(id)][f], storekit.TermScore(term, field, score))
		return nil
	})
	out := map[sheaf.ID]*sheaf.Explanation{}
	for id, fields := range parts {
		out[id] = w.plan.Explain(w.req, fields)
	}
	return out, err
}
