package segment

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sort"
	"testing"

	"sheaf/index/engine/postings"
	"sheaf/index/vfs"
	"sheaf/index/vfs/sectionfile"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// trusted returns data as a section with valid checksums, so that a test reaches the decoder.
func trusted(t testing.TB, data []byte) *sectionfile.Paged {
	t.Helper()
	mem := vfs.NewMem()
	w := must.Get(sectionfile.Create(mem, "f", kind, Version))
	w.Section("x", data)
	must.Do(t, must.Err(w.Close()))
	file := must.Get(sectionfile.Open(mem, "f", kind, Version))
	section := must.Get(file.Paged("x"))
	return section
}

func TestTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 15, 16, 17, 1000} {
		keys := map[string]bool{}
		for len(keys) < n {
			keys[fmt.Sprintf("%x/%d", rng.IntN(40), rng.IntN(5000))] = true
		}
		var sorted []string
		for k := range keys {
			sorted = append(sorted, k)
		}
		slices.Sort(sorted)
		var w tableWriter
		for _, k := range sorted {
			w.add(k, []byte("="+k))
		}
		table := must.Get(openTable(trusted(t, w.finish()), tableOfBytes))
		var c tableCursor
		c.reset(table)
		for i, k := range sorted {
			must.That(t, c.next() && string(c.key) == k && string(c.payload) == "="+k && c.at == i, "entry %d is %q=%q, want %q",
				i, c.key, c.payload, k)
		}
		must.That(t, !c.next() && c.err == nil, "an entry after the last: %v", c.err)
		for range 200 {
			target := fmt.Sprintf("%x/%d", rng.IntN(42), rng.IntN(6000))
			i := sort.SearchStrings(sorted, target)
			ok := c.seek([]byte(target))
			must.That(t, ok == (i < n) && (!ok || string(c.key) == sorted[i]), "seek %q gives %q, %v", target, c.key, ok)
			must.That(t, c.find([]byte(target)) == keys[target], "find %q", target)
		}
		for i, k := range sorted {
			must.That(t, c.seekEntry(i) && string(c.key) == k, "entry %d is %q, want %q", i, c.key, k)
		}
	}
}

func TestRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		n := 1 + rng.IntN(500)
		set := NewBitset(n)
		var w runWriter
		for i := range n {
			if rng.IntN(3) > 0 == (i%97 < 60) {
				set.Set(uint32(i))
				w.add(i)
			}
		}
		runs := set.AppendRuns(nil)
		must.That(t, bytes.Equal(runs, w.finish()), "runs are %v one way, %v the other", runs, w.out)
		got := NewBitset(n)
		must.That(t, got.ReadRuns(runs, n) && slices.Equal(got, set), "read back %v, want %v", got, set)
	}
}

// TestSortable checks that keys sort like the values they encode.
func TestSortable(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 2000 {
		a, b := Value{Kind: 2, Number: rng.NormFloat64() * 100}, Value{Kind: 2, Number: rng.NormFloat64()}
		must.Equal(t, bytes.Compare(appendValue(nil, a), appendValue(nil, b)) < 0, a.Number < b.Number,
			"%v < %v", a.Number, b.Number)
	}
}

func filled(t testing.TB, rng *rand.Rand, prefix string, n int) *Builder {
	t.Helper()
	b := NewBuilder([]string{"title", "body"})
	for i := range n {
		id := fmt.Sprintf("%s%05d", prefix, rng.IntN(3*n))
		b.RemoveChunk(id)
		must.Do(t, must.Err(b.Begin(id, fmt.Sprintf("%sd%d", prefix, i/4))))
		length := rng.IntN(8)
		if i%50 == 0 {
			length = 70_000 // longer than two bytes can count
		}
		for p := range length {
			addToken(b, 1, fmt.Appendf(nil, "w%d", rng.IntN(1+rng.IntN(60))), uint32(p))
		}
		if i%3 == 0 {
			addToken(b, 0, []byte("title"), 0)
			addToken(b, 0, []byte("\x01titles"), 0)
			b.Mark(b.Column("third", Value{Kind: 2, Number: float64(i)}))
		}
		must.Do(t, b.Vectors("v", [][]float32{{float32(i), 1}}))
	}
	b.RemoveDocument(prefix + "d1")
	return b
}

func build(t testing.TB, path string, rng *rand.Rand, prefix string, n int) *Reader {
	t.Helper()
	must.Do(t, Flush(vfs.Disk{}, path, 0, filled(t, rng, prefix, n)))
	r := must.Get(Open(vfs.Disk{}, path))
	t.Cleanup(func() {
		err := r.Close()
		check.That(t, err == nil, "%v", err)
	})
	faults := r.Check(context.Background())
	must.That(t, len(faults) == 0, "%v", faults)
	return r
}

// dump adds all that a segment has about the terms of each chunk to into, by identifier.
func dump(t testing.TB, r *Reader, deleted Bitset, into map[string][]string) {
	t.Helper()
	names := make([]string, r.Chunks())
	must.Do(t, r.EachID(func(id []byte, ordinal uint32) error {
		names[ordinal] = string(id)
		return nil
	}))
	var c postings.Cursor
	var p postings.PositionReader
	terms := r.Terms()
	for terms.Next() {
		form := terms.Key()[0] == FormMark
		for f, field := range r.Fields() {
			list := must.Get(r.List(terms.Term(), f, !form))
			lengths := must.Get(r.Lengths(f))
			c.Reset(list, uint32(r.Chunks()))
			p.Reset(lengths.Of)
			for o, n := range lengths.All() {
				if n != lengths.Of(o) {
					t.Errorf("field %s of chunk %d: All has length %d, Of %d", field.Name, o, n, lengths.Of(o))
				}
			}
			for o := c.Seek(0); o != postings.End; o = c.Next() {
				if deleted != nil && deleted.Has(o) {
					continue
				}
				var positions []uint32
				if !form {
					positions = p.Append(nil, &c)
				}
				into[names[o]] = append(into[names[o]],
					fmt.Sprintf("%s %q x%d of %d at %d", field.Name, terms.Key(), c.Frequency(), lengths.Of(o), positions))
			}
		}
	}
	must.Do(t, terms.Err())
}

// TestMerge checks that a merged segment has the same content for each remaining chunk as its sources.
func TestMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	dir := t.TempDir()
	var sources []Source
	want := map[string][]string{}
	for i, n := range []int{300, 40, 700} {
		r := build(t, filepath.Join(dir, fmt.Sprint(i)), rng, string(rune('a'+i)), n)
		s := Source{Reader: r}
		if i != 1 {
			s.Deleted = NewBitset(r.Chunks())
			for o := range r.Chunks() {
				if rng.IntN(4) == 0 {
					s.Deleted.Set(uint32(o))
				}
			}
		}
		dump(t, r, s.Deleted, want)
		sources = append(sources, s)
	}
	path := filepath.Join(dir, "merged")
	must.Do(t, Merge(context.Background(), vfs.Disk{}, path, 3, sources, nil))
	r := must.Get(Open(vfs.Disk{}, path))
	defer r.Close()
	faults := r.Check(context.Background())
	must.That(t, len(faults) == 0, "%v", faults)
	got := map[string][]string{}
	dump(t, r, nil, got)
	must.That(t, len(got) == len(want), "%d chunks with terms, want %d", len(got), len(want))
	for id := range want {
		must.That(t, slices.Equal(got[id], want[id]), "%s:\n got %v\nwant %v", id, got[id], want[id])
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	err := Merge(ctx, vfs.Disk{}, filepath.Join(dir, "stopped"), 2, sources, nil)
	check.That(t, err != nil, "a merge whose context has ended succeeds")
	_, err = (vfs.Disk{}).Stat(filepath.Join(dir, "stopped"))
	check.That(t, err != nil, "a merge that was stopped leaves a file")
}

// kindTables returns a table of each kind that works without a segment, with some entries.
func kindTables() map[tableKind][]byte {
	var ofBytes, ofNumbers, ofRuns tableWriter
	for i := range 40 {
		key := fmt.Sprintf("key%0*d", 3+i/20*30, i) // the last keys share more bytes than 4 bits can count
		ofBytes.add(key, []byte{1, byte(i)})
		ofNumbers.addNumber(key, i*i%41)
		ofRuns.addRuns(key, []byte{byte(i * i % 41), byte(i), 2, 0}[:2+i%2*2])
	}
	return map[tableKind][]byte{tableOfBytes: ofBytes.finish(), tableOfNumbers: ofNumbers.finish(),
		tableOfRuns: ofRuns.finish()}
}

// TestTableKinds checks that numbers and runs survive encoding, from any start of the cursor.
func TestTableKinds(t *testing.T) {
	for kind, data := range kindTables() {
		table := must.Get(openTable(trusted(t, data), kind))
		var c tableCursor
		c.reset(table)
		for _, i := range []int{0, 1, 2, 23, 24, 25, 39, 3} {
			must.That(t, c.seekEntry(i), "kind %d: entry %d: %v", kind, i, c.err)
			switch kind {
			case tableOfNumbers:
				check.That(t, c.number == int64(i*i%41), "the number of entry %d is %d, want %d", i, c.number, i*i%41)
			case tableOfRuns:
				start := i * i % 41
				want := []int{start, start + i + 1, start + i + 3, start + i + 4}[:2+i%2*2]
				var got []int
				ok := c.eachRun(100, func(start, end int) { got = append(got, start, end) })
				check.That(t, ok && slices.Equal(got, want), "the runs of entry %d are %v, want %v", i, got, want)
				if c.eachRun(want[len(want)-1]-1, func(int, int) {}) {
					t.Errorf("the runs of entry %d lie below %d", i, want[len(want)-1]-1)
				}
			}
		}
	}
}

// TestRanks checks that ranks survive encoding, close together or far apart.
func TestRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{1, 63, 64, 65, 1000} {
		for _, spread := range []int{1, 5, 300, maxChunks} {
			ranks := make([]uint32, n)
			for i := range ranks {
				ranks[i] = uint32(min(i+rng.IntN(spread), maxChunks))
			}
			g := trusted(t, appendRanks(nil, ranks))
			for i, want := range ranks {
				got, err := rankOf(g, i, n)
				must.That(t, err == nil && got == want, "rank %d of %d is %d, %v, want %d", i, n, got, err, want)
			}
		}
	}
}

// FuzzRanks checks that no bytes make reading a rank panic.
func FuzzRanks(f *testing.F) {
	f.Add(appendRanks(nil, []uint32{5, 3, 9, 1 << 20}), uint16(4))
	f.Add([]byte{0, 0, 0, 24, 255, 255, 255, 255}, uint16(3))
	f.Fuzz(func(t *testing.T, data []byte, n uint16) {
		g := trusted(t, data)
		for i := range int(n) {
			rank, err := rankOf(g, i, int(n))
			must.That(t, err != nil || rank <= 2*maxChunks+1, "rank %d of %d is %d", i, n, rank)
		}
	})
}

// FuzzTable checks that no bytes make a table panic, and that runs stay within their bounds. For a
// table of the keys read, it checks that seek finds the same as a walk.
func FuzzTable(f *testing.F) {
	for kind, data := range kindTables() {
		f.Add(data, []byte("key010"), byte(kind))
		f.Add(data, []byte("key010"), byte(kind)+128)
	}
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0}, []byte{}, byte(tableOfTerms))
	f.Fuzz(func(t *testing.T, data, target []byte, kind byte) {
		table, err := openTable(trusted(t, data), tableKind(kind%4))
		if err != nil {
			return
		}
		if kind >= 128 {
			table.letters = makeLetters(2, []byte("key01"))
		}
		var c tableCursor
		c.reset(table)
		var keys []string
		for c.next() {
			_ = append(c.key, c.payload...)
			if len(keys) < 1000 {
				keys = append(keys, string(c.key))
			}
			if table.kind != tableOfTerms {
				c.eachRun(len(target), func(start, end int) {
					must.That(t, start >= 0 && end <= len(target) && start < end, "a run of %d to %d below %d", start, end,
						len(target))
				})
			}
		}
		c.reset(table)
		_ = c.seek(target)
		c.reset(table)
		_ = c.seekEntry(len(target))
		slices.Sort(keys)
		seekAll(t, slices.Compact(keys), string(target), table.letters)
	})
}

// seekAll writes keys as a table in letters, and seeks each of them and target.
func seekAll(t *testing.T, keys []string, target string, l *letters) {
	table := tableOf(t, keys, l)
	var c tableCursor
	c.reset(table)
	for i, key := range keys {
		must.That(t, c.next() && string(c.key) == key && c.number == int64(i), "entry %d is %q: %d (%v), want %q", i, c.key,
			c.number, c.err, key)
	}
	for _, key := range append(keys, target) {
		c.reset(table)
		found, at := c.seek([]byte(key)), sort.SearchStrings(keys, key)
		must.That(t, found == (at < len(keys)) && c.err == nil && (!found || string(c.key) == keys[at] &&
			c.number == int64(at)), "%q: %v, %q at %d (%v); want place %d of %q", key, found, c.key, c.number, c.err, at, keys)
	}
}

// FuzzMeta checks that no bytes make the description of a segment or a set of runs panic.
func FuzzMeta(f *testing.F) {
	m := meta{chunks: 3, documents: 2, fields: []Field{{Name: "body", width: 1}},
		vectors: []VectorField{{Name: "v", Dims: 2, Passages: 3, Owned: 2}},
		letters: makeLetters(2, []byte("etaoin shrdlu"))}
	f.Add(m.encode())
	f.Add([]byte{1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := decodeMeta(data); err == nil && !bytes.Equal(m.encode(), data) && len(m.encode()) > len(data) {
			t.Fatalf("%v decodes to %+v", data, m)
		}
		set := NewBitset(100)
		if set.ReadRuns(data, 100) && set.Count() > 100 {
			t.Fatalf("runs %v hold %d of 100", data, set.Count())
		}
	})
}

// TestDocumentedTable checks the worked example of doc/formats/segment.md.
func TestDocumentedTable(t *testing.T) {
	var w tableWriter
	w.addNumber("a", 1)
	w.addNumber("ab", 0)
	check.Equal(t, fmt.Sprintf("%x", w.finish()), "016102"+"116201"+"00000000"+"02000000"+"01000000", "the example")
}
