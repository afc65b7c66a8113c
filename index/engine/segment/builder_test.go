package segment

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// addToken adds a token to a field of the last chunk.
func addToken(b *Builder, field int, name []byte, position uint32) {
	term := b.Term(name)
	if name[0] == FormMark {
		term |= FormToken
	}
	b.Tokens(field, []Token{{term, position}})
}

// fillBuilder adds random chunks for a seed.
func fillBuilder(t *testing.T, b *Builder, seed uint64, most int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	for i := range 1 + rng.IntN(most) {
		must.Do(t, must.Err(b.Begin(fmt.Sprintf("%d/%d", seed, i), fmt.Sprint(seed, i/5))))
		for position := range rng.IntN(30) {
			addToken(b, rng.IntN(2), fmt.Appendf(nil, "t%d", rng.IntN(100+10*int(seed))), uint32(position))
		}
		addToken(b, rng.IntN(2), fmt.Appendf([]byte{FormMark}, "f%d", rng.IntN(50)), 0)
		b.Mark(b.Column("c", Value{Kind: 1, Text: fmt.Sprint(rng.IntN(9))}))
		for _, name := range []string{"v", "w"}[rng.IntN(2):] {
			must.Do(t, b.Vectors(name, [][]float32{{rng.Float32(), rng.Float32(), float32(seed)}}))
		}
	}
	if rng.IntN(2) == 0 {
		b.RemoveDocument(fmt.Sprint(seed, 0))
		b.RemoveChunk(fmt.Sprintf("%d/%d", seed, 7))
	}
}

// flushed returns the file that builders write.
func flushed(t *testing.T, builders ...*Builder) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	must.Do(t, Flush(vfs.Disk{}, path, 0, builders...))
	data := must.Get(os.ReadFile(path))
	return data
}

// TestResetBuilderWritesSameBytes checks that a reset builder writes the same bytes as a new one, whatever it held
// before.
func TestResetBuilderWritesSameBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 3))
	used := NewBuilder([]string{"a", "b"})
	for round := range 8 {
		seed := rng.Uint64N(50)
		fresh := NewBuilder([]string{"a", "b"})
		fillBuilder(t, used, seed, 200)
		fillBuilder(t, fresh, seed, 200)
		must.That(t, used.Len() == 0 || bytes.Equal(flushed(t, used), flushed(t, fresh)),
			"round %d, seed %d: the files differ", round, seed)
		used.Reset()
		must.That(t, used.Empty() && used.Len() == 0, "round %d: the builder is not empty", round)
	}
}

// TestBuilderMemory checks that a builder uses about the memory that it reports, also for a second segment.
func TestBuilderMemory(t *testing.T) {
	must.Whole(t, "it measures memory")
	fields := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	b := NewBuilder(fields)
	term := b.Term([]byte("t"))
	tokens := make([]Token, 1<<12)
	live := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // empties the pools
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := live()
	for field := range fields {
		for i := 0; b.Bytes() < 8<<20; i++ {
			must.Do(t, must.Err(b.Begin(fmt.Sprint(field, "/", i), "d")))
			for at := range tokens {
				tokens[at] = Token{term, uint32(at)}
			}
			b.Tokens(field, tokens)
		}
		kept, said := live()-before, b.Bytes()
		check.That(t, kept <= said*5/4, "segment %d: %d bytes are kept, %d are said to be", field, kept, said)
		b.Reset()
		kept, said = live()-before, b.Bytes()
		check.That(t, kept <= said+1<<20, "after segment %d: %d bytes are kept, %d are said to be", field, kept, said)
	}
	runtime.KeepAlive(b)
}

// TestTooManyOccurrences checks that a builder refuses a chunk after the maximum number of occurrences, until a
// reset.
func TestTooManyOccurrences(t *testing.T) {
	if math.MaxInt == maxOccurrences {
		t.Skip("an int of 32 bits counts no more")
	}
	b := NewBuilder([]string{"a", "b"})
	fillBuilder(t, b, 3, 50)
	more := int64(maxOccurrences) + 1 // not a constant: an int may have 32 bits
	b.texts[1].counted = int(more)
	check.Is(t, must.Err(b.Begin("id", "doc")), ErrTooLarge, "one chunk more")
	b.Reset()
	_, err := b.Begin("id", "doc")
	check.That(t, err == nil, "%v", err)
}

// TestNames checks that each name has one number in any order, and that other names do not change it.
func TestNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 6))
	var n names
	defer n.free()
	numbers := map[string]uint32{}
	for range 30_000 {
		name := fmt.Appendf(nil, "%0*d", rng.IntN(12), rng.IntN(8000))
		if rng.IntN(2000) == 0 {
			name = bytes.Repeat(name, 32<<10)
		}
		want, known := numbers[string(name)]
		got, added := n.number(name)
		must.That(t, added != known && (!known || got == want) && n.list.Items[got] == string(name),
			"%.20q is number %d (new: %v), want %d (known: %v)", name, got, added, want, known)
		numbers[string(name)] = got
		name[0] = 'x' // the slice belongs to the caller
	}
	must.That(t, len(n.list.Items) == len(numbers), "%d names have %d numbers", len(numbers), len(n.list.Items))
}

// TestFlushTwice checks that a chunk added twice without being removed is an error.
func TestFlushTwice(t *testing.T) {
	b := NewBuilder([]string{"a"})
	for range 2 {
		must.Do(t, must.Err(b.Begin("id", "doc")))
	}
	err := Flush(vfs.Disk{}, filepath.Join(t.TempDir(), "s"), 0, b)
	check.That(t, err != nil && b.Len() == 2, "%d chunks, %v", b.Len(), err)
}

// TestSeveralBuildersWriteOneFile checks that several builders write the file that one builder writes for all chunks.
func TestSeveralBuildersWriteOneFile(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 4))
	for round := range 12 {
		most := 200
		if round == 0 {
			most = 9000 // enough vectors to measure a depth
		}
		together := NewBuilder([]string{"a", "b"})
		var builders []*Builder
		for part := range 1 + rng.IntN(3) {
			seed := uint64(100*round + part)
			fillBuilder(t, together, seed, most)
			one := NewBuilder([]string{"a", "b"})
			fillBuilder(t, one, seed, most)
			builders = append(builders, one, NewBuilder([]string{"a", "b"}))
		}
		must.That(t, together.Len() == 0 || bytes.Equal(flushed(t, builders...), flushed(t, together)),
			"round %d: the file of %d builders is not that of one", round, len(builders))
	}
}

// TestGoroutinesEncodeSameFile checks that any number of goroutines encodes the same file.
func TestGoroutinesEncodeSameFile(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 5))
	for round := range 6 {
		var builders []*Builder
		for part := range 1 + rng.IntN(3) {
			b := NewBuilder([]string{"a", "b"})
			fillBuilder(t, b, uint64(200*round+part), 400)
			for i := range rng.IntN(9 * rangeTerms) { // these include terms that no other builder has
				addToken(b, i%2, fmt.Appendf(nil, "%d", rng.IntN(1e6)), 40)
			}
			builders = append(builders, b)
		}
		var files [][]byte
		for _, goroutines := range []int{1, 2, 4} {
			before := runtime.GOMAXPROCS(goroutines)
			files = append(files, flushed(t, builders...))
			runtime.GOMAXPROCS(before)
		}
		must.That(t, bytes.Equal(files[0], files[1]) && bytes.Equal(files[0], files[2]),
			"round %d: the files of one, two and four goroutines differ", round)
	}
}

// TestEachShared checks that the chunks which two segments share are found, for any order of identifiers.
func TestEachShared(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	dir := t.TempDir()
	for round := range 20 {
		spread := 1 + rng.IntN(2000)
		var readers [2]*Reader
		var ids [2]map[string]uint32
		for side := range readers {
			b := NewBuilder([]string{"a"})
			ids[side] = map[string]uint32{}
			base := rng.IntN(3000)
			for range 1 + rng.IntN(600) {
				id := fmt.Sprintf("%05d", base+rng.IntN(spread))
				if _, ok := ids[side][id]; ok {
					continue
				}
				at := must.Get(b.Begin(id, "d"))
				ids[side][id] = at
			}
			path := filepath.Join(dir, fmt.Sprint(round, side))
			must.Do(t, Flush(vfs.Disk{}, path, 0, b))
			var err error
			if readers[side], err = Open(vfs.Disk{}, path); err != nil {
				t.Fatal(err)
			}
			defer readers[side].Close()
		}
		want := map[[2]uint32]bool{}
		for id, a := range ids[0] {
			if b, ok := ids[1][id]; ok {
				want[[2]uint32{a, b}] = true
			}
		}
		got := map[[2]uint32]bool{}
		must.Do(t, EachShared(readers[0], readers[1], func(a, b uint32) { got[[2]uint32{a, b}] = true }))
		must.That(t, maps.Equal(got, want), "round %d: %d are shared, want %d", round, len(got), len(want))
	}
}

// TestNoSpace checks that a segment without disk space leaves no file, and that the error names the file once.
func TestNoSpace(t *testing.T) {
	for _, failing := range []vfs.Op{vfs.OpCreate, vfs.OpWrite, vfs.OpSync, vfs.OpClose} {
		mem := vfs.NewMem()
		faulty := &vfs.Faulty{FS: mem, Fail: func(op vfs.Op, _ string) error {
			if op == failing {
				return syscall.ENOSPC
			}
			return nil
		}}
		b := NewBuilder([]string{"body"})
		must.Do(t, must.Err(b.Begin("a", "a")))
		addToken(b, 0, []byte("word"), 0)
		err := Flush(faulty, "s.seg", 0, b)
		check.That(t, errors.Is(err, syscall.ENOSPC) && strings.Count(err.Error(), "s.seg") == 1, "%s fails: %v", failing,
			err)
		check.Is(t, must.Err(mem.Stat("s.seg")), fs.ErrNotExist, "%s fails: the file", failing)
	}
}
