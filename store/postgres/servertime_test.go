package postgres

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sheaf/internal/must"
)

// serverTime returns the processor time of this program's server processes, if they run on this
// machine, else 0. Other work on the machine does not change it.
func serverTime(b *testing.B, s *Store) (sum time.Duration) {
	b.Helper()
	rows, _ := s.pool.Query(context.Background(), "SELECT pid FROM pg_stat_activity WHERE application_name = 'sheaf'")
	var pid int
	must.Get(pgx.ForEachRow(rows, []any{&pid}, func() error {
		var ran int64
		if told, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid)); err == nil {
			_, err = fmt.Sscan(string(told), &ran)
			sum += time.Duration(ran)
			return err
		}
		return nil
	}))
	return sum
}
