package postgres

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storetest"
)

// TestChunksAreCountedOncePerWord checks that the server counts the chunks with a word once for each word, and not
// for each posting. The server has no statistics of the tables.
func TestChunksAreCountedOncePerWord(t *testing.T) {
	s := fresh(t, Options{Analyzer: storetest.Analyzer(t, "en")})
	var batch store.Batch
	for i := range 300 {
		batch.Chunks = append(batch.Chunks, storetest.Chunk(fmt.Sprintf("t:d%d#1", i), sheaf.FieldBody,
			"apple pie with cream"))
	}
	must.Do(t, s.Write(t.Context(), batch))
	loops := regexp.MustCompile(`Aggregate .*loops=([0-9]+)`)
	for _, combine := range []store.Combine{store.CombineSum, store.CombineBM25F} {
		checkPlan(t, s, loops, 3, store.Request{Limit: 10, Text: &store.TextRequest{
			Query: sheaf.Match{Text: "apple pie cream"}, Combine: combine, K1: 1.2, B: 0.75,
			Fields: []store.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}}}})
	}
}

// checkPlan fails when the plan for a request runs a step more than most times. times finds the
// number of runs in a line of the plan.
func checkPlan(t *testing.T, s *Store, times *regexp.Regexp, most int, req store.Request) {
	t.Helper()
	must.Do(t, s.read(t.Context(), "explain", func(ctx context.Context, conn *pgxpool.Conn) error {
		sql, args, err := s.wordStatement(ctx, conn, &req, false)
		if err != nil {
			return err
		}
		rows, _ := conn.Query(ctx, "EXPLAIN (ANALYZE, TIMING OFF) "+sql, args...)
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		for _, line := range plan {
			if found := times.FindStringSubmatch(line); found != nil {
				if n, err := strconv.Atoi(found[1]); err != nil || n > most {
					t.Errorf("%+v: %s", req.Text, line)
				}
			}
		}
		return err
	}))
}

// TestFilterScansChunksFewTimes checks that the plan scans the filtered chunks a few times, not once for each
// posting. It never looks up the postings of a chunk (index posting_chunk).
func TestFilterScansChunksFewTimes(t *testing.T) {
	s := fresh(t, Options{Analyzer: storetest.Analyzer(t, "en")})
	var batch store.Batch
	for i := range 300 {
		c := storetest.Chunk(fmt.Sprintf("t:d%d#1", i), sheaf.FieldBody,
			fmt.Sprintf("apple pie with much cream and w%d of x%d or y%d", i%7, i%5, i%3))
		c.Columns = []store.Column{{Name: sheaf.ColumnAccess, Values: []sheaf.Value{sheaf.TextValue("public")}}}
		batch.Chunks = append(batch.Chunks, c)
	}
	must.Do(t, s.Write(t.Context(), batch))
	again := regexp.MustCompile(`CTE Scan on allowed.*loops=([0-9]+)|(posting_chunk)`)
	checkPlan(t, s, again, 5, store.Request{Limit: 10, // statistics take one scan for each field
		Filter: sheaf.In{Column: sheaf.ColumnAccess, Values: []sheaf.Value{sheaf.TextValue("public")}},
		Text: &store.TextRequest{Query: sheaf.Match{Text: "apple w1"}, K1: 1.2, B: 0.75,
			Statistics: store.StatisticsCandidates,
			Fields:     []store.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}}}})
}
