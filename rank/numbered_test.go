package rank_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"sheaf"
	"sheaf/rank"
)

// outlined is a shelf that tells nodes, with the numbers of their documents when there
// are some. They are parts of outlines where those are kept, and copies else.
type outlined struct {
	*shelf
	numbers map[sheaf.ID]uint32
	kept    map[sheaf.ID]*sheaf.Outline
}

func (o outlined) Node(id sheaf.ID) *sheaf.Node {
	if o.kept != nil {
		n := sheaf.NodeIn(o.Outline, id)
		if n != nil {
			n.Number = o.numbers[n.Doc]
		}
		return n
	}
	c := o.chunks[id]
	if c == nil {
		return nil
	}
	n := sheaf.NodeOf(c)
	n.Number = o.numbers[n.Doc]
	return &n
}

func (o outlined) Outline(id sheaf.ID) *sheaf.Outline {
	if known := o.kept[id]; known != nil {
		return known
	}
	d := o.docs[id]
	if d == nil {
		return nil
	}
	outline := sheaf.OutlineOf(d, sheaf.Dated{})
	if o.kept != nil {
		o.kept[id] = outline
	}
	return outline
}

// linked is outlined that tells links by numbers, where all those that a document links
// to have one.
type linked struct {
	outlined
	asked *int
}

func (l linked) LinkNumbers(from *sheaf.Node) ([]uint32, bool) {
	*l.asked++
	var numbers []uint32
	for _, to := range l.Links(from.Doc) {
		if l.numbers[to] == 0 {
			return nil, false
		}
		numbers = append(numbers, l.numbers[to])
	}
	return numbers, true
}

// Links count the same by the numbers of documents as by their IDs.
func TestLinksByNumber(t *testing.T) {
	asked, moved := 0, 0
	for seed := range uint64(1_000) {
		rng := rand.New(rand.NewPCG(seed, 13))
		known, all := randomShelf(rng)
		numbers := map[sheaf.ID]uint32{}
		for id := range known.docs {
			numbers[id] = uint32(len(numbers))*7 + 1
		}
		for from := range known.docs { // documents link to others, to themselves and to none
			for to := range known.docs {
				if rng.IntN(3) == 0 {
					known.link(from, to)
				}
			}
		}
		if seed%4 == 0 { // one document without a number, and all go by their IDs
			for id := range numbers {
				delete(numbers, id)
				break
			}
		}
		s := rank.GraphBoost{Candidates: 1 + rng.IntN(6), Backlink: 1, Strength: 0.3}
		in := randomRanking(rng, append(all, "t:none"), 1)
		want := apply(t, s, in, rank.Env{Facts: known})
		got := apply(t, s, in, rank.Env{Facts: linked{outlined{shelf: known, numbers: numbers}, &asked}})
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d, %+v: %s, want %s", seed, s, written(got), written(want))
		}
		if !reflect.DeepEqual(want, in) {
			moved++
		}
	}
	if asked < 1_000 || moved < 100 {
		t.Errorf("links were asked for by number %d times, and changed %d rankings", asked, moved)
	}
}

// Documents that hits are lifted to have numbers, by which a fusion finds the same as by
// their IDs, with the same constituents and reasons.
func TestLiftedByNumber(t *testing.T) {
	numbered := 0
	var memories [2]rank.Memory
	for seed := range uint64(1_000) {
		rng := rand.New(rand.NewPCG(seed, 14))
		known, all := randomShelf(rng)
		facts := outlined{shelf: known, numbers: map[sheaf.ID]uint32{}}
		for id := range known.docs {
			facts.numbers[id] = uint32(len(facts.numbers))*[...]uint32{1, 7, 1_000_000}[seed%3] + 1
		}
		if seed%4 == 0 { // one document without a number, or with one that is too large
			for id := range facts.numbers {
				facts.numbers[id] = uint32(seed % 8 << 29)
				break
			}
		}
		var legs, plain []rank.Leg
		for i := range memories {
			in := randomRanking(rng, all, 1)
			if seed%5 == 0 {
				in = withReasons(in)
			}
			a := rank.Aggregate{Scoring: rank.Scoring{Method: rank.TopMSum, M: 2}}
			hits, err := a.ApplyIn(&memories[i], in, rank.Env{Facts: facts})
			if err != nil {
				t.Fatal(err)
			}
			numbers := memories[i].Documents()
			for k := range numbers {
				if want := facts.numbers[hits[k].ID]; uint32(numbers[k]) != want {
					t.Fatalf("seed %d: %s has number %d, want %d", seed, hits[k].ID, numbers[k], want)
				}
			}
			if len(numbers) == len(hits) {
				numbered++
			}
			want := apply(t, a, in, rank.Env{Facts: known})
			if len(hits) != len(want) || len(want) > 0 && !reflect.DeepEqual(hits, want) {
				t.Fatalf("seed %d: lifted are %s, want %s", seed, written(hits), written(want))
			}
			legs, plain = append(legs, rank.Leg{Name: "leg", Hits: hits, Weight: 1, Numbers: numbers}), append(plain, rank.Leg{Name: "leg", Hits: want, Weight: 1})
		}
		if got, want := fuse(t, rank.RRF{K: 60}, legs...), fuse(t, rank.RRF{K: 60}, plain...); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: fused are %s, want %s", seed, written(got), written(want))
		}
		if got, want := rank.MaxLegs(nil, legs[0], legs[1]).Hits, rank.MaxLegs(nil, plain[0], plain[1]).Hits; !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: the larger are %s, want %s", seed, written(got), written(want))
		}
	}
	if numbered < 1_000 {
		t.Errorf("%d rankings had numbers", numbered)
	}
}

// Stages that look at documents do the same by their numbers as by their IDs.
func TestDocumentsByNumber(t *testing.T) {
	stages := []rank.Stage{
		rank.Names{Document: 0.5, Heading: 0.5, Title: 1}, rank.PerDocument{Max: 1}, rank.PerDocument{Max: 2},
		rank.GraphBoost{Candidates: 5, Backlink: 1, Strength: 0.3}, rank.WordPairs{Strength: 1, Hits: 5},
	}
	for seed := range uint64(1_000) {
		rng := rand.New(rand.NewPCG(seed, 9))
		known, all := randomShelf(rng)
		numbers := map[sheaf.ID]uint32{}
		for id := range known.docs {
			numbers[id] = uint32(len(numbers))*7 + 1
		}
		ranking := randomRanking(rng, append(all, "t:none", "t:none#1"), 1)
		if seed%2 == 0 { // one document without a number, and all go by their IDs
			for id := range numbers {
				delete(numbers, id)
				break
			}
		}
		pairs := func(chunks []sheaf.ID) ([]rank.Pair, error) {
			if sorted := slices.Sorted(slices.Values(chunks)); len(slices.Compact(sorted)) < len(chunks) {
				t.Fatalf("seed %d: a chunk is asked for twice: %v", seed, chunks)
			}
			return someHave(chunks)
		}
		s := stages[rng.IntN(len(stages))]
		env := rank.Env{Facts: known, Query: "A", Named: lettersOf("A"), Pairs: pairs}
		want, err := s.Apply(ranking, env)
		if err != nil {
			t.Fatal(err)
		}
		facts := outlined{shelf: known, numbers: numbers}
		if seed%3 == 0 {
			facts.kept = map[sheaf.ID]*sheaf.Outline{}
		}
		env.Facts = facts
		got, err := s.Apply(ranking, env)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d, %+v: %s, want %s (%v)", seed, s, written(got), written(want), err)
		}
	}
}
