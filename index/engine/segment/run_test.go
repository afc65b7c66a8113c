package segment

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestMergeRuns checks that a merge of runs and segments gives the same bytes as a merge of segments.
func TestMergeRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 4))
	dir := t.TempDir()
	var segments, runs, mixed []Source
	sizes := []int{700, 40, 1500}
	if testing.Short() {
		sizes = []int{170, 40, 380}
	}
	for i, n := range sizes {
		b := filled(t, rng, string(rune('a'+i)), n)
		defer b.Forget()
		name := filepath.Join(dir, fmt.Sprint(i))
		must.Do(t, Flush(vfs.Disk{}, name, 0, b))
		must.Do(t, FlushRun(vfs.Disk{}, name+"run", 0, b))
		_, err := Open(vfs.Disk{}, name+"run")
		check.That(t, err != nil, "a run is taken for a segment")
		run := must.Get(OpenRun(vfs.Disk{}, name+"run"))
		defer run.Close()
		segment := openSegment(t, name)
		must.That(t, run.Run() && !segment.Run() && run.Chunks() == segment.Chunks(), "a run of %d chunks, a segment of %d",
			run.Chunks(), segment.Chunks())
		var deleted Bitset
		if i != 1 {
			deleted = NewBitset(run.Chunks())
			for o := range run.Chunks() {
				if rng.IntN(4) == 0 {
					deleted.Set(uint32(o))
				}
			}
		}
		segments, runs = append(segments, Source{segment, deleted}), append(runs, Source{run, deleted})
		mixed = append(mixed, [2]Source{segments[i], runs[i]}[i%2])
	}
	var want []byte
	for _, c := range []struct {
		name       string
		goroutines int
		sources    []Source
	}{{"segments", 1, segments}, {"runs", 1, runs}, {"runs", 4, runs}, {"both", 3, mixed}} {
		path := filepath.Join(dir, "merged")
		must.Do(t, Merge(t.Context(), vfs.Disk{}, path, c.goroutines, c.sources, nil))
		got := must.Get(os.ReadFile(path))
		if want == nil {
			want = got
		}
		check.That(t, bytes.Equal(got, want),
			"%s, %d goroutines: %d bytes that are not the %d that were made of segments by one", c.name, c.goroutines, len(got),
			len(want))
	}
}
