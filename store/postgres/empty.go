package postgres

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Empty implements [store.Emptier], all at once. The dictionary stays, because other processes
// remember the numbers of its terms.
func (s *Store) Empty(ctx context.Context) error {
	bulk, err := s.Bulk(ctx)
	if err != nil {
		return err
	}
	defer bulk.Close()
	w := bulk.(*load)
	ctx, stop := s.bounded(ctx)
	defer stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err = w.begin(ctx); err == nil {
		if err = w.empty(ctx); err == nil {
			err = w.tx.Commit(ctx)
		}
	}
	return fail("empty the schema "+s.o.Schema, err)
}

// empty removes every chunk in the transaction.
func (w *load) empty(ctx context.Context) error {
	names := []string{"chunk", "posting", "property"}
	if w.s.o.RowSecurity {
		names = append(names, "wall")
	}
	for _, name := range slices.Sorted(maps.Keys(w.vector)) {
		names = append(names, w.vector[name].table())
	}
	var b pgx.Batch
	b.Queue("TRUNCATE " + strings.Join(names, ", "))
	b.Queue("UPDATE field SET chunks = 0, tokens = 0")
	b.Queue("UPDATE total SET chunks = 0, vectors = 0, generation = generation + 1")
	return w.tx.SendBatch(ctx, &b).Close()
}
