package main

import (
	"context"
	"fmt"

	"sheaf"
	"sheaf/backend"
	"sheaf/cmd/sheaf/internal/terminal"
)

// recallQueries is how many queries status --recall samples for each vector field:
// at 100 neighbors each, one in 20,000 makes a difference that is printed.
const recallQueries = 200

// recall measures how much of what brute force finds is found.
func (s *session) recall(ctx context.Context) ([]backend.Recall, error) {
	meter, ok := s.backend.(backend.RecallMeter)
	if !ok {
		return nil, fmt.Errorf("measure recall: %w: this store cannot compare its searches with brute force", sheaf.ErrUnsupported)
	}
	progress := terminal.NewProgress(s.err, "measuring")
	list, err := meter.Recall(ctx, recallQueries, func(done, total int) { progress.Update(done, total, int64(done), "queries") })
	progress.Done()
	return list, err
}

// recallRows are the lines of the table of status.
func recallRows(list []backend.Recall) [][]string {
	rows := [][]string{}
	if len(list) == 0 {
		rows = append(rows, []string{"recall", "no vectors"})
	}
	for _, r := range list {
		text := fmt.Sprintf("%.4f at 10, %.4f at 100, of %s with %d dimensions; %.2f ms, comparing all of them takes %.2f ms",
			r.At10, r.At100, terminal.Plural(r.Passages, "vector", "vectors"), r.Dims, r.SearchMillis, r.BruteForceMillis)
		if r.Exhaustive {
			text = fmt.Sprintf("all: the %s are all compared, in %.2f ms", terminal.Plural(r.Passages, "vector", "vectors"), r.SearchMillis)
		}
		rows = append(rows, []string{"recall, " + terminal.Clean(r.Field), text})
	}
	return rows
}
