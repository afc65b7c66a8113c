package runfile_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/rank"
	"sheaf/rank/runfile"
)

func read(t *testing.T, text string) *runfile.Run {
	t.Helper()
	return must.Get(runfile.Read("file", strings.NewReader(text)))
}

func written(t *testing.T, r *runfile.Run) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, r.WriteTREC(&b, "n"))
	return b.String()
}

// TestReadTREC checks that scores order hits, then ranks, then IDs. Of repeated hits the better hit
// counts.
func TestReadTREC(t *testing.T) {
	r := read(t, "# a comment\n\nq2 Q0 x 1 1 name\nq1 Q0 low 1 0.5 name\r\nq1\tQ0\thigh\t2\t1.5e0\tname\nq1 Q0 b 4 0.5 "+
		"name\nq1 Q0 a 4 0.5 name\nq1 Q0 high 5 0.1 name\n")
	if got, want := written(t, r), "q2 Q0 x 1 1 n\nq1 Q0 high 1 1.5 n\nq1 Q0 low 2 0.5 n\nq1 Q0 a 3 0.5 n\nq1 Q0 "+
		"b 4 0.5 n\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	check.That(t, r.Name == "name" && r.Repeated == 1, "name %q, %d repeated", r.Name, r.Repeated)
	empty := read(t, "")
	check.That(t, len(empty.Queries) == 0, "an empty file holds %v", empty.Queries)
}

func TestReadJSON(t *testing.T) {
	want := "q1 Q0 b 1 2 n\nq1 Q0 a 2 1 n\nq2 Q0 c 1 -3 n\n"
	for _, text := range []string{
		`{"q1": [{"id": "a", "score": 1}, {"id": "b", "score": 2, "title": "ignored"}], "q2": [{"id": "c", "score": -3}], ` +
			`"none": []}`,
		"\ufeff {\"q1\": {\"a\": 1, \"b\": 2.0}, \"q2\": {\"c\": -3e0}}",
	} {
		check.Equal(t, written(t, read(t, text)), want, "%s", text)
	}
	answer := read(t, `{"schema":"sheaf.search/1","query":"undo a `+
		`commit","results":[{"rank":1,"id":"t:a.md#x","score":0.9},{"rank":2,"id":"t:b.md","score":0.9}]}`)
	got, want := written(t, answer), "undo_a_commit Q0 t:a.md#x 1 0.9 n\nundo_a_commit Q0 t:b.md 2 0.9 n\n"
	check.That(t, got == want, "the answer of a search:\n%s", got)
}

// TestReadRefuses checks that every error names file and line.
func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"q Q0 a 1 NaN n\n":                   `file:1: the score of "a" is NaN`,
		"q Q0 a 1 1 n\nq Q0 b 2 -inf n\n":    `file:2: the score of "b" is -Inf`,
		"q Q0 a 1 1e999 n\n":                 "file:1: the score of",
		"q Q0 a 1 n\n":                       "SCORE NAME: this line has 5 of the 6 parts",
		"q Q0 a x 1 n\n":                     `file:1: the rank is "x"`,
		"q Q0 a 1 one n\n":                   `file:1: the score is "one"`,
		"\n\nq Q0 \xff 1 1 n\n":              "file:3: an ID is not UTF-8",
		"{\"q\": [\n{\"id\": \"a\"}\n]}":     "file:2: a hit of query \"q\" has no id or no score",
		"{\"q\": {\"a\": 1,\n\"b\": 1e999}}": `file:2: the score of "b" is +Inf`,
		`{"q": 3}`:                           `file:1: query "q" must have a list`,
		`{"q": [], "q": []}`:                 `file:1: "q" appears twice`,
		`{"q": [{"id": "a", "score": "x"}]}`: `file:1: hit 1 of query "q" must be {"id", "score"}, a text ` +
			`and a number`,
		`[{"id": "a", "score": 1}]`:        "file:1: a list: JSON must be an object",
		"[a] Q0 d 1 1 n\n[a] Q0 e 2 x n\n": `file:2: the score is "x"`,
		`{"q": [`:                          "file:1: the JSON ends too early",
		`{"q":`:                            "file:1: the JSON ends too early",
		`{"q": []} trailing`:               "file:1: ",
		`{"schema":"sheaf.search/1","results":[]}`:     "has no query",
		"q Q0 " + strings.Repeat("x", 5000) + " 1 1 n": "an ID of 5000 bytes",
	} {
		err := must.Err(runfile.Read("file", strings.NewReader(text)))
		check.Fails(t, err, sheaf.ErrInvalid, want, "%.40q", text)
		check.That(t, !strings.Contains(err.Error(), "json: "), "%.40q: the error names Go types: %v", text, err)
	}
}

func TestFuse(t *testing.T) {
	a, b := read(t, "q1 Q0 A 1 3 x\nq1 Q0 B 2 2 x\nq1 Q0 C 3 1 x\n"),
		read(t, "q1 Q0 B 1 9 y\nq1 Q0 D 2 8 y\nq2 Q0 E 1 1 y\n")
	fused := must.Get(runfile.Fuse([]*runfile.Run{a, b}, nil, rank.RRF{K: 60}))
	var ids []sheaf.ID
	for _, h := range fused.Rankings["q1"] {
		ids = append(ids, h.ID)
	}
	check.That(t, reflect.DeepEqual(ids, []sheaf.ID{"B", "A", "D", "C"}) && len(fused.Rankings["q2"]) == 1 &&
		reflect.DeepEqual(fused.Queries, []string{"q1", "q2"}), "%v, %v", ids, fused.Queries)
	h := fused.Rankings["q1"][0]
	check.That(t, math.Abs(h.Score-(1.0/62+1.0/61)) <= 1e-15, "B scores %v", h.Score)
	check.Is(t, must.Err(runfile.Fuse([]*runfile.Run{a, b}, []float64{1}, rank.RRF{K: 60})), sheaf.ErrInvalid,
		"one weight for two runs")
	check.Is(t, must.Err(runfile.Fuse([]*runfile.Run{a, b}, nil, rank.RRF{K: 0})), sheaf.ErrInvalid, "k 0")
}

// TestFuseEscapedNames checks that a run from a TREC file, with %20 for white space, joins its original.
func TestFuseEscapedNames(t *testing.T) {
	before := read(t, `{"my query": [{"id": "t:My Note.md#a b", "score": 2}, {"id": "t:b.md", "score": 1}]}`)
	after := read(t, written(t, before))
	for _, runs := range [][]*runfile.Run{{before, after}, {after, before}} {
		fused := must.Get(runfile.Fuse(runs, nil, rank.RRF{K: 60}))
		if got, want := written(t, fused), "my%20query Q0 t:My%20Note.md#a%20b 1 0.03278688524590164 n\nmy%20query Q0 "+
			"t:b.md 2 0.03225806451612903 n\n"; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	check.Equal(t, after.Queries[0], "my%20query", "a query of the run")
}

// TestFuseAmbiguousEscapedNames checks that names of one run that become the same word stay apart.
func TestFuseAmbiguousEscapedNames(t *testing.T) {
	for _, run := range []string{`{"q": [{"id": "a b", "score": 2}, {"id": "a%20b", "score": 1}]}`,
		`{"q": [{"id": "a b", "score": 2}, {"id": "a\u00a0b", "score": 1}]}`} {
		fused := must.Get(runfile.Fuse([]*runfile.Run{read(t, run), read(t, "q Q0 other 1 1 x\n")}, nil, rank.RRF{K: 60}))
		check.Equal(t, len(fused.Rankings["q"]), 3, "%s", run)
	}
}

// TestReadCompressed checks that a compressed file reads like its content.
func TestReadCompressed(t *testing.T) {
	zip := func(text string) string {
		var b strings.Builder
		w := gzip.NewWriter(&b)
		must.Get(w.Write([]byte(text)))
		must.Do(t, w.Close())
		return b.String()
	}
	check.Equal(t, written(t, read(t, zip("q1 Q0 a 1 2 x\n"))), "q1 Q0 a 1 2 n\n", "TREC")
	check.Equal(t, written(t, read(t, zip(`{"q1": {"a": 2}}`))), "q1 Q0 a 1 2 n\n", "JSON")
	whole := zip("q1 Q0 a 1 2 x\n")
	for what, text := range map[string]string{"cut short": whole[:len(whole)-6], "with more behind": whole +
		"more than that"} {
		check.Fails(t, must.Err(runfile.Read("file", strings.NewReader(text))), sheaf.ErrInvalid, "file: ", "%s", what)
	}
}

func TestApply(t *testing.T) {
	r := read(t, "q Q0 t:a.md#0 1 3 x\nq Q0 t:b.md#0 2 2.5 x\nq Q0 t:a.md#1 3 2 x\nq Q0 t:c.md 4 1 x\n")
	out := must.Get(r.Apply(rank.Aggregate{Scoring: rank.Scoring{Method: rank.TopMSum, M: 3}}))
	got, want := written(t, out), "q Q0 t:a.md 1 5 n\nq Q0 t:b.md 2 2.5 n\nq Q0 t:c.md 3 1 n\n"
	check.That(t, got == want, "got\n%s\nwant\n%s", got, want)
	check.Fails(t, must.Err(r.Apply(rank.AsSimilarity{})), sheaf.ErrInvalid,
		`query q: the score of "t:a.md#0" is 3: similarity wants cosines`, "Apply")
	alike, err := read(t, "q Q0 b 1 0.5 x\nq Q0 c 2 0.5 x\nq Q0 a 3 0.5 x\n").Apply(rank.AsSimilarity{To: rank.HalfCosine})
	check.That(t, err == nil && written(t, alike) == "q Q0 b 1 0.75 n\nq Q0 c 2 0.75 n\nq Q0 a 3 0.75 n\n",
		"equal scores do not stand as they did: %v %v", alike, err)
	out, err = read(t, "q Q0 a 1 1.0000001 x\n").Apply(rank.AsSimilarity{})
	check.That(t, err == nil && out.Rankings["q"][0].Score == 1, "a cosine that floats made larger than 1: %v %v", out,
		err)
	check.Fails(t, must.Err(r.Apply(rank.Adaptive{Floor: 3, Ceiling: 2})), sheaf.ErrInvalid, "query q", "Apply")
}

// TestRoundTrip checks that a written run reads back unchanged, in both formats.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for i := range rapid.IntRange(0, 30).Draw(t, "lines") {
			fmt.Fprintf(&text, "q%d Q0 d%d %d %v x\n", rapid.IntRange(0, 3).Draw(t, "query"),
				rapid.IntRange(0, 9).Draw(t, "doc"), i, rapid.Float64().Draw(t, "score"))
		}
		first := must.Get(runfile.Read("x", strings.NewReader(text.String())))
		for _, write := range []func(*bytes.Buffer) error{
			func(b *bytes.Buffer) error { return first.WriteTREC(b, "x") }, func(b *bytes.Buffer) error {
				return first.WriteJSON(b)
			},
		} {
			var b bytes.Buffer
			must.Do(t, write(&b))
			again, err := runfile.Read("x", &b)
			must.That(t, err == nil && reflect.DeepEqual(again.Queries, first.Queries) &&
				reflect.DeepEqual(again.Rankings, first.Rankings), "%v\n%v\n%v", err, first, again)
		}
	})
}

// FuzzRead checks that no bytes cause a panic, and that runs have finite scores in order.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"q Q0 a 1 1 n\n", `{"q":[{"id":"a","score":1}]}`, `{"q":{"a":1}}`,
		`{"schema":"sheaf.search/1","query":"x","results":[]}`, `{"schema":{}}`, "{", `{"a":{"b":1e308,"c":-1e308}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := runfile.Read("file", bytes.NewReader(data))
		if err != nil {
			must.That(t, errors.Is(err, sheaf.ErrInvalid), "%v", err)
			return
		}
		for _, ranking := range r.Rankings {
			must.Do(t, ranking.Valid("x"))
			for i := 1; i < len(ranking); i++ {
				must.That(t, ranking[i].Score <= ranking[i-1].Score, "not in order")
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var text strings.Builder
	r := rand.New(rand.NewPCG(1, 1))
	for q := range 100 {
		for i := range 1000 {
			fmt.Fprintf(&text, "q%d Q0 doc-%d %d %v run\n", q, r.IntN(100_000), i+1, 1000-float64(i))
		}
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		must.Get(runfile.Read("x", strings.NewReader(text.String())))
	}
}

// The example fuses the rankings of two systems by reciprocal ranks.
func ExampleFuse() {
	words, _ := runfile.Read("words", strings.NewReader("q1 Q0 a 1 12.5 bm25\nq1 Q0 b 2 11 bm25\n"))
	meaning, _ := runfile.Read("meaning", strings.NewReader(`{"q1": {"b": 0.9, "c": 0.8}}`))
	fused, err := runfile.Fuse([]*runfile.Run{words, meaning}, []float64{0.4, 0.6}, rank.RRF{K: 60})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = fused.WriteTREC(os.Stdout, "both")
	// Output:
	// q1 Q0 b 1 0.016287678476996297 both
	// q1 Q0 c 2 0.00967741935483871 both
	// q1 Q0 a 3 0.006557377049180328 both
}

// TestNamesWithSpaces checks that a run may have names with spaces.
func TestNamesWithSpaces(t *testing.T) {
	r := read(t, `{"undo it": [{"id": "n:my note.md#a", "score": 3}, {"id": "n:new\nline.md", "score": 2}, {"id": `+
		`"n:全　角.md", "score": 1}]}`)
	var out bytes.Buffer
	must.Do(t, r.WriteTREC(&out, "my run"))
	const want = "undo%20it Q0 n:my%20note.md#a 1 3 my%20run\nundo%20it Q0 n:new%0Aline.md 2 2 my%20run\nundo%20it Q0 " +
		"n:全%E3%80%80角.md 3 1 my%20run\n"
	check.Equal(t, out.String(), want, "String")
	check.Equal(t, len(read(t, out.String()).Rankings["undo%20it"]), 3, "read back")
}
