package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

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
	near := st.exact(field, req.Vector.Vector, st.bound(req))
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

// explainWords reads the rows that make up the scores of chunks.
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
	rows, err := conn.Query(ctx, sql, w.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	parts := map[sheaf.ID][][]sheaf.Explanation{}
	for rows.Next() {
		var id []byte
		var f int
		var term string
		var score float64
		if err := rows.Scan(&id, &f, &term, &score); err != nil {
			return nil, err
		}
		if parts[sheaf.ID(id)] == nil {
			parts[sheaf.ID(id)] = make([][]sheaf.Explanation, len(w.plan.Fields))
		}
		if term == "" {
			continue // the row only marks a match
		}
		term, field := strings.TrimPrefix(term, storekit.FormMark), ""
		label := strconv.Quote(term)
		if w.req.Combine != store.CombineBM25F {
			field = w.plan.Fields[f].Name
			label += " in " + field
		}
		parts[sheaf.ID(id)][f] = append(parts[sheaf.ID(id)][f], sheaf.Explanation{Label: label, Value: score,
			Kind: sheaf.KindTerm, Details: map[string]sheaf.Value{"term": sheaf.TextValue(term),
				"field": sheaf.TextValue(field)}})
	}
	out := map[sheaf.ID]*sheaf.Explanation{}
	for id, fields := range parts {
		out[id] = w.explanation(fields)
	}
	return out, rows.Err()
}

// explanation combines the scores of one chunk as its total does.
func (w *words) explanation(fields [][]sheaf.Explanation) *sheaf.Explanation {
	sums := make([]float64, len(fields))
	best := 0
	for i, parts := range fields {
		for _, p := range parts {
			sums[i] += p.Value
		}
		if sums[i] > sums[best] {
			best = i
		}
	}
	root := &sheaf.Explanation{Label: "words", Combine: sheaf.CombineSum}
	for i, parts := range fields {
		if len(parts) == 0 {
			continue
		}
		name := "all fields"
		if w.req.Combine != store.CombineBM25F {
			name = w.plan.Fields[i].Name
		}
		field := sheaf.Explanation{Label: name, Value: sums[i], Combine: sheaf.CombineSum, Parts: parts}
		if w.req.Combine == store.CombineBest && i != best {
			field = sheaf.Explanation{Label: name + ", tie breaker", Value: w.req.TieBreaker * sums[i],
				Combine: sheaf.CombineProduct,
				Parts:   []sheaf.Explanation{{Label: "tie breaker", Value: w.req.TieBreaker}, field}}
		}
		root.Value += field.Value
		root.Parts = append(root.Parts, field)
	}
	return root
}
