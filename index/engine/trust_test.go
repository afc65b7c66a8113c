package engine

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sheaf"
	"sheaf/index/engine/segment"
	"sheaf/index/vfs"
	"sheaf/index/vfs/manifest"
	"sheaf/index/vfs/sectionfile"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/analysis"
)

var update = flag.Bool("update", false, "write golden files")

func TestMain(m *testing.M) {
	if dir := os.Getenv("SHEAF_TEST_WRITER"); dir != "" {
		writeUntilKilled(dir)
	}
	goleak.VerifyTestMain(m)
}

// smallIndex makes an index of two segments with deleted chunks, columns and vectors.
func smallIndex(t testing.TB, dir string) {
	t.Helper()
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	ix, err := Open(Options{Dir: dir, Analyzer: a, Fields: testFields, Vectors: []VectorModel{{"body", "test", 2}}})
	must.Do(t, err)
	chunk := func(id, doc, title, body string, n float64) Chunk {
		return Chunk{ID: id, Doc: doc, Fields: []FieldText{{"title", title}, {"body", body}},
			Columns: []Column{{"n", []sheaf.Value{sheaf.NumberValue(n)}},
				{"tag", []sheaf.Value{sheaf.TextValue(title)}}},
			Vectors: []Vectors{{"body", [][]float32{{float32(n), 1}}}}}
	}
	commit(t, ix, nil, []Chunk{chunk("a", "a", "Apple trees", "apples grow on apple trees, and pears do not", 1),
		chunk("a#1", "a", "Pears", "a pear is running to the getUserName", 2),
		chunk("b", "b", "Cherry", "cherries and apples", 3)})
	commit(t, ix, []string{"b"}, []Chunk{chunk("c", "c", "Dates", "dates are sweet apples of the desert", 4),
		chunk("d", "d", "Elder", "elder trees run", 5)})
	must.Do(t, ix.Close())
}

// answers returns the answers of an index to some requests, and the first error.
func answers(dir string) (string, error) {
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		return "", err
	}
	ix, err := Open(Options{Dir: dir, Analyzer: a, Fields: testFields})
	if err != nil {
		return "", err
	}
	defer ix.Close()
	s, err := ix.Acquire()
	if err != nil {
		return "", err
	}
	defer s.Release()
	both := []FieldWeight{{"title", 2}, {"body", 1}}
	var out []string
	for _, req := range []Request{
		{Words: &Words{Query: sheaf.Match{Text: "apples trees getUserName"}, Fields: both, K1: 1.2, B: 0.75}},
		{Words: &Words{Query: sheaf.Phrase{Text: "apple trees"}, Fields: both, K1: 1.2, B: 0.75}},
		{Words: &Words{Query: sheaf.Prefix{Text: "runn"}, Fields: both, K1: 1.2, B: 0.75}},
		{Words: &Words{Query: sheaf.Fuzzy{Text: "elders", Distance: 2}, Fields: both, K1: 1.2, B: 0.75}},
		{Words: &Words{Query: sheaf.Bool{}, Fields: both},
			Filter: sheaf.Range{Column: "n", Min: sheaf.NumberValue(2)}},
		{Words: &Words{Query: sheaf.Bool{}, Fields: both},
			Filter: sheaf.HasPrefix{Column: "tag", Prefix: "E"}},
		{Words: &Words{Query: sheaf.Bool{}, Fields: both}, Within: []sheaf.ID{"a#1", "b"}},
		{Vector: &Vector{Field: "body", Vector: []float32{1, 0.5}}},
	} {
		req.Limit = 10
		hits, err := s.Search(context.Background(), req)
		if err != nil {
			return "", err
		}
		var told []string
		for _, h := range hits {
			told = append(told, fmt.Sprintf("{%s %v %d}", h.ID, h.Score, h.Passage))
		}
		out = append(out, fmt.Sprint(told))
	}
	return strings.Join(out, "\n") + "\n", nil
}

// faults returns the faults that a check of each byte finds.
func faults(dir string) []error {
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		return []error{err}
	}
	ix, err := Open(Options{Dir: dir, Analyzer: a, Fields: testFields})
	if err != nil {
		return []error{err}
	}
	defer ix.Close()
	s, err := ix.Acquire()
	if err != nil {
		return []error{err}
	}
	defer s.Release()
	return s.Check(context.Background(), nil)
}

// faultPlace matches the position of a fault in an error, after the name of the file.
var faultPlace = regexp.MustCompile(`section "[a-z. ]+" at byte \d+|MANIFEST: corrupt: at byte \d+`)

// TestFlippedBits changes each byte of each file of an index in turn. Each change is harmless or
// reported as corruption; no answer changes. Check reports each change outside the space between
// sections, with file, section and position.
func TestFlippedBits(t *testing.T) {
	dir := t.TempDir()
	smallIndex(t, dir)
	want := must.Get(answers(dir))
	step := 1
	if testing.Short() {
		step = 13
	}
	names := must.Get(os.ReadDir(dir))
	for _, entry := range names {
		if entry.Name() == lockName {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		data := must.Get(os.ReadFile(path))
		unseen := 0
		for i := 0; i < len(data); i += step {
			if !flip(t, dir, path, data, i, want) {
				unseen++
			}
		}
		// Sections start at multiples of 64 bytes.
		check.That(t, unseen <= len(data)/4, "%d of the %d bytes of %s can be flipped unseen", unseen, len(data),
			entry.Name())
		must.Do(t, os.WriteFile(path, data, 0o600))
	}
}

// flip changes byte i of a file with content data, then searches and checks as in [TestFlippedBits]. It reports
// whether Check finds a fault.
func flip(t *testing.T, dir, path string, data []byte, i int, want string) bool {
	t.Helper()
	name := filepath.Base(path)
	bad := slices.Clone(data)
	bad[i] ^= 1 << (i % 8)
	must.Do(t, os.WriteFile(path, bad, 0o600))
	got, err := answers(dir)
	switch {
	case err == nil && got != want:
		t.Fatalf("byte %d of %s flipped: other answers:\n%s", i, name, got)
	case err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) && !errors.Is(err, ErrMismatch):
		t.Fatalf("byte %d of %s flipped: %v", i, name, err)
	}
	found := faults(dir)
	for _, err := range found {
		must.That(t, strings.Contains(err.Error(), name) && (!errors.Is(err, ErrCorrupt) ||
			faultPlace.MatchString(err.Error())), "byte %d of %s flipped, and the fault does not say where: %v", i, name, err)
	}
	must.That(t, len(found) != 0 || data[i] == 0, "byte %d of %s flipped: no fault is found", i, name)
	return len(found) > 0
}

// TestFlippedLists does the same for an index whose sections have lists of checksums. It changes
// each byte of the lists and some bytes far apart.
func TestFlippedLists(t *testing.T) {
	dir := t.TempDir()
	smallIndex(t, dir)
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	ix := must.Get(Open(Options{Dir: dir, Analyzer: a, Fields: testFields}))
	commit(t, ix, nil, randomChunks(rand.New(rand.NewPCG(6, 6)), 0, 2000, 3000))
	s := must.Get(ix.Acquire())
	name := s.views[len(s.views)-1].name
	must.Do(t, errors.Join(s.Release(), ix.Close()))
	want := must.Get(answers(dir))
	path := filepath.Join(dir, name)
	data := must.Get(os.ReadFile(path))
	file := must.Get(sectionfile.Open(vfs.Disk{}, path, "segment", segment.Version))
	defer file.Close()
	var places []int
	for _, name := range file.Names() {
		section, _ := file.Section(name)
		if len(section) <= 2<<10 {
			continue
		}
		end := bytes.Index(data, section) + len(section)
		for i := range 4 * ((len(section) + 2<<10 - 1) / (2 << 10)) {
			places = append(places, end+i)
		}
	}
	must.That(t, len(places) >= 100, "%d bytes of checksums in a file of %d", len(places), len(data))
	lists := len(places)
	for i := 0; i < len(data); i += 1009 {
		places = append(places, i)
	}
	for n, i := range places {
		if testing.Short() && n%7 > 0 {
			continue
		}
		check.That(t, flip(t, dir, path, data, i, want) || n >= lists,
			"byte %d of %s, a checksum, flipped: no fault is found", i, name)
	}
}

// golden is the folder of an index that an earlier build wrote, in this version of the format.
var golden = filepath.Join("testdata", "version8")

// TestGolden opens the golden index.
func TestGolden(t *testing.T) {
	if *update {
		must.Do(t, os.RemoveAll(golden))
		smallIndex(t, golden)
		must.Do(t, os.Remove(filepath.Join(golden, lockName)))
		got := must.Get(answers(golden))
		must.Do(t, os.WriteFile(golden+".txt", []byte(got), 0o600))
	}
	got := must.Get(answers(golden))
	want := must.Get(os.ReadFile(golden + ".txt"))
	check.That(t, got == string(want), "answers are\n%swant\n%s", got, want)
}

// TestMergeGolden checks that segments of an earlier build merge with new ones into one, which answers like them.
func TestMergeGolden(t *testing.T) {
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	dir := t.TempDir()
	must.Do(t, os.CopyFS(dir, os.DirFS(golden)))
	want := must.Get(answers(dir))
	ix := must.Get(Open(Options{Dir: dir, Analyzer: a, Fields: testFields}))
	commit(t, ix, nil, []Chunk{{ID: "new", Doc: "new", Fields: []FieldText{{"body", "something new"}}},
		{ID: "other", Doc: "other"}})
	must.Do(t, ix.Merge(t.Context()))
	s := must.Get(ix.Acquire())
	st := s.Stats()
	faults := s.Check(t.Context(), nil)
	check.That(t, st.Segments == 1 && len(faults) == 0, "%d segments, want 1; faults %v", st.Segments, faults)
	must.Do(t, s.Release())
	commit(t, ix, []string{"new", "other"}, nil)
	must.Do(t, errors.Join(ix.Merge(t.Context()), ix.Close()))
	got := must.Get(answers(dir))
	check.Equal(t, got, want, "merged answers")
}

// TestOlderVersion checks that indexes of earlier versions, of the segment and of its container, are refused with
// advice.
func TestOlderVersion(t *testing.T) {
	for _, version := range []string{"version1", "version7"} {
		_, err := answers(ofThisAnalyzer(t, filepath.Join("testdata", version)))
		check.Fails(t, err, ErrVersion, "rebuild the index", "an index of %s", version)
	}
}

// ofThisAnalyzer copies an index and gives it the name of the current analyzer, so that only its
// segments are old.
func ofThisAnalyzer(t *testing.T, golden string) string {
	t.Helper()
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	dir := t.TempDir()
	must.Do(t, os.CopyFS(dir, os.DirFS(golden)))
	m := must.Get(manifest.Read(vfs.Disk{}, dir))
	s := must.Get(decodeState(m))
	s.analyzer = a.Name()
	m.Generation, m.Payload = m.Generation+1, s.encode()
	must.Do(t, manifest.Publish(vfs.Disk{}, dir, m))
	return dir
}

// killedTogether is the number of chunks in one commit of a writer that the test kills.
const killedTogether = 3

// writeUntilKilled commits chunks without end and prints a line after each commit. Each commit
// joins one run for each chunk.
func writeUntilKilled(dir string) {
	a, err := analysis.New(analysis.Options{})
	if err != nil {
		panic(err)
	}
	ix, err := Open(Options{Dir: dir, Analyzer: a, Fields: testFields, GatherMemory: 1})
	if err != nil {
		panic(err)
	}
	s, err := ix.Acquire()
	if err != nil {
		panic(err)
	}
	n := s.Chunks() - 1
	for {
		load, err := ix.Begin(context.Background())
		if err != nil {
			panic(err)
		}
		for range killedTogether {
			n++
			id := fmt.Sprintf("c%06d", n)
			err = errors.Join(err, load.Add(context.Background(), []string{id},
				[]Chunk{{ID: id, Doc: id, Fields: []FieldText{{"body", "all " + id}}}}))
		}
		if err == nil {
			err = load.Commit(context.Background())
		}
		if err = errors.Join(err, load.Close()); err != nil {
			panic(err)
		}
		fmt.Println(n)
	}
}

// TestKilledWriter kills a writing process again and again. It checks that all commits that the
// process reported are complete.
func TestKilledWriter(t *testing.T) {
	rounds := 4
	if os.Getenv("SHEAF_TEST_LONG") != "" {
		rounds = 1000
	}
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	for round := range rounds {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SHEAF_TEST_WRITER="+dir)
		var out, complaints strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &complaints
		must.Do(t, cmd.Start())
		time.Sleep(time.Duration(50+rng.IntN(250)) * time.Millisecond)
		must.Do(t, cmd.Process.Kill())
		_ = cmd.Wait() // the test killed it
		must.That(t, complaints.Len() == 0, "round %d: the writer said: %s", round, complaints.String())
		last := -1
		for line := range strings.Lines(out.String()) {
			if n, err := strconv.Atoi(strings.TrimSuffix(line, "\n")); err == nil && strings.HasSuffix(line, "\n") {
				last = n
			}
		}
		checkKilled(t, dir, last)
	}
}

func checkKilled(t *testing.T, dir string, last int) {
	t.Helper()
	ix := testIndex(t, dir)
	s := must.Get(ix.Acquire())
	defer s.Release()
	faults := s.Check(context.Background(), nil)
	must.That(t, len(faults) == 0, "%v", faults)
	n, err := s.Count(context.Background(),
		Request{Words: &Words{Query: sheaf.Match{Text: "all"}, Fields: []FieldWeight{{"body", 1}}}})
	must.That(t, err == nil && n >= last+1 && n == s.Chunks() && n%killedTogether == 0,
		"%d of %d chunks are found, %d were committed, %d at a time: %v", n, s.Chunks(), last+1, killedTogether, err)
	if last >= 0 {
		hits := must.Get(s.Search(context.Background(),
			Request{Limit: 1, Words: &Words{Query: sheaf.Match{Text: fmt.Sprintf("c%06d", last)},
				Fields: []FieldWeight{{"body", 1}}}}))
		must.Equal(t, len(hits), 1, "the chunk that was committed last")
	}
}
