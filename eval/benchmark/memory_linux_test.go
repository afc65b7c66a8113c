package benchmark

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkBuildMemory lets Sheaf's engine index the corpus of [BenchmarkWords] with each memory limit of
// SHEAF_TEST_MEMORY in MB (default 64,128,256,512). anon-MB is the largest resident anonymous memory minus the memory
// at the start, which includes the corpus. file-MB is the same for pages of files, which the kernel can take back.
func BenchmarkBuildMemory(b *testing.B) {
	corpus, input := keptInput(b)
	list := os.Getenv("SHEAF_TEST_MEMORY")
	if list == "" {
		list = "64,128,256,512"
	}
	for name := range strings.SplitSeq(list, ",") {
		allowed, err := strconv.ParseInt(name, 10, 64)
		if err != nil {
			b.Fatalf("SHEAF_TEST_MEMORY: %v", err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				dir := b.TempDir()
				debug.FreeOSMemory()
				ofFiles := func() int64 {
					_, shared := pages("self")
					return shared
				}
				before, most := anonymous("self"), watch(func() int64 { return anonymous("self") })
				filesBefore, mostOfFiles := ofFiles(), watch(ofFiles)
				used := processTime()
				b.StartTimer()
				engine := &own{task: TaskWords, memory: allowed << 20}
				if err := engine.Build(context.Background(), dir, corpus.docs.Items, nil); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				b.ReportMetric(float64(most()-before)/(1<<20), "anon-MB")
				b.ReportMetric(float64(mostOfFiles()-filesBefore)/(1<<20), "file-MB")
				b.ReportMetric(float64(input)/1e6/(processTime()-used).Seconds(), "MB/cpu-s")
				b.ReportMetric(float64(segments(b, dir)), "segments")
				b.StartTimer()
			}
		})
	}
}

// keptInput reads the corpus of [BenchmarkWords] outside the heap and returns the size of its titles and texts.
func keptInput(b *testing.B) (*input, int64) {
	b.Helper()
	corpus, _ := keptCorpus(b)
	in, err := readInput(corpus, TaskWords, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(in.free)
	size := int64(0)
	for _, d := range in.docs.Items {
		size += int64(len(d.Title) + len(d.Text))
	}
	return in, size
}

// segments returns the number of segments of an index.
func segments(b *testing.B, dir string) int {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil {
		b.Fatal(err)
	}
	return len(files)
}
