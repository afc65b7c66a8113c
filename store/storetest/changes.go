package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

// changes checks that the effects of writes, replacements and deletions are visible when the call returns.
func changes(t *testing.T, b store.Backend) {
	ctx := context.Background()
	x := body(sheaf.Match{Text: "x y"})
	expect(t, b, "an empty store", x, "")
	write(t, b, Chunk("t:a", "body", "x"), Chunk("t:a#s", "body", "x"), Chunk("t:b", "body", "x"))
	expect(t, b, "written", x, "t:a t:a#s t:b")
	write(t, b, Chunk("t:a#s", "body", "z"))
	expect(t, b, "written instead", x, "t:a t:b")
	must.Do(t, b.Write(ctx, store.Batch{Replace: []sheaf.ID{"t:a", "t:none"},
		Chunks: []store.Chunk{Chunk("t:a#new", "body", "y")}}))
	expect(t, b, "replaced", x, "t:a#new t:b")
	expect(t, b, "replaced, the old", body(sheaf.Match{Text: "z"}), "")
	must.Do(t, b.Write(ctx, store.Batch{Replace: []sheaf.ID{"t:b", "t:b", "t:none"}}))
	expect(t, b, "deleted", x, "t:a#new")
	must.Do(t, b.Write(ctx, store.Batch{}))
	expect(t, b, "nothing written", x, "t:a#new")
	must.Do(t, b.Write(ctx, store.Batch{Chunks: []store.Chunk{Chunk("t:c", "body", "x"), Chunk("t:c", "body", "y"),
		Chunk("t:c", "body", "q")}}))
	expect(t, b, "the last of equal ids", body(sheaf.Match{Text: "q"}), "t:c")
	expect(t, b, "not the first of equal ids", body(sheaf.Match{Text: "x"}), "")
}

// emptied checks that Empty leaves nothing and works on an empty store. Later writes must score as in a new store.
func emptied(t *testing.T, b store.Backend) {
	e, ok := b.(store.Emptier)
	if !ok {
		t.Skip("this store is no store.Emptier")
	}
	ctx := context.Background()
	if err := e.Empty(ctx); err != nil {
		t.Fatalf("new: %v", err)
	}
	kept := Chunk("t:kept#a", "body", "x y")
	kept.Vectors = []store.Vectors{{Name: store.VectorBody, Passages: [][]float32{unit(1, 0, 0, 0, 0, 0, 0, 0)}}}
	write(t, b, kept)
	req := body(sheaf.Match{Text: "x"})
	want := retrieve(t, b, req)
	var gone []store.Chunk
	for i := range 30 {
		c := Chunk(fmt.Sprintf("t:gone%d#a", i), "body", "x and more of it", "title", "x")
		c.Vectors = kept.Vectors
		gone = append(gone, c)
	}
	write(t, b, gone...)
	for range 2 {
		must.Do(t, e.Empty(ctx))
		expect(t, b, "emptied", req, "")
		if r, ok := b.(store.Reporter); ok {
			if stats, err := r.Stats(ctx); err != nil || stats.Chunks+stats.Vectors != 0 {
				t.Errorf("emptied: %d chunks and %d vectors are left, %v", stats.Chunks, stats.Vectors, err)
			}
		}
	}
	write(t, b, kept)
	got := retrieve(t, b, req)
	check.That(t, len(got) == 1 && near(b, got[0].Score, want[0].Score), "written again: found %v, want %v", got, want)
}

func testWithin(t *testing.T, b store.Backend) {
	write(t, b, Chunk("t:a", "body", "x"), Chunk("t:b", "body", "x"), Chunk("t:c", "body", "y"))
	req := body(sheaf.Match{Text: "x"})
	req.Within = []sheaf.ID{"t:b", "t:c", "t:gone", "t:b"}
	expect(t, b, "within", req, "t:b")
	req.Within = []sheaf.ID{}
	expect(t, b, "within nothing", req, "")
	req.Within = nil
	expect(t, b, "no bound", req, "t:a t:b")
}

// many checks Within, filters and deletions with more values than the limits of PostgreSQL (65,535 parameters) and
// Lucene (clauses). A store may refuse these requests with sheaf.ErrUnsupported.
func many(t *testing.T, b store.Backend) {
	write(t, b, withColumns(Chunk("t:a", "body", "x"), column("n", sheaf.NumberValue(69_999))), Chunk("t:b", "body", "x"))
	names := make([]sheaf.ID, 70_000)
	values := make([]sheaf.Value, len(names))
	for i := range names {
		names[i], values[i] = sheaf.ID(fmt.Sprintf("t:none%d", i)), sheaf.NumberValue(float64(i))
	}
	names[len(names)-1] = "t:b"
	bounded := body(sheaf.Match{Text: "x"})
	bounded.Within = names
	filtered := body(sheaf.Match{Text: "x"})
	filtered.Filter = sheaf.In{Column: "n", Values: values}
	alternatives := body(sheaf.Match{Text: "x"})
	var any sheaf.Or
	var words strings.Builder
	for i, v := range values {
		column := "n"
		if i < len(values)-1 {
			column = fmt.Sprint("n", i)
		}
		any = append(any, sheaf.In{Column: column, Values: []sheaf.Value{v}})
		fmt.Fprintf(&words, "word%d ", i)
	}
	alternatives.Filter = any
	long := body(sheaf.Match{Text: words.String() + "x"})
	for what, c := range map[string]struct {
		req  store.Request
		want string
	}{"within many": {bounded, "t:b"}, "one of many values": {filtered, "t:a"},
		"any of many filters": {alternatives, "t:a"}, "many words": {long, "t:a t:b"}} {
		r, err := b.Retrieve(context.Background(), c.req)
		if errors.Is(err, sheaf.ErrUnsupported) {
			t.Logf("%s: %v", what, err)
		} else if err != nil || ids(r) != c.want {
			t.Errorf("%s: found %s, want %s, %v", what, ids(r), c.want, err)
		}
	}
	must.Do(t, b.Write(context.Background(), store.Batch{Replace: names}))
	expect(t, b, "many deleted", body(sheaf.Match{Text: "x"}), "t:a")
}

func unit(v ...float32) []float32 {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(square))
	}
	return v
}

// vectors checks that the best passage decides the similarity of a chunk. Similarities may differ
// by 0.02, because some stores keep vectors with less precision.
func vectors(t *testing.T, b store.Backend) {
	v := func(id, field string, passages ...[]float32) store.Chunk {
		c := Chunk(id, "body", "x")
		c.Vectors = []store.Vectors{{Name: field, Passages: passages}}
		return withColumns(c, column("id", sheaf.TextValue(id)))
	}
	write(t, b, v("t:a", "body", unit(1, 0, 0, 0, 0, 0, 0, 0), unit(0, 1, 0, 0, 0, 0, 0, 0)),
		v("t:b", "body", unit(1, 1, 0, 0, 0, 0, 0, 0)),
		v("t:c", "body", unit(0, 0, 1, 0, 0, 0, 0, 0)), v("t:d", "title", unit(0, 1, 0, 0, 0, 0, 0, 0)),
		Chunk("t:e", "body", "x"))
	req := store.Request{Limit: 10, Vector: &store.VectorRequest{Field: "body", Vector: unit(0, 1, 0, 0, 0, 0, 0, 0)}}
	r := retrieve(t, b, req)
	if ids(r) != "t:a t:b t:c" || r[0].Passage != 1 || math.Abs(r[0].Score-1) > 0.02 ||
		math.Abs(r[1].Score-math.Sqrt2/2) > 0.02 || math.Abs(r[2].Score) > 0.02 {
		t.Errorf("found %+v", r)
	}
	req.Filter = sheaf.Not{Filter: sheaf.In{Column: "id", Values: []sheaf.Value{sheaf.TextValue("t:a")}}}
	req.Limit = 1
	expect(t, b, "filtered before the limit", req, "t:b")
	req.Filter, req.Within = nil, []sheaf.ID{"t:c"}
	expect(t, b, "within", req, "t:c")
	req.Within, req.Vector.Field = nil, "none"
	expect(t, b, "a field that nothing has", req, "")
	must.Do(t, b.Write(context.Background(), store.Batch{Replace: []sheaf.ID{"t:a"}}))
	req.Vector.Field = "body"
	expect(t, b, "after a deletion", req, "t:b")
}

// invalid checks that the store refuses invalid requests and batches, and changes nothing. Package store tests each
// rule.
func invalid(t *testing.T, b store.Backend) {
	ctx := context.Background()
	one := unit(1, 0, 0, 0, 0, 0, 0, 0)
	v := Chunk("t:v", "body", "x")
	v.Vectors = []store.Vectors{{Name: "body", Passages: [][]float32{one}}}
	write(t, b, Chunk("t:a", "body", "x"), v)
	good, matching := body(sheaf.Match{Text: "x"}), store.Request{Limit: 1,
		Vector: &store.VectorRequest{Field: "body", Vector: one}}
	without := refused(t, b, matching) // a store without vectors does not know their dimensions
	boost, part := body(sheaf.Boost{Query: sheaf.Match{Text: "x"}}), good
	part.Filter = sheaf.And{nil}
	bad := []store.Request{{Limit: 1}, {Text: good.Text}, boost, part,
		{Limit: 1, Vector: &store.VectorRequest{Field: "body", Vector: []float32{float32(math.NaN()), 0, 0, 0, 0, 0, 0, 0}}}}
	other := store.Request{Limit: 1, Vector: &store.VectorRequest{Field: "body", Vector: unit(1, 0, 0)}}
	if !without {
		bad = append(bad, other)
	}
	for _, req := range bad {
		check.Is(t, must.Err(b.Retrieve(ctx, req)), sheaf.ErrInvalid, "%+v", req)
	}
	matching.Vector.Matching = good.Text
	can := store.Matches(b) && !without
	found, err := b.Retrieve(ctx, matching)
	check.That(t, (!can || ids(found) == "t:v") && (can || errors.Is(err, sheaf.ErrUnsupported)),
		"a vector and words that match: %s, %v", ids(found), err)
	batches := []store.Chunk{Chunk("", "body", "x"), {ID: "t:x"}, Chunk("t:x", "body", "x", "body", "y")}
	for _, vector := range [][]float32{make([]float32, 8), unit(1, 0)} {
		if without && len(vector) == 2 {
			continue
		}
		c := Chunk("t:x", "body", "x")
		c.Vectors = []store.Vectors{{Name: "body", Passages: [][]float32{vector}}}
		batches = append(batches, c)
	}
	for _, c := range batches {
		check.Is(t, b.Write(ctx, store.Batch{Replace: []sheaf.ID{"t:a"},
			Chunks: []store.Chunk{Chunk("t:good", "body", "x"), c}}), sheaf.ErrInvalid, "write %+v", c)
	}
	expect(t, b, "nothing of a bad batch", good, "t:a t:v")
}

// hostile checks that IDs, fields, columns and queries may contain any bytes at all.
func hostile(t *testing.T, b store.Backend) {
	texts := []string{"\x00", "\xff\xfe", "'; DROP TABLE x; --", `{"match_all":{}}`, "a\nb\r\nc",
		strings.Repeat("long ", 10_000), strings.Repeat("x", 100_000), "%s %n", "../../etc", "<script>", "\u202e", "🚀",
		"' OR 1=1", "\\", "\"", "t:b", ""}
	var chunks []store.Chunk
	for i, s := range texts {
		if len(s) > 1000 {
			s = s[:1000]
		}
		c := Chunk(fmt.Sprintf("t:%02d %s", i, strings.ReplaceAll(s, "#", "")), "body", texts[i]+" marker", "title", texts[i])
		chunks = append(chunks, withColumns(c, column("c", sheaf.TextValue(s))))
	}
	write(t, b, chunks...)
	req := body(sheaf.Match{Text: "marker"})
	check.Equal(t, len(retrieve(t, b, req)), len(chunks), "chunks found")
	for i, s := range texts {
		for _, q := range []sheaf.TextQuery{sheaf.Match{Text: s}, sheaf.Phrase{Text: s}, sheaf.Prefix{Text: s},
			sheaf.Fuzzy{Text: s, Distance: 2}} {
			if !refused(t, b, Words(q)) {
				retrieve(t, b, Words(q))
			}
		}
		if len(s) <= 1000 {
			req.Filter = sheaf.In{Column: "c", Values: []sheaf.Value{sheaf.TextValue(s)}}
			r := retrieve(t, b, req)
			check.That(t, len(r) == 1 && r[0].ID == chunks[i].ID, "filter %q found %v", s, r)
		}
	}
}

// bulk checks that Commit makes all added chunks visible at once, and that they do not appear without Commit.
func bulk(t *testing.T, b store.Backend) {
	loader, ok := b.(store.Bulk)
	if !ok {
		t.Skip("the store has no bulk load")
	}
	ctx := context.Background()
	write(t, b, Chunk("t:old", "body", "x"))
	w, err := loader.Bulk(ctx)
	must.Do(t, err)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 20 {
				id := fmt.Sprintf("t:%d-%02d", i, j)
				if err := w.Add(ctx, store.Batch{Replace: []sheaf.ID{sheaf.ID(id)},
					Chunks: []store.Chunk{Chunk(id, "body", "x"), Chunk(id+"#s", "body", "y")}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	reused := []sheaf.ID{"t:old"}
	must.Do(t, w.Add(ctx, store.Batch{Replace: reused}))
	reused[0] = "t:0-00" // the store must not keep the caller's memory
	check.Is(t, w.Add(ctx, store.Batch{Chunks: []store.Chunk{{ID: "t:bad"}}}), sheaf.ErrInvalid, "a bad batch")
	first := unit(1, 0, 0, 0, 0, 0, 0, 0)
	for i, vector := range [][]float32{first, unit(1, 0)} {
		c := Chunk("t:vector", "body", "y")
		c.Vectors = []store.Vectors{{Name: "body", Passages: [][]float32{vector}}}
		if err := w.Add(ctx, store.Batch{Chunks: []store.Chunk{c}}); (i == 0) != (err == nil) ||
			i == 1 && !errors.Is(err, sheaf.ErrInvalid) {
			t.Errorf("a vector of %d dimensions beside others: %v", len(vector), err)
		}
	}
	clear(first) // the store must not keep the vectors either
	x := body(sheaf.Match{Text: "x"})
	x.Limit = 1000
	expect(t, b, "before the commit", x, "t:old")
	must.Do(t, w.Commit(ctx))
	check.Equal(t, len(retrieve(t, b, x)), 160, "found after the commit")
	near := store.Request{Limit: 10, Vector: &store.VectorRequest{Field: "body", Vector: unit(1, 0, 0, 0, 0, 0, 0, 0)}}
	if r := retrieve(t, b, near); ids(r) != "t:vector" || math.Abs(r[0].Score-1) > 0.02 {
		t.Errorf("a vector that was overwritten after Add: %+v", r)
	}
	must.Do(t, w.Add(ctx, store.Batch{Chunks: []store.Chunk{Chunk("t:lost", "body", "lost")}}))
	must.Do(t, w.Close())
	expect(t, b, "never committed", body(sheaf.Match{Text: "lost"}), "")
	write(t, b, Chunk("t:after", "body", "after"))
	expect(t, b, "written after the load", body(sheaf.Match{Text: "after"}), "t:after")
}

// concurrent checks that readers during a write see the whole batch or nothing of it.
func concurrent(t *testing.T, b store.Backend) {
	ctx := context.Background()
	batch := func(n int) store.Batch {
		out := store.Batch{Replace: []sheaf.ID{"t:d"}}
		for i := range 5 {
			out.Chunks = append(out.Chunks, Chunk(fmt.Sprintf("t:d#%d", i), "body", fmt.Sprintf("both version%d", n)))
		}
		return out
	}
	must.Do(t, b.Write(ctx, batch(0)))
	var group sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		group.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				r, err := b.Retrieve(ctx, body(sheaf.Match{Text: "both"}))
				if err != nil || len(r) != 5 && !optionsOf(b).Torn {
					t.Errorf("%d found while another wrote, %v", len(r), err)
					return
				}
			}
		})
	}
	for n := 1; n <= 25; n++ {
		must.Do(t, b.Write(ctx, batch(n)))
	}
	close(done)
	group.Wait()
	expect(t, b, "the last version", body(sheaf.Match{Text: "version25"}), "t:d#0 t:d#1 t:d#2 t:d#3 t:d#4")
}

// explain checks that an explanation has the score of Retrieve, and that its parts give this score. A chunk that
// Retrieve does not find must have no explanation.
func explain(t *testing.T, b store.Backend) {
	e, ok := b.(store.Explainer)
	if !ok {
		t.Skip("the store does not explain")
	}
	c := Chunk("t:a", "title", "apple pie", "body", "an apple a day, apples and pears")
	c.Vectors = []store.Vectors{{Name: "body", Passages: [][]float32{unit(1, 2, 3, 4, 5, 6, 7, 8)}}}
	write(t, b, c, Chunk("t:b", "body", "pears and pie"), Chunk("t:c", "body", "nothing"))
	reqs := []store.Request{{Limit: 5,
		Vector: &store.VectorRequest{Field: "body", Vector: unit(8, 7, 6, 5, 4, 3, 2, 1)}}}
	for _, how := range []store.Combine{store.CombineSum, store.CombineBest, store.CombineBM25F} {
		req := Words(sheaf.Bool{Should: []sheaf.TextQuery{sheaf.Match{Text: "apple pie"}, sheaf.Prefix{Text: "pea"},
			sheaf.Boost{Query: sheaf.Phrase{Text: "apple pie"}, Factor: 3}}})
		req.Text.Combine, req.Text.TieBreaker = how, 0.3
		reqs = append(reqs, req)
	}
	for _, req := range reqs {
		found := retrieve(t, b, req)
		for _, h := range found {
			checkExplanation(t, "explain", req, b, h)
		}
		out, err := e.Explain(context.Background(), req, []sheaf.ID{"t:c", "t:none"})
		if err != nil || len(out) != 2 || out[0] != nil || out[1] != nil || len(found) == 0 {
			t.Errorf("%d found; without a hit explained as %v, %v", len(found), out, err)
		}
	}
}

func reopen(t *testing.T, b store.Backend) {
	again := optionsOf(b).Reopen
	if again == nil {
		t.Skip("the store keeps nothing")
	}
	write(t, b, Chunk("t:a", "body", "x"), Chunk("t:b", "body", "x"))
	must.Do(t, b.Write(context.Background(), store.Batch{Replace: []sheaf.ID{"t:a"}}))
	b = again(t, b)
	defer func() { b.Close() }()
	expect(t, b, "reopened", body(sheaf.Match{Text: "x"}), "t:b")
	write(t, b, Chunk("t:c", "body", "x"))
	b = again(t, b)
	expect(t, b, "reopened again", body(sheaf.Match{Text: "x"}), "t:b t:c")
}

// cancel checks that calls fail and write nothing if their context has ended.
func cancel(t *testing.T, b store.Backend) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	check.Is(t, b.Write(ctx, store.Batch{Chunks: []store.Chunk{Chunk("t:a", "body", "x")}}), context.Canceled, "write")
	check.Is(t, must.Err(b.Retrieve(ctx, body(sheaf.Match{Text: "x"}))), context.Canceled, "retrieve")
	expect(t, b, "nothing was written", body(sheaf.Match{Text: "x"}), "")
}
