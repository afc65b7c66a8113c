package benchmark

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkBuildMemory lets our own engine index the corpus of [BenchmarkWords] with each memory limit of
// SHEAF_TEST_MEMORY in MB (default 64,128,256,512). The corpus comes from disk, so that only the engine's memory
// counts. anon-MB is the largest resident anonymous memory minus that at the start. file-MB is the same for pages
// of files, which the kernel can take back. reading-MB is the memory of the chunks in hand and their garbage,
// measured without indexing.
func BenchmarkBuildMemory(b *testing.B) {
	corpus, _ := keptCorpus(b)
	list := os.Getenv("SHEAF_TEST_MEMORY")
	if list == "" {
		list = "64,128,256,512"
	}
	debug.FreeOSMemory()
	idle, read := Anonymous("self"), watch(func() int64 { return Anonymous("self") })
	engine, input := &own{task: TaskWords}, int64(0)
	err := feed(context.Background(), eachBatch(b, corpus, &input),
		func(_ context.Context, docs []Document, _ [][]float32) error {
			runtime.KeepAlive(engine.batch(docs, nil))
			return nil
		})
	if err != nil {
		b.Fatal(err)
	}
	reading := float64(read()-idle) / (1 << 20)
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
				before, most := Anonymous("self"), watch(func() int64 { return Anonymous("self") })
				filesBefore, mostOfFiles := ofFiles(), watch(ofFiles)
				used, input := processTime(), int64(0)
				b.StartTimer()
				engine := &own{task: TaskWords, memory: allowed << 20}
				if err := engine.build(context.Background(), dir, eachBatch(b, corpus, &input)); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				b.ReportMetric(float64(most()-before)/(1<<20), "anon-MB")
				b.ReportMetric(reading, "reading-MB")
				b.ReportMetric(float64(mostOfFiles()-filesBefore)/(1<<20), "file-MB")
				b.ReportMetric(float64(input)/1e6/(processTime()-used).Seconds(), "MB/cpu-s")
				b.ReportMetric(float64(segments(b, dir)), "segments")
				b.StartTimer()
			}
		})
	}
}

// eachBatch reads the corpus, a batch at a time; input is how much it has read.
func eachBatch(b *testing.B, corpus string, input *int64) func() ([]Document, [][]float32, error) {
	f, err := os.Open(filepath.Join(corpus, corpusFile))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	d := json.NewDecoder(bufio.NewReaderSize(f, 1<<18))
	return func() ([]Document, [][]float32, error) {
		docs := make([]Document, 0, batchChunks)
		for len(docs) < batchChunks && d.More() {
			var one Document
			if err := d.Decode(&one); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", f.Name(), err)
			}
			*input += int64(len(one.Title) + len(one.Text))
			docs = append(docs, one)
		}
		return docs, nil, nil
	}
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
