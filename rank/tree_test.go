package rank_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/rank"
)

// guide has sections of mixed depth: A with three children, B, and C, whose only child skips a level.
func guide() *shelf {
	l := newShelf()
	l.add("t:guide.md", "A", "  A1", "  A2", "  A3", "B", "C", "    C1")
	l.add("t:lone.md", "Only")
	l.add("t:two.md", "X", "Y")
	return l
}

// at returns an ID of the guide: "" is the document.
func at(title string) sheaf.ID {
	if title == "" {
		return "t:guide.md"
	}
	return sheaf.ChunkID("t:guide.md", title)
}

func specification() rank.Tree {
	return rank.Tree{Threshold: 0.5, MinMatches: 1, Scoring: rank.Scoring{Method: rank.MaxP}}
}

// lines writes a ranking, one hit per line, with constituents in brackets.
func lines(r sheaf.Ranking) string {
	var out []string
	for _, h := range r {
		s := fmt.Sprintf("%s %.4g", h.ID, h.Score)
		if len(h.Constituents) > 0 {
			s += fmt.Sprint(" ", ids(h.Constituents))
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func TestTree(t *testing.T) {
	rule := func(change func(*rank.Tree)) rank.Tree { tr := specification(); change(&tr); return tr }
	tests := []struct {
		name string
		tree rank.Tree
		in   sheaf.Ranking
		want string
	}{
		{"the worked example: up two levels", specification(), ranking(hit(at("A1"), 8), hit(at("A3"), 5), hit(at("B"), 2)),
			"t:guide.md 8 [t:guide.md#A1 t:guide.md#A3 t:guide.md#B]"},
		{"exactly half lifts", specification(), ranking(hit("t:two.md#X", 3)), "t:two.md 3 [t:two.md#X]"},
		{"one of three children stays", specification(), ranking(hit(at("A1"), 8), hit(at("C"), 1)),
			"t:guide.md#A1 8\nt:guide.md#C 1"},
		{"children at different depths count together", specification(), ranking(hit(at("C1"), 4), hit(at("B"), 3)),
			"t:guide.md 4 [t:guide.md#C1 t:guide.md#B]"},
		{"the parent's own match counts too", specification(), ranking(hit(at("A"), 9), hit(at("A1"), 8), hit(at("A2"), 7)),
			"t:guide.md#A 9 [t:guide.md#A1 t:guide.md#A2]"},
		{"an outer answer takes the best inside", specification(), ranking(hit(at("A1"), 8), hit(at(""), 2)),
			"t:guide.md 8 [t:guide.md#A1]"},
		{"a lone child lifts", specification(), ranking(hit("t:lone.md#Only", 5)), "t:lone.md 5 [t:lone.md#Only]"},
		{"a lone child stays when two must match", rule(func(t *rank.Tree) { t.MinMatches = 2 }),
			ranking(hit("t:lone.md#Only", 5)), "t:lone.md#Only 5"},
		{"both: a title match swallows nothing", rule(func(t *rank.Tree) { t.Nested = rank.NestedBoth }),
			ranking(hit(at(""), 9), hit(at("A1"), 8)),
			"t:guide.md 9\nt:guide.md#A1 8"},
		{"both: children are still lifted", rule(func(t *rank.Tree) { t.Nested = rank.NestedBoth }),
			ranking(hit(at(""), 9), hit(at("A1"), 8), hit(at("A2"), 6)),
			"t:guide.md 9\nt:guide.md#A 8 [t:guide.md#A1 t:guide.md#A2]"},
		{"threshold 1 wants all", rule(func(t *rank.Tree) { t.Threshold = 1 }), ranking(hit(at("A1"), 8), hit(at("A2"), 6)),
			"t:guide.md#A1 8\nt:guide.md#A2 6"},
		{"root of the sum of squares", rule(func(t *rank.Tree) { t.Scoring.Method = rank.RSS }),
			ranking(hit(at("A1"), 4), hit(at("A2"), 3)),
			"t:guide.md#A 5 [t:guide.md#A1 t:guide.md#A2]"},
		{"unknown chunks are left out", specification(), ranking(hit("t:gone.md#x", 9), hit(at("A1"), 8)), "t:guide.md#A1 8"},
		{"constituents that score alike stand as they were found", specification(),
			ranking(hit(at("A1"), 5), hit(at("B"), 5), hit(at("A2"), 5)),
			"t:guide.md 5 [t:guide.md#A1 t:guide.md#B t:guide.md#A2]"},
		{"ties by the best rank inside", specification(), ranking(hit("t:lone.md", 5), hit(at("A1"), 5), hit(at("A2"), 1)),
			"t:lone.md 5\nt:guide.md#A 5 [t:guide.md#A1 t:guide.md#A2]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out := apply(t, test.tree, withReasons(test.in), rank.Env{Facts: guide()})
			equal(t, "tree", lines(out), test.want)
			checkReasons(t, test.name, out)
		})
	}
}

// TestTreeOfNamesThatBeginAlike checks that parents decide what is inside a section, not similar names, such as "Set
// up".
func TestTreeOfNamesThatBeginAlike(t *testing.T) {
	l := newShelf()
	l.add("t:a.md", "Set", "Set up", "X", "Y", "Z")
	l.add("t:a.md.md", "Other", "More", "Last")
	set, up, other := sheaf.ChunkID("t:a.md", "Set"), sheaf.ChunkID("t:a.md", "Set up"),
		sheaf.ChunkID("t:a.md.md", "Other")
	out := apply(t, specification(), ranking(hit(set, 5), hit(up, 4), hit(other, 3)), rank.Env{Facts: l})
	equal(t, "tree", lines(out), fmt.Sprintf("%s 5\n%s 4\n%s 3", set, up, other))
}

// TestTreeNamesSourceOfScore checks that an outer answer with one hit inside names its source (rule A18).
func TestTreeNamesSourceOfScore(t *testing.T) {
	out := apply(t, specification(), withReasons(ranking(hit(at("A1"), 8), hit(at(""), 2))), rank.Env{Facts: guide()})
	must.That(t, len(out) == 1 && out[0].Score == 8 && out[0].Explanation != nil, "got %v", lines(out))
	e := out[0].Explanation
	if e.Combine != sheaf.CombineMax || len(e.Parts) != 2 || e.Parts[0].Label != string(at("A1")) ||
		e.Parts[0].Value != 8 || e.Parts[1].Label != string(at("")) || e.Parts[1].Value != 2 {
		t.Errorf("got %+v", *e)
	}
}

// loop is facts with a chunk that is its own ancestor.
type loop struct{ *shelf }

func (l loop) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	c, ok := l.shelf.Chunk(id)
	if c.Depth == 0 {
		c.Parent = at("A1")
	}
	return c, ok
}

func (l loop) Node(id sheaf.ID) *sheaf.Node {
	c, _ := l.Chunk(id)
	return sheaf.NodeOf(&c)
}

func TestTreeEndsOnLoops(t *testing.T) {
	env := rank.Env{Facts: loop{guide()}}
	in := ranking(hit(at("A1"), 3), hit(at("A2"), 2), hit(at(""), 1))
	apply(t, specification(), in, env)
	apply(t, rank.MMR{Lambda: 0.5, N: 10}, in, env)
}

// TestTreeProperties checks that no answer is inside another, and that no candidate is lost.
func TestTreeProperties(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 3))
		l, all := randomShelf(rng)
		in := randomRanking(rng, all, 1)
		tree := rank.Tree{Threshold: 0.1 + 0.9*rng.Float64(), MinMatches: 1 + rng.IntN(2),
			Scoring: rank.Scoring{Method: rank.MaxP}}
		out := apply(t, tree, in, rank.Env{Facts: l})
		answers := map[sheaf.ID]bool{}
		covered := map[sheaf.ID]bool{}
		for _, h := range out {
			answers[h.ID] = true
			covered[h.ID] = true
			for _, c := range h.Constituents {
				covered[c.ID] = true
			}
		}
		for _, h := range out {
			c, _ := l.Chunk(h.ID)
			for p := c.Parent; p != ""; p = l.chunks[p].Parent {
				must.That(t, !answers[p], "seed %d: %s lies inside %s", seed, h.ID, p)
			}
		}
		for _, h := range in {
			must.That(t, covered[h.ID], "seed %d: %s is lost", seed, h.ID)
		}
		must.That(t, len(in) == 0 || out[0].Score == in[0].Score, "seed %d: the best was %v and is %v", seed, in[0].Score,
			out[0].Score)
		must.Equal(t, len(answers), len(out), "seed %d: distinct answers of %v", seed, ids(out))
	}
}
