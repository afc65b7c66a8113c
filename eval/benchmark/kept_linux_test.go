package benchmark

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sheaf/internal/must"
)

// kept is a corpus that stays between runs, with its index. Its documents are outside the heap.
type kept struct {
	*input
	folder, index string
	size          int64 // of titles and texts
}

// keptCorpus returns the corpus in the folder SHEAF_TEST_INDEX. It writes a missing one, of SHEAF_TEST_CHUNKS
// chunks from the folders in SHEAF_TEST_DIR.
func keptCorpus(b *testing.B) kept {
	b.Helper()
	dir := os.Getenv("SHEAF_TEST_INDEX")
	if dir == "" {
		b.Skip("no SHEAF_TEST_INDEX: it names the folder of the corpus and its index")
	}
	k := kept{folder: filepath.Join(dir, "corpus"), index: filepath.Join(dir, "index")}
	if _, err := os.Stat(k.folder); err != nil {
		chunks, err := strconv.Atoi(os.Getenv("SHEAF_TEST_CHUNKS"))
		must.That(b, err == nil, "SHEAF_TEST_CHUNKS: %v", err)
		c, err := readFolders(filepath.SplitList(os.Getenv("SHEAF_TEST_DIR")), chunks)
		if err == nil {
			err = c.Write(k.folder)
		}
		must.Do(b, err)
	}
	k.input = must.Get(readInput(k.folder, TaskWords, 0))
	b.Cleanup(k.free)
	for _, d := range k.docs.Items {
		k.size += int64(len(d.Title) + len(d.Text))
	}
	return k
}

// build indexes the corpus in dir with a memory limit; 0 is the engine's default.
func (k kept) build(b *testing.B, dir string, memory int64) *ownTask {
	b.Helper()
	engine := &ownTask{task: TaskWords, memory: memory}
	must.Do(b, engine.Build(b.Context(), dir, k.docs.Items, nil))
	return engine
}

// rate reports the size of titles and bodies per second of processor time.
func (k kept) rate(b *testing.B, name string, took time.Duration) {
	b.ReportMetric(float64(k.size)/1e6/took.Seconds(), name)
}

// segments reports the number of segments of an index.
func segments(b *testing.B, dir string) {
	b.Helper()
	files := must.Get(filepath.Glob(filepath.Join(dir, "*.seg")))
	b.ReportMetric(float64(len(files)), "segments")
}

// processTime returns the processor time of this process.
func processTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// BenchmarkWords runs the queries of sheaf bench on Sheaf's engine. One pass over all queries of a
// class is one iteration. Quantiles are over each query's fastest pass, by wall and processor time,
// because other programs disturb these least. Words/open opens and closes the index.
func BenchmarkWords(b *testing.B) {
	k := keptCorpus(b)
	engine := &ownTask{task: TaskWords}
	if _, err := os.Stat(k.index); err != nil {
		engine = k.build(b, k.index, 0)
	}
	queries := must.Get(readLines[Query](filepath.Join(k.folder, queriesFile)))
	b.Run("open", func(b *testing.B) {
		used := processTime()
		for range b.N {
			must.Do(b, errors.Join(engine.Open(k.index), engine.Close()))
		}
		b.ReportMetric(float64((processTime()-used).Microseconds())/float64(b.N), "cpu-µs/op")
	})
	must.Do(b, engine.Open(k.index))
	defer engine.Close()
	for _, class := range classes {
		mine := slices.DeleteFunc(slices.Clone(queries), func(q Query) bool { return q.Class != class })
		b.Run(class, func(b *testing.B) {
			wall, cpu := make([]float64, len(mine)), make([]float64, len(mine))
			for pass := range b.N + 1 {
				if pass == 1 { // the pages are in memory now, and the checksums are verified
					b.ResetTimer()
				}
				for i, q := range mine {
					began, used := time.Now(), processTime()
					must.Get(engine.Ask(b.Context(), q.Text, nil))
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

// BenchmarkBuild lets Sheaf's engine index the kept corpus as sheaf bench does, until the index is durable.
func BenchmarkBuild(b *testing.B) {
	k := keptCorpus(b)
	b.SetBytes(k.size)
	best := time.Duration(math.MaxInt64)
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		runtime.GC()
		b.StartTimer()
		began := processTime()
		k.build(b, dir, 0)
		best = min(best, processTime()-began)
		b.StopTimer()
		indexed := must.Get(folderBytes(dir))
		b.ReportMetric(float64(indexed)/float64(k.size), "index/input")
		b.StartTimer()
	}
	k.rate(b, "best-MB/cpu-s", best)
}

// BenchmarkBuildMemory lets Sheaf's engine index the kept corpus with each memory limit of SHEAF_TEST_MEMORY in MB
// (default 64,128,256,512). anon-MB is the largest resident anonymous memory minus the memory at the start, which
// includes the corpus. file-MB is the same for pages of files, which the kernel can take back.
func BenchmarkBuildMemory(b *testing.B) {
	k := keptCorpus(b)
	list := os.Getenv("SHEAF_TEST_MEMORY")
	if list == "" {
		list = "64,128,256,512"
	}
	for name := range strings.SplitSeq(list, ",") {
		allowed, err := strconv.ParseInt(name, 10, 64)
		must.That(b, err == nil, "SHEAF_TEST_MEMORY: %v", err)
		b.Run(name, func(b *testing.B) {
			ofFiles := func() int64 {
				_, shared := pages("self")
				return shared
			}
			for b.Loop() {
				b.StopTimer()
				dir := b.TempDir()
				debug.FreeOSMemory()
				before, most := anonymous("self"), watch(func() int64 { return anonymous("self") })
				filesBefore, mostOfFiles := ofFiles(), watch(ofFiles)
				used := processTime()
				b.StartTimer()
				k.build(b, dir, allowed<<20)
				b.StopTimer()
				b.ReportMetric(float64(most()-before)/(1<<20), "anon-MB")
				b.ReportMetric(float64(mostOfFiles()-filesBefore)/(1<<20), "file-MB")
				k.rate(b, "MB/cpu-s", processTime()-used)
				segments(b, dir)
				b.StartTimer()
			}
		})
	}
}
