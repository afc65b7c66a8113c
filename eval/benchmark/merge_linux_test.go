package benchmark

import (
	"context"
	"testing"
)

// BenchmarkMerge lets Sheaf's engine index the corpus of [BenchmarkWords] with 64 MB of memory,
// which leaves many segments, and then merges them. MB/cpu-s is the size of titles and bodies by
// the processor time of the merge alone.
func BenchmarkMerge(b *testing.B) {
	corpus, input := keptInput(b)
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		engine := &own{task: TaskWords, memory: 64 << 20}
		if err := engine.Build(context.Background(), dir, corpus.docs.Items, nil); err != nil {
			b.Fatal(err)
		}
		if err := engine.Open(dir); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(segments(b, dir)), "segments")
		used := processTime()
		b.StartTimer()
		if err := engine.store.Merge(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		b.ReportMetric(float64(input)/1e6/(processTime()-used).Seconds(), "MB/cpu-s")
		if err := engine.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
