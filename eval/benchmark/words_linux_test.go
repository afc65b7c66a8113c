package benchmark

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkWords runs the queries of sheaf bench on Sheaf's engine, on an index that stays between
// runs. The first run writes a corpus of SHEAF_TEST_CHUNKS chunks from the folders in
// SHEAF_TEST_DIR to the folder SHEAF_TEST_INDEX, and indexes it. One pass over all queries of a
// class is one iteration. Quantiles are over each query's fastest pass, by wall and processor time,
// because other programs disturb these least. Words/open opens and closes the index.
func BenchmarkWords(b *testing.B) {
	corpus, index := keptCorpus(b)
	engine := Own(TaskWords, Meta{})
	if _, err := os.Stat(index); err != nil {
		in, _ := keptInput(b)
		if err := engine.Build(context.Background(), index, in.docs.Items, nil); err != nil {
			b.Fatal(err)
		}
	}
	queries, err := readLines[Query](filepath.Join(corpus, queriesFile))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("open", func(b *testing.B) {
		used := processTime()
		for range b.N {
			if err := errors.Join(engine.Open(index), engine.Close()); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64((processTime()-used).Microseconds())/float64(b.N), "cpu-µs/op")
	})
	if err := engine.Open(index); err != nil {
		b.Fatal(err)
	}
	defer engine.Close()
	for _, class := range []string{"real", "hot"} {
		var mine []Query
		for _, q := range queries {
			if q.Class == class {
				mine = append(mine, q)
			}
		}
		b.Run(class, func(b *testing.B) {
			wall, cpu := make([]float64, len(mine)), make([]float64, len(mine))
			for pass := range b.N + 1 {
				if pass == 1 { // the pages are in memory now, and the checksums are verified
					b.ResetTimer()
				}
				for i, q := range mine {
					began, used := time.Now(), processTime()
					if _, err := engine.Ask(context.Background(), q.Text, nil); err != nil {
						b.Fatal(err)
					}
					took, ran := time.Since(began).Seconds()*1e6, (processTime()-used).Seconds()*1e6
					if pass <= 1 {
						wall[i], cpu[i] = took, ran
					}
					wall[i], cpu[i] = min(wall[i], took), min(cpu[i], ran)
				}
			}
			slices.Sort(wall)
			slices.Sort(cpu)
			for _, p := range []int{50, 95, 99} {
				b.ReportMetric(wall[len(wall)*p/100], fmt.Sprintf("p%d-µs", p))
				b.ReportMetric(cpu[len(cpu)*p/100], fmt.Sprintf("p%d-cpu-µs", p))
			}
		})
	}
}

// BenchmarkBuild lets Sheaf's engine index the corpus of [BenchmarkWords] as sheaf bench does: cut
// chunks, each with an ID, a title and a body, until the index is durable. MB/cpu-s is the size of
// titles and bodies per second of processor time, including kernel and garbage collector.
func BenchmarkBuild(b *testing.B) {
	corpus, size := keptInput(b)
	indexed := int64(0)
	b.SetBytes(size)
	best := time.Duration(math.MaxInt64)
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		runtime.GC()
		b.StartTimer()
		began := processTime()
		if err := Own(TaskWords, Meta{}).Build(context.Background(), dir, corpus.docs.Items, nil); err != nil {
			b.Fatal(err)
		}
		best = min(best, processTime()-began)
		b.StopTimer()
		var err error
		if indexed, err = folderBytes(dir); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(size)/1e6/best.Seconds(), "best-MB/cpu-s")
	b.ReportMetric(float64(indexed)/float64(size), "index/input")
}

// keptCorpus returns the folder of the corpus that stays between runs, and of its index. It writes
// a missing corpus.
func keptCorpus(b *testing.B) (corpus, index string) {
	b.Helper()
	dir := os.Getenv("SHEAF_TEST_INDEX")
	if dir == "" {
		b.Skip("no SHEAF_TEST_INDEX: it names the folder of the corpus and its index")
	}
	corpus, index = filepath.Join(dir, "corpus"), filepath.Join(dir, "index")
	if _, err := os.Stat(corpus); err != nil {
		writeCorpus(b, corpus)
	}
	return corpus, index
}

// processTime returns the processor time of this process.
func processTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

func writeCorpus(b *testing.B, dir string) {
	b.Helper()
	chunks, err := strconv.Atoi(os.Getenv("SHEAF_TEST_CHUNKS"))
	if err != nil {
		b.Fatalf("SHEAF_TEST_CHUNKS: %v", err)
	}
	c, err := readFolders(filepath.SplitList(os.Getenv("SHEAF_TEST_DIR")), chunks)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	if err := c.Write(dir); err != nil {
		b.Fatal(err)
	}
}
