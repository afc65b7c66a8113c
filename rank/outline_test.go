package rank_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/rank"
)

// outlined is a shelf whose nodes point into outlines, as in the catalog.
type outlined struct {
	*shelf
	kept map[sheaf.ID]*sheaf.Outline
}

func (o outlined) Node(id sheaf.ID) *sheaf.Node { return sheaf.NodeIn(o.Outline, id) }

func (o outlined) Outline(id sheaf.ID) *sheaf.Outline {
	if o.kept[id] == nil {
		o.kept[id] = o.shelf.Outline(id)
	}
	return o.kept[id]
}

// TestOutlines checks that stages give the same results with and without nodes that point into outlines.
func TestOutlines(t *testing.T) {
	stages := []rank.Stage{
		rank.Names{Document: 0.5, Heading: 0.5, Title: 1}, rank.PerDocument{Max: 1}, rank.PerDocument{Max: 2},
		rank.GraphBoost{Candidates: 5, Backlink: 1, Strength: 0.3}, rank.WordPairs{Strength: 1, Hits: 5},
		rank.Recency{Decay: 0.5, Undated: rank.UndatedAge}, rank.PropertyBoost{Name: "boost"},
	}
	for seed := range uint64(1_000) {
		rng := rand.New(rand.NewPCG(seed, 9))
		known, all := randomShelf(rng)
		ranking := randomRanking(rng, append(all, "t:none", "t:none#1"), 1)
		pairs := func(chunks []sheaf.ID) ([]rank.Pair, error) {
			sorted := slices.Sorted(slices.Values(chunks))
			must.That(t, len(slices.Compact(sorted)) >= len(chunks), "seed %d: a chunk is asked for twice: %v", seed, chunks)
			return someHave(chunks)
		}
		s := stages[rng.IntN(len(stages))]
		env := rank.Env{Facts: known, Now: now, Query: "A", Named: lettersOf("A"), Pairs: pairs}
		want := must.Get(s.Apply(ranking, env))
		env.Facts = outlined{known, map[sheaf.ID]*sheaf.Outline{}}
		got, err := s.Apply(ranking, env)
		must.That(t, err == nil && reflect.DeepEqual(got, want),
			"seed %d, %+v: %s, want %s (%v)", seed, s, written(got), written(want), err)
	}
}
