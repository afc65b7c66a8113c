package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/analysis"
)

// openedPages is how many pages opening a segment may read: header, footer, table of contents, metadata, and the
// tables' ends. Each of the four ends has checksums. The checksums take one page for a table up to 1 MiB, two up to
// 512.
const openedPages = 12

// TestOpeningReads checks that opening reads the same few pages of any segment, and a manifest of the same size.
func TestOpeningReads(t *testing.T) {
	must.Whole(t, "it makes large indexes")
	a := must.Get(analysis.New(analysis.Options{}))
	const dims = 1024
	var before touchedFiles
	for _, n := range []int{1500, 15_000} {
		dir := t.TempDir()
		rng := rand.New(rand.NewPCG(5, uint64(n)))
		chunks := randomChunks(rng, 0, n, 300)
		for i := range chunks {
			v := make([]float32, dims)
			for d := range v {
				v[d] = rng.Float32() - 0.5
			}
			chunks[i].ID = fmt.Sprintf("chunk %d", i)
			chunks[i].Vectors = []Vectors{{"body", [][]float32{v}}}
		}
		options := Options{Dir: dir, Analyzer: a, Fields: testFields, Vectors: []VectorModel{{"body", "test", dims}}}
		ix := must.Get(Open(options))
		commit(t, ix, nil, chunks)
		must.Do(t, ix.Close())
		read := touchedBy(t, func(fs vfs.FS) error {
			options.FS = fs
			ix, err := Open(options)
			if err != nil {
				return err
			}
			s, err := ix.Acquire()
			if err != nil {
				return errors.Join(err, ix.Close())
			}
			if s.Chunks() != n {
				err = fmt.Errorf("%d chunks, not %d", s.Chunks(), n)
			}
			return errors.Join(err, s.Release(), ix.Close())
		})
		t.Logf("%d chunks: %v", n, read)
		check.That(t, read.Files == 1 && read.Pages <= openedPages,
			"%d chunks: %v are looked at, of one segment at most %d may be", n, read, openedPages)
		check.That(t, before.Files <= 0 || read.Size >= 8*before.Size && read.Pages <= before.Pages+4 &&
			read.Bytes <= before.Bytes+16, "%d chunks: %v; a tenth of them: %v", n, read, before)
		before = read
	}
}
