package segment

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"sheaf/index/engine/vector"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// vectorSegment opens a new segment of chunks with 0 to 2 passages. The passages have few different
// numbers, so many scores are equal.
func vectorSegment(t *testing.T, rng *rand.Rand, name string, n, dims int) *Reader {
	t.Helper()
	b := NewBuilder([]string{"body"})
	for i := range n {
		must.Do(t, must.Err(b.Begin(fmt.Sprintf("%s%05d", name, i), name)))
		var passages [][]float32
		for range rng.IntN(3) {
			passage := make([]float32, dims)
			for j := range passage {
				passage[j] = float32(rng.IntN(3))
			}
			passages = append(passages, passage)
		}
		must.Do(t, b.Vectors("v", passages))
		if i%10 == 9 {
			b.RemoveChunk(fmt.Sprintf("%s%05d", name, i-3))
		}
	}
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, Flush(vfs.Disk{}, path, 0, b))
	return openSegment(t, path)
}

func openSegment(t *testing.T, path string) *Reader {
	t.Helper()
	r := must.Get(Open(vfs.Disk{}, path))
	t.Cleanup(func() { _ = r.Close() })
	faults := r.Check(t.Context())
	must.That(t, len(faults) == 0, "%v", faults)
	return r
}

// alone returns the score of each chunk when a filter allows only this chunk.
func alone(t *testing.T, r *Reader, query []float32) []vector.Neighbor {
	t.Helper()
	var out []vector.Neighbor
	for i := range r.Chunks() {
		only := NewBitset(r.Chunks())
		only.Set(uint32(i))
		found, err := r.VectorField("v").Search(t.Context(), nil, query, only, 5, vector.Options{})
		must.That(t, err == nil && len(found) <= 1 && (len(found) != 1 || found[0].Ordinal == uint32(i)), "chunk %d: %v, %v",
			i, found, err)
		out = append(out, found...)
	}
	return out
}

// TestSearchVectors compares a search with the scores of single chunks.
func TestSearchVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	r := vectorSegment(t, rng, "c", 3000, 6)
	query := []float32{0.5, -0.5, 0.25, 1, -0.1, 0.3}
	allowed := NewBitset(r.Chunks())
	var want []vector.Neighbor
	for _, n := range alone(t, r, query) {
		if n.Ordinal%3 > 0 {
			want = append(want, n)
		}
	}
	for i := range r.Chunks() {
		if i%3 > 0 {
			allowed.Set(uint32(i))
		}
	}
	slices.SortFunc(want, func(a, b vector.Neighbor) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Ordinal, b.Ordinal))
	})
	n, err := r.VectorField("v").Count(allowed)
	check.That(t, n == len(want) && err == nil, "counts %d of %d, %v", n, len(want), err)
	for _, k := range []int{1, 10, 500, 5000} {
		got, err := r.VectorField("v").Search(t.Context(), nil, query, allowed, k, vector.Options{})
		must.That(t, err == nil && len(got) >= min(k, len(want)) && slices.Equal(got, want[:len(got)]),
			"k %d: %d found, %v:\n%v\nwant\n%v", k, len(got), err, got, want[:min(len(got), len(want))])
		must.That(t, len(got) >= len(want) || want[len(got)].Score != got[len(got)-1].Score,
			"k %d: a chunk that scores the same as the last is left out", k)
	}
}

// TestMergeVectors checks that a merge changes no score and no passage, and drops deleted chunks.
func TestMergeVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	a, b := vectorSegment(t, rng, "a", 700, 70), vectorSegment(t, rng, "b", 300, 70)
	deleted := NewBitset(a.Chunks())
	for i := range a.Chunks() {
		if rng.IntN(4) == 0 {
			deleted.Set(uint32(i))
		}
	}
	query := make([]float32, 70)
	for i := range query {
		query[i] = float32(rng.NormFloat64())
	}
	path := filepath.Join(t.TempDir(), "merged")
	must.Do(t, Merge(t.Context(), vfs.Disk{}, path, 1, []Source{{Reader: a, Deleted: deleted}, {Reader: b}},
		nil))
	merged := openSegment(t, path)
	want := map[string]vector.Neighbor{}
	for _, in := range []struct {
		*Reader
		deleted Bitset
	}{{a, deleted}, {b, NewBitset(b.Chunks())}} {
		for _, n := range alone(t, in.Reader, query) {
			if id, err := in.ID(nil, n.Ordinal); err != nil {
				t.Fatal(err)
			} else if !in.deleted.Has(n.Ordinal) {
				want[string(id)] = n
			}
		}
	}
	got := alone(t, merged, query)
	check.That(t, len(got) == len(want) && merged.VectorField("v").Field().Owned == len(want),
		"%d chunks have vectors, want %d", len(got), len(want))
	for _, n := range got {
		id, err := merged.ID(nil, n.Ordinal)
		if w := want[string(id)]; err != nil || w.Score != n.Score || w.Passage != n.Passage {
			t.Fatalf("%s: %+v, before the merge %+v, %v", id, n, w, err)
		}
	}
}

// TestHostileVectorSections checks that sections which contradict each other are reported as damage.
func TestHostileVectorSections(t *testing.T) {
	for what, spoil := range map[string]func(s *vector.Set){
		"none":            func(*vector.Set) {},
		"owner too large": func(s *vector.Set) { s.Owners[len(s.Owners)-1] = 255 },
		"owner falls":     func(s *vector.Set) { copy(s.Owners[:3], []byte{9, 0, 0}) },
		"first rows":      func(s *vector.Set) { s.Firsts[0] = 200 },
		"no first rows":   func(s *vector.Set) { s.Firsts = nil },
		"scale":           func(s *vector.Set) { copy(s.Scales, []byte{0, 0, 192, 127}) },
		"rows":            func(s *vector.Set) { s.Rows = s.Rows[1:] },
		"codes":           func(s *vector.Set) { s.Codes = s.Codes[8:] },
		"count":           func(s *vector.Set) { s.Count++ },
		"owned":           func(s *vector.Set) { s.Owned-- },
	} {
		buffer := vector.NewBuffer(5)
		b := NewBuilder([]string{"body"})
		for i := range 100 {
			must.Do(t, must.Err(b.Begin(fmt.Sprint(i), "d")))
			buffer.Add(uint32(i), []float32{1, float32(i), 2, 3, 4})
		}
		set := buffer.Set(100)
		spoil(set)
		path := filepath.Join(t.TempDir(), "s")
		w := must.Get(createFile(vfs.Disk{}, path, kind))
		f := flusher{file: w}
		f.add(b)
		f.postings(f.lengths())
		w.lengths(b.fields, f.lengths())
		w.identifiers(b.ids.Items, b.docs.Items)
		w.endColumns()
		w.vectors("v", vector.Depth{}, []vectorPart{{set: set}})
		must.Do(t, w.finish())
		r, err := Open(vfs.Disk{}, path)
		if err == nil {
			_, err = r.VectorField("v").Search(t.Context(), nil, []float32{1, 2, 3, 4, 5}, nil, 10, vector.Options{})
			err = errors.Join(err, r.Close())
		}
		check.That(t, (what != "none" || err == nil) && (what == "none" || errors.Is(err, vfs.ErrCorrupt)), "%s: %v", what,
			err)
	}
}

// TestVectorSize checks that a stored vector of 256 dimensions takes less than 300 bytes.
func TestVectorSize(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	b := NewBuilder([]string{"body"})
	const n = 1000
	for i := range n {
		must.Do(t, must.Err(b.Begin(fmt.Sprint(i), "d")))
		v := make([]float32, 256)
		for j := range v {
			v[j] = float32(rng.NormFloat64() / math.Sqrt(256))
		}
		must.Do(t, b.Vectors("v", [][]float32{v}))
	}
	path := filepath.Join(t.TempDir(), "s")
	must.Do(t, Flush(vfs.Disk{}, path, 0, b))
	parts := openSegment(t, path).Parts()
	var size int64
	for _, name := range []string{"vectors", "codes", "scales", "owners", "firsts"} {
		size += parts[name]
	}
	check.That(t, size <= 300*n && size >= 256*n, "%d vectors take %d bytes", n, size)
}
