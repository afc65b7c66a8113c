package pgvector

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"sheaf"
	"sheaf/analysis"
	"sheaf/backend"
	"sheaf/backend/backendtest"
)

// TestCountedOnce: the chunks that hold a word are counted once a word, not once a
// posting, also while the server has no statistics of the tables.
func TestCountedOnce(t *testing.T) {
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	s := fresh(t, Options{Analyzer: a})
	var batch backend.Batch
	for i := range 300 {
		batch.Chunks = append(batch.Chunks, backendtest.Chunk(fmt.Sprintf("t:d%d#1", i), sheaf.FieldBody, "apple pie with cream"))
	}
	if err := s.Write(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	loops := regexp.MustCompile(`Aggregate .*loops=([0-9]+)`)
	for _, combine := range []backend.Combine{backend.CombineSum, backend.CombineBM25F} {
		req := backend.Request{Limit: 10, Text: &backend.TextRequest{Query: sheaf.Match{Text: "apple pie cream"}, Combine: combine, K1: 1.2, B: 0.75,
			Fields: []backend.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}}}}
		err = s.read(t.Context(), "explain", func(ctx context.Context, conn *pgxpool.Conn) error {
			w, root, err := s.build(ctx, conn, &req, buildOptions{})
			if err != nil {
				return err
			}
			rows, err := conn.Query(ctx, "EXPLAIN (ANALYZE, TIMING OFF) "+w.text(best(w.scored(root), ", 0 AS passage", w.arg(req.Limit, "bigint"))), w.args...)
			if err != nil {
				return err
			}
			plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
			for _, line := range plan {
				if found := loops.FindStringSubmatch(line); found != nil {
					if n, err := strconv.Atoi(found[1]); err != nil || n > 3 {
						t.Errorf("%d ways to combine: counted %s times for three words: %s", combine, found[1], line)
					}
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
