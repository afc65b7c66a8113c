package rank_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"sheaf"
	"sheaf/rank"
)

// outlined is a shelf that implements rank.Outliner. Its nodes point into outlines if these are
// stored, otherwise they are copies.
type outlined struct {
	*shelf
	kept map[sheaf.ID]*sheaf.Outline
}

func (o outlined) Node(id sheaf.ID) *sheaf.Node {
	if o.kept != nil {
		return sheaf.NodeIn(o.Outline, id)
	}
	c := o.chunks[id]
	if c == nil {
		return nil
	}
	n := sheaf.NodeOf(c)
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

// TestOutlines checks that stages give the same results with outlines as with chunks and documents.
func TestOutlines(t *testing.T) {
	stages := []rank.Stage{
		rank.Names{Document: 0.5, Heading: 0.5, Title: 1}, rank.PerDocument{Max: 1}, rank.PerDocument{Max: 2},
		rank.GraphBoost{Candidates: 5, Backlink: 1, Strength: 0.3}, rank.WordPairs{Strength: 1, Hits: 5},
	}
	for seed := range uint64(1_000) {
		rng := rand.New(rand.NewPCG(seed, 9))
		known, all := randomShelf(rng)
		ranking := randomRanking(rng, append(all, "t:none", "t:none#1"), 1)
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
		facts := outlined{shelf: known}
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
