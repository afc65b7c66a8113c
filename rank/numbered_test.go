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

// Stages that look at documents do the same by their numbers as by their IDs.
func TestDocumentsByNumber(t *testing.T) {
	stages := []rank.Stage{
		rank.Support{Strength: 0.5, Each: 0.5, Among: 10}, rank.PerDocument{Max: 1}, rank.PerDocument{Max: 2},
		rank.GraphBoost{Candidates: 5, Backlink: 1, Strength: 0.3}, rank.Whole{Strength: 1, Place: 0.5, Saturation: 2, Coverage: 0.5, Documents: 5},
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
		words := func(chunks []sheaf.ID) ([]rank.Word, error) {
			if sorted := slices.Sorted(slices.Values(chunks)); len(slices.Compact(sorted)) < len(chunks) {
				t.Fatalf("seed %d: a place is asked for twice: %v", seed, chunks)
			}
			in := make([]float64, len(chunks))
			for i, id := range chunks {
				in[i] = float64(len(id) % 3)
			}
			return []rank.Word{{Text: "tea", Worth: 2, In: in}}, nil
		}
		s := stages[rng.IntN(len(stages))]
		want, err := s.Apply(ranking, rank.Env{Facts: known, Words: words})
		if err != nil {
			t.Fatal(err)
		}
		facts := outlined{shelf: known, numbers: numbers}
		if seed%3 == 0 {
			facts.kept = map[sheaf.ID]*sheaf.Outline{}
		}
		got, err := s.Apply(ranking, rank.Env{Facts: facts, Words: words})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d, %+v: %s, want %s (%v)", seed, s, written(got), written(want), err)
		}
	}
}
