package benchmark

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkWords asks our own engine what sheaf bench asks, on an index that is
// kept between runs: the corpus of SHEAF_TEST_CHUNKS chunks of the folders in
// SHEAF_TEST_DIR is written to the folder SHEAF_TEST_INDEX, and indexed there, when it
// is not there yet. One pass over all queries of a class is one iteration; quantiles
// are those of each query's fastest pass, on the wall and of the processors, which
// other work on the machine disturbs least.
func BenchmarkWords(b *testing.B) {
	dir := os.Getenv("SHEAF_TEST_INDEX")
	if dir == "" {
		b.Skip("no SHEAF_TEST_INDEX: it names the folder of the corpus and its index")
	}
	corpus, index := filepath.Join(dir, "corpus"), filepath.Join(dir, "index")
	if _, err := os.Stat(corpus); err != nil {
		writeCorpus(b, corpus)
	}
	engine := Own(TaskWords, Meta{})
	if _, err := os.Stat(index); err != nil {
		docs, err := readLines[Document](filepath.Join(corpus, corpusFile))
		if err != nil {
			b.Fatal(err)
		}
		if err := engine.Build(context.Background(), index, docs, nil); err != nil {
			b.Fatal(err)
		}
	}
	queries, err := readLines[Query](filepath.Join(corpus, queriesFile))
	if err != nil {
		b.Fatal(err)
	}
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
				if pass == 1 { // the pages are in memory, the checksums verified
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

// processTime is the time that this process has run on processors.
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
	c, err := ReadFolders(filepath.SplitList(os.Getenv("SHEAF_TEST_DIR")), chunks)
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
