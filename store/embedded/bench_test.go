package embedded_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sheaf"
	"sheaf/index/engine"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/store/storetest"
)

func load(b *testing.B, s *embedded.Store, c *collection, workers int) {
	b.Helper()
	bulk := must.Get(s.Bulk(context.Background()))
	next := make(chan store.Batch)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for batch := range next {
				if err := bulk.Add(context.Background(), batch); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for _, batch := range c.batches {
		next <- batch
	}
	close(next)
	wait.Wait()
	must.Do(b, bulk.Commit(context.Background()))
	must.Do(b, bulk.Close())
}

func BenchmarkBuild(b *testing.B) {
	c := collect()
	for _, merged := range []bool{false, true} {
		b.Run(fmt.Sprintf("merged=%t", merged), func(b *testing.B) {
			b.SetBytes(c.bytes)
			b.ReportAllocs()
			var cpu time.Duration
			for range b.N {
				peak := watchMemory()
				cpu -= storetest.CPU()
				s := open(b, embedded.Options{Dir: b.TempDir()})
				load(b, s, c, runtime.GOMAXPROCS(0))
				if merged {
					must.Do(b, s.Merge(context.Background()))
				}
				b.StopTimer()
				cpu += storetest.CPU()
				b.ReportMetric(float64(peak())/1e6, "MB-peak")
				st := must.Get(s.Stats(context.Background()))
				for name, n := range st.Parts {
					b.ReportMetric(float64(n)/float64(c.bytes), name+"/input")
				}
				b.ReportMetric(float64(st.Bytes)/float64(c.bytes), "index/input")
				b.ReportMetric(float64(st.Chunks), "chunks")
				b.StartTimer()
			}
			b.ReportMetric(float64(c.bytes)*float64(b.N)/1e6/max(cpu.Seconds(), 1e-9), "MB/cpu-s")
		})
	}
}

// watchMemory samples the program's memory, garbage included, until the caller calls most. most
// returns the largest growth in bytes.
func watchMemory() (most func() uint64) {
	held := func() uint64 {
		samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		metrics.Read(samples)
		return samples[0].Value.Uint64() - samples[1].Value.Uint64()
	}
	debug.FreeOSMemory() // otherwise growth into free memory would not count
	before := held()
	stop, ended := make(chan struct{}), make(chan uint64)
	go func() {
		peak := before
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			select {
			case <-tick.C:
				peak = max(peak, held())
			case <-stop:
				tick.Stop()
				ended <- max(peak, held()) - before
				return
			}
		}
	}()
	return func() uint64 {
		close(stop)
		return <-ended
	}
}

// searched returns the folder of the index that the benchmarks query, and the queries. With
// SHEAF_TEST_INDEX it builds the index there once; later runs use it again.
func searched(b *testing.B) (dir string, q queries) {
	b.Helper()
	dir = os.Getenv("SHEAF_TEST_INDEX")
	if dir == "" {
		dir = b.TempDir()
	}
	known := filepath.Join(dir, "queries.json")
	if data, err := os.ReadFile(known); err == nil {
		must.Do(b, json.Unmarshal(data, &q))
		return dir, q
	}
	c := collect()
	s := open(b, embedded.Options{Dir: dir})
	load(b, s, c, runtime.GOMAXPROCS(0))
	must.Do(b, s.Merge(context.Background()))
	must.Do(b, s.Close())
	data := must.Get(json.Marshal(c.queries))
	must.Do(b, os.WriteFile(known, data, 0o600))
	return dir, c.queries
}

// BenchmarkQuery searches for the top 10 in title and body. postings/all is the share of the
// postings of the query's terms that the search scored.
func BenchmarkQuery(b *testing.B) {
	dir, q := searched(b)
	index, err := engine.Open(engine.Options{Dir: dir, Analyzer: analyzer(b), Fields: sheaf.Fields[:]})
	must.Do(b, err)
	defer index.Close()
	s := must.Get(index.Acquire())
	defer s.Release()
	for _, kind := range []struct {
		name string
		list []string
	}{{"usual", q.Usual}, {"frequent", q.Frequent}} {
		request := func(i int, work *engine.Work) engine.Request {
			return engine.Request{Limit: 10, Work: work,
				Words: &engine.Words{Query: sheaf.Match{Text: kind.list[i%len(kind.list)]}, K1: 1.2, B: 0.75,
					Fields: []engine.FieldWeight{{Name: sheaf.FieldTitle, Weight: 3}, {Name: sheaf.FieldBody, Weight: 1}}}}
		}
		measure := func(b *testing.B, run func(i int) error) {
			for i := range kind.list { // load pages and verify checksums before measuring
				must.Do(b, run(i))
			}
			took, cpu := make([]time.Duration, b.N), make([]time.Duration, b.N)
			b.ResetTimer()
			for i := range b.N {
				start, used := time.Now(), storetest.CPU()
				must.Do(b, run(i))
				took[i], cpu[i] = time.Since(start), storetest.CPU()-used
			}
			slices.Sort(took)
			slices.Sort(cpu)
			for _, p := range []int{50, 95, 99} {
				b.ReportMetric(float64(took[b.N*p/100].Microseconds()), fmt.Sprintf("p%d-µs", p))
				b.ReportMetric(float64(cpu[b.N*p/100].Microseconds()), fmt.Sprintf("p%d-cpu-µs", p))
			}
			b.ReportMetric(float64(s.Chunks()), "chunks")
			b.ReportMetric(float64(resident())/1e6, "MB-resident")
		}
		b.Run(kind.name, func(b *testing.B) {
			var work engine.Work
			measure(b, func(i int) error {
				_, err := s.Search(context.Background(), request(i, &work))
				return err
			})
			b.ReportMetric(float64(work.Scored)/float64(work.Postings), "postings/all")
		})
		b.Run(kind.name+"-8-clients", func(b *testing.B) {
			took := make([]time.Duration, b.N)
			var next atomic.Int64
			var wait sync.WaitGroup
			for range 8 {
				wait.Go(func() {
					for i := int(next.Add(1)) - 1; i < b.N; i = int(next.Add(1)) - 1 {
						start := time.Now()
						if _, err := s.Search(context.Background(), request(i, nil)); err != nil {
							b.Error(err)
						}
						took[i] = time.Since(start)
					}
				})
			}
			wait.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "queries/s")
			b.ReportMetric(float64(took[b.N/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[b.N*99/100].Microseconds()), "p99-µs")
		})
	}
}

func BenchmarkCommitOneDocument(b *testing.B) {
	c := collect()
	s := open(b, embedded.Options{Dir: b.TempDir()})
	load(b, s, c, runtime.GOMAXPROCS(0))
	b.ResetTimer()
	for i := range b.N {
		must.Do(b, s.Write(context.Background(), c.batches[i%len(c.batches)]))
	}
}

func BenchmarkOpen(b *testing.B) {
	dir, _ := searched(b)
	b.ResetTimer()
	for range b.N {
		r := must.Get(embedded.Open(embedded.Options{Dir: dir, Analyzer: analyzer(b)}))
		must.Do(b, r.Close())
	}
}
