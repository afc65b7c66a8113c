package benchmark

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// passes is the number of times that one client runs the queries of each class.
	passes = 3
	// The first pass ends after warmupPasses times the limit of a measured pass. The benchmark judges the answers of the
	// first pass, but does not measure its times.
	warmupPasses = 3
)

// askFunc answers the query with index i. It returns the IDs of the hits.
type askFunc func(ctx context.Context, i int) ([]string, error)

// measure runs the queries as the protocol in peer.go says. It sets r.Hits and r.Classes.
func measure(ctx context.Context, queries []Query, m Meta, r *Result, f askFunc) error {
	byClass := map[string][]int{}
	for i, q := range queries {
		byClass[q.Class] = append(byClass[q.Class], i)
	}
	r.Hits, r.Classes = map[string][]string{}, map[string]*Class{}
	limit := time.Duration(m.Seconds * float64(time.Second))
	for class, list := range byClass {
		began := time.Now()
		for _, i := range list {
			hits, err := f(ctx, i)
			if err != nil {
				return err
			}
			r.Hits[queries[i].ID] = hits
			if time.Since(began) > warmupPasses*limit {
				break
			}
		}
		c := &Class{}
		for range passes {
			began := time.Now()
			var micros []float64
			for _, i := range list {
				start := time.Now()
				if _, err := f(ctx, i); err != nil {
					return err
				}
				micros = append(micros, float64(time.Since(start).Nanoseconds())/1000)
				if time.Since(began) > limit {
					break
				}
			}
			c.Micros = append(c.Micros, micros)
			c.QPS = max(c.QPS, float64(len(micros))/time.Since(began).Seconds())
		}
		var err error
		if c.ClientsQPS, c.ClientsMicros, err = runTogether(ctx, list, m.Clients, limit, f); err != nil {
			return err
		}
		r.Classes[class] = c
	}
	return nil
}

// runTogether runs the queries with the indexes in list, with several clients at the same time. A client that is ready
// takes the next query. runTogether ends after limit, or after every query ran twice. qps is the number of queries in a
// second; micros has the microseconds of each query. err is the last error of a query.
func runTogether(ctx context.Context, list []int, clients int, limit time.Duration, f askFunc) (qps float64,
	micros []float64, err error) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	var next atomic.Int64
	began := time.Now()
	for range max(clients, 1) {
		wait.Go(func() {
			var mine []float64
			for time.Since(began) < limit {
				at := int(next.Add(1)) - 1
				if at >= 2*len(list) {
					break
				}
				start := time.Now()
				_, fault := f(ctx, list[at%len(list)])
				mine = append(mine, float64(time.Since(start).Nanoseconds())/1000)
				if fault != nil {
					mu.Lock()
					err = fault
					mu.Unlock()
					return
				}
			}
			mu.Lock()
			micros = append(micros, mine...)
			mu.Unlock()
		})
	}
	wait.Wait()
	return float64(len(micros)) / time.Since(began).Seconds(), micros, err
}
