package rank_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sheaf"
	"sheaf/rank"
)

// parts has documents of several chunks: "doc" and "doc#n".
type parts struct {
	alone
	of map[sheaf.ID][]sheaf.ID
}

func (p parts) Document(id sheaf.ID) (sheaf.Document, bool) {
	d := sheaf.Document{ID: id}
	for _, c := range p.of[id] {
		d.Chunks = append(d.Chunks, sheaf.Chunk{ID: c, Doc: id})
	}
	return d, len(d.Chunks) > 0
}

func (parts) Date(sheaf.ID) (sheaf.Dated, bool) { return sheaf.Dated{}, false }

// wordsIn tells how words stand in chunks, each by its strengths.
func wordsIn(words []rank.Word, strengths ...map[sheaf.ID]float64) func([]sheaf.ID) ([]rank.Word, error) {
	return func(ids []sheaf.ID) ([]rank.Word, error) {
		out := slices.Clone(words)
		for i := range out {
			for _, id := range ids {
				out[i].In = append(out[i].In, strengths[i][id])
			}
		}
		return out, nil
	}
}

func TestWhole(t *testing.T) {
	facts := parts{of: map[sheaf.ID][]sheaf.ID{"a": {"a", "a#1", "a#2"}, "b": {"b"}, "c": {"c", "c#1"}}}
	find := wordsIn([]rank.Word{{Text: "one", Worth: 3}, {Text: "two", Worth: 3}},
		map[sheaf.ID]float64{"a": 1, "b": 1, "c": 1}, map[sheaf.ID]float64{"a#2": 1, "b": 0.9})
	var asked []sheaf.ID
	env := rank.Env{Facts: facts, Words: func(ids []sheaf.ID) ([]rank.Word, error) { asked = slices.Clone(ids); return find(ids) }}
	in := scored("b a c a#1", .52, .5, .48, .1)
	out, err := rank.Whole{Strength: 0.2, Place: 1, Saturation: 2, Documents: 20}.Apply(in, env)
	if err != nil {
		t.Fatal(err)
	}
	// The worked example: half of the query in the best place, the other half
	// elsewhere. Documents of one place are not asked for.
	want := map[sheaf.ID]float64{"a": .55, "b": .52, "c": .48, "a#1": .15}
	for i, id := range []sheaf.ID{"a", "b", "c", "a#1"} {
		h := out[i]
		if h.ID != id || math.Abs(h.Score-want[id]) > 1e-12 {
			t.Errorf("rank %d: %s scores %v, want %s with %v", i+1, h.ID, h.Score, id, want[id])
		}
		if r := h.Explanation.Recombine(); math.Abs(r-h.Score) > 1e-12 {
			t.Errorf("%s scores %v and is explained by %v", h.ID, h.Score, r)
		}
	}
	if slices.Sort(asked); !slices.Equal(asked, []sheaf.ID{"a", "a#1", "a#2", "c", "c#1"}) {
		t.Errorf("asked for %v", asked)
	}
	// Coverage: a has all of the words, and nowhere side by side; b and c have half of
	// them, and c a pair. Where all have one place nothing is looked for.
	pairs := wordsIn([]rank.Word{{Text: "one", Worth: 3}, {Text: "two", Worth: 3}, {Text: "one two", Worth: 6, Pair: true}, {Text: "two three", Worth: 3, Pair: true}},
		map[sheaf.ID]float64{"a": 1, "b": 0.5, "c": 1}, map[sheaf.ID]float64{"a#2": 1}, map[sheaf.ID]float64{"c#1": 0.1}, nil)
	for _, strength := range []float64{0, 0.2} {
		want := map[sheaf.ID]float64{"a": .5 + strength/4 + .4, "b": .52 + .4/2, "c": .48 + .4*(.5+2./3), "a#1": .1 + strength/4 + .4}
		covered, err := rank.Whole{Strength: strength, Place: 1, Saturation: 2, Coverage: 0.4, Documents: 20}.Apply(in, rank.Env{Facts: facts, Words: pairs})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range covered {
			if math.Abs(h.Score-want[h.ID]) > 1e-12 || math.Abs(h.Explanation.Recombine()-h.Score) > 1e-12 {
				t.Errorf("strength %v: %s scores %v, explained by %v, want %v", strength, h.ID, h.Score, h.Explanation.Recombine(), want[h.ID])
			}
		}
	}
	places := rank.Env{Facts: facts, Words: func([]sheaf.ID) ([]rank.Word, error) { return nil, sheaf.ErrUnavailable }}
	if out, err := (rank.Whole{Strength: 0.2, Place: 1, Saturation: 2, Coverage: 0.4, Documents: 20}).Apply(scored("b", .52), places); err != nil || out[0].Score != .52 {
		t.Errorf("documents of one place: %v, %v", out, err)
	}
	// With Place below 1 what other places add counts also by itself.
	if out, err = (rank.Whole{Strength: 0.2, Place: 0.5, Saturation: 2, Documents: 20}).Apply(in, env); err != nil {
		t.Fatal(err)
	}
	if h := out[0]; math.Abs(h.Score-(.5+.075)) > 1e-12 || math.Abs(h.Explanation.Recombine()-h.Score) > 1e-12 {
		t.Errorf("place 0.5: %s scores %v, explained by %v", h.ID, h.Score, h.Explanation.Recombine())
	}
	// Only the first documents are looked at.
	if out, _ = (rank.Whole{Strength: 0.2, Place: 1, Saturation: 2, Documents: 1}).Apply(in, env); out[0].ID != "b" {
		t.Errorf("of one document: %v", out)
	}
	broken := env
	broken.Words = func([]sheaf.ID) ([]rank.Word, error) { return nil, sheaf.ErrUnavailable }
	if _, err := (rank.Whole{Strength: 0.2, Place: 1, Saturation: 2, Documents: 20}).Apply(in, broken); !errors.Is(err, sheaf.ErrUnavailable) {
		t.Errorf("a store that fails: %v", err)
	}
	for _, bad := range []rank.Whole{{-1, 1, 2, 0, 20}, {0.2, 1, 0, 0, 20}, {0.2, 1, math.Inf(1), 0, 20}, {0.2, 1, 2, 0, 0}, {math.NaN(), 1, 2, 0, 20}, {0.2, 1, 2, -1, 20}, {0.2, 1, 2, math.NaN(), 20},
		{0.2, -0.1, 2, 0, 20}, {0.2, 1.1, 2, 0, 20}, {0.2, math.NaN(), 2, 0, 20}} {
		if _, err := bad.Apply(in, env); !errors.Is(err, sheaf.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// A word that the best place says often lets others add no more than one that it says
// once, and of a long document the first places are looked at, its best hit besides.
func TestWholeOfRepeatsAndLongDocuments(t *testing.T) {
	facts := parts{of: map[sheaf.ID][]sheaf.ID{}}
	for n := range rank.MaxPlaces + 2 {
		id := sheaf.ID("long")
		if n > 0 {
			id = sheaf.ID(fmt.Sprintf("long#%d", n))
		}
		facts.of["long"] = append(facts.of["long"], id)
	}
	last := facts.of["long"][rank.MaxPlaces-1]
	words := []rank.Word{{Text: "one", Worth: 3}, {Text: "two", Worth: 3}}
	for _, c := range []struct {
		name  string
		best  float64 // of the first word in the best place
		where sheaf.ID
		want  float64
	}{
		{"once", 1, last, .5 + 0.2*0.5*0.5},
		{"often", 5, last, .5 + 0.2*0.5*0.5},
		{"beyond the first places", 1, facts.of["long"][rank.MaxPlaces], .5},
	} {
		out, err := rank.Whole{Strength: 0.2, Place: 1, Saturation: 2, Documents: 20}.Apply(scored("long", .5),
			rank.Env{Facts: facts, Words: wordsIn(words, map[sheaf.ID]float64{"long": c.best}, map[sheaf.ID]float64{c.where: 1})})
		if err != nil {
			t.Fatal(err)
		}
		if got := out[0].Score; math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestWholeHolds: nothing is lowered or lost, hits of a document keep their
// order, what is added is at most the strength times what a word can gain and the
// coverage of all words and pairs, and without words nothing changes.
func TestWholeHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		facts := parts{of: map[sheaf.ID][]sheaf.ID{}}
		strengths := []map[sheaf.ID]float64{{}, {}, {}}
		var in sheaf.Ranking
		for _, doc := range []sheaf.ID{"a", "b", "c", "d"} {
			for n := range rapid.IntRange(1, 4).Draw(t, "places") {
				id := doc
				if n > 0 {
					id = doc + sheaf.ID("#"+string(rune('0'+n)))
				}
				facts.of[doc] = append(facts.of[doc], id)
				for i := range strengths {
					strengths[i][id] = rapid.SampledFrom([]float64{0, 0.5, 1, 2}).Draw(t, "strength")
				}
				in = append(in, sheaf.Hit{ID: id, Score: rapid.Float64Range(0, 1).Draw(t, "score")})
			}
		}
		in.Sort()
		before := slices.Clone(in)
		stage := rank.Whole{Strength: 0.2, Place: rapid.SampledFrom([]float64{0, 0.75, 1}).Draw(t, "place"), Saturation: 2, Coverage: rapid.SampledFrom([]float64{0, 0.4}).Draw(t, "coverage"), Documents: rapid.IntRange(1, 5).Draw(t, "documents")}
		out, err := stage.Apply(in, rank.Env{Facts: facts, Words: wordsIn([]rank.Word{{Text: "x", Worth: 1}, {Text: "y", Worth: 2.5}, {Text: "x y", Worth: 3.5, Pair: true}}, strengths...)})
		if err != nil {
			t.Fatal(err)
		}
		same := func(a, b sheaf.Hit) bool { return a.ID == b.ID && a.Score == b.Score }
		if len(out) != len(in) || !slices.EqualFunc(in, before, same) {
			t.Fatalf("%d hits of %d, or the input changed", len(out), len(in))
		}
		gained := map[sheaf.ID]float64{}
		for _, h := range out {
			was := in[slices.IndexFunc(in, func(g sheaf.Hit) bool { return g.ID == h.ID })].Score
			c, _ := facts.Chunk(h.ID)
			by := h.Score - was
			if other, seen := gained[c.Doc]; seen && math.Abs(other-by) > 1e-9 {
				t.Fatalf("hits of %s gain %v and %v", c.Doc, other, by)
			}
			gained[c.Doc] = by
			if by < 0 || by > stage.Strength*(1+stage.Saturation)+2*stage.Coverage+1e-12 || len(facts.of[c.Doc]) == 1 && by > 2*stage.Coverage+1e-12 {
				t.Fatalf("%s gains %v with %d places", h.ID, by, len(facts.of[c.Doc]))
			}
		}
		if out, err = stage.Apply(in, rank.Env{Facts: facts}); err != nil || !slices.EqualFunc(in, out, same) {
			t.Fatalf("without words: %v, %v", out, err)
		}
	})
}
