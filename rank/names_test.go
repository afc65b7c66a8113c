package rank_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/rank"
)

// wordsOf compares names with a query, both split at white space. The default idf of a word is 1.
func wordsOf(query string, idf map[string]float64) func(name string) rank.NameMatch {
	worth := func(word string) float64 {
		if v, ok := idf[word]; ok {
			return v
		}
		return 1
	}
	asked, sum := map[string]bool{}, 0.0
	for _, word := range strings.Fields(strings.ToLower(query)) {
		if !asked[word] {
			asked[word] = true
			sum += worth(word)
		}
	}
	return func(name string) (m rank.NameMatch) {
		seen, said, held := map[string]bool{}, 0, 0.0
		for _, word := range strings.Fields(strings.ToLower(name)) {
			if seen[word] {
				continue
			}
			seen[word] = true
			if asked[word] {
				said++
				held += worth(word)
			}
		}
		if len(seen) > 0 && sum > 0 {
			m = rank.NameMatch{Asked: min(1, held/sum), Said: float64(said) / float64(len(seen))}
		}
		return m
	}
}

// lettersOf is wordsOf with the same idf for every word.
func lettersOf(query string) func(name string) rank.NameMatch { return wordsOf(query, nil) }

// TestNamesExample runs the example of the doc comment.
func TestNamesExample(t *testing.T) {
	l := newShelf()
	d := l.add("t:x.md", "undo commit")
	d.Chunks[0].Title = "undo everything"
	in := withReasons(ranking(hit(d.Chunks[1].ID, 1)))
	out := apply(t, rank.Names{Document: 0.3, Heading: 0.3}, in,
		rank.Env{Facts: l, Query: "commit undo", Named: lettersOf("commit undo")})
	checkReasons(t, "example", out)
	nearList(t, out, []float64{1 + 0.3*0.25 + 0.3*1})
	why := out[0].Explanation
	equal(t, "labels", []string{why.Label, why.Parts[0].Label, why.Parts[1].Label, why.Parts[2].Label},
		[]string{"names", "retrieved", `name of the document "undo everything"`, `own heading "undo commit"`})
}

// TestNamesCountTitlesOnce checks that the title of a document is not also counted as the heading of its root.
func TestNamesCountTitlesOnce(t *testing.T) {
	l := newShelf()
	d := l.add("t:x.md", "undo")
	d.Chunks[0].Title = "undo"
	out := apply(t, rank.Names{Document: 0.35, Heading: 0.1}, ranking(hit(d.ID, 1), hit(d.Chunks[1].ID, 1)),
		rank.Env{Facts: l, Query: "undo it", Named: lettersOf("undo it")})
	equal(t, "order", out[0].ID, d.Chunks[1].ID)
	nearList(t, out, []float64{1 + 0.45*0.5, 1 + 0.35*0.5})
}

// TestNamesThatEqual checks that a name that equals the query counts in any case and white space. A name that only
// contains the query does not.
func TestNamesThatEqual(t *testing.T) {
	l := newShelf()
	d := l.add("t:notes/Go Basics.md", "Loops")
	d.Aliases = []string{"Golang"}
	d.Title, d.Chunks[0].Title = "Basics of Go", "Basics of Go"
	in := ranking(hit(d.ID, 1), hit(d.Chunks[1].ID, 1))
	const document, section = "t:notes/Go Basics.md", "t:notes/Go Basics.md#Loops"
	for query, want := range map[string]string{
		"basics  of GO ": document + " 1.5\n" + section + " 1",
		"golang":         document + " 1.25\n" + section + " 1",
		"go basics":      document + " 1.25\n" + section + " 1",
		"go basics.md":   document + " 1.25\n" + section + " 1",
		"loops":          section + " 1.2\n" + document + " 1",
		"basics":         document + " 1\n" + section + " 1",
		"":               document + " 1\n" + section + " 1",
	} {
		out := apply(t, rank.Names{Title: 0.5, Equal: 0.2, Alias: 0.25}, withReasons(in), rank.Env{Facts: l, Query: query})
		checkReasons(t, query, out)
		equal(t, query, lines(out), want)
	}
	// The typed text may be a name that contains operators.
	d.Chunks[1].Title = "Loops (long)"
	out := apply(t, rank.Names{Equal: 0.2}, withReasons(in),
		rank.Env{Facts: l, Query: "loops long", Typed: "Loops (long)"})
	equal(t, "as typed", lines(out), section+" 1.2\n"+document+" 1")
	// When several names equal the query, the best name counts, once.
	d.Chunks[0].Title, d.Aliases = "Go Basics", []string{"go basics"}
	out = apply(t, rank.Names{Title: 0.5, Alias: 0.75}, withReasons(in), rank.Env{Facts: l, Query: "go basics"})
	checkReasons(t, "the best", out)
	equal(t, "the best", lines(out), document+" 1.75\n"+section+" 1")
}

// TestNamesOfADocument checks that the best of title, aliases and file name counts, for every hit
// of the document. A file called index, readme or _index has the name of its folder.
func TestNamesOfADocument(t *testing.T) {
	for _, c := range []struct {
		path, title, alias, query string
		want                      float64
	}{
		{"x/long file.md", "Undo", "", "undo", 1},
		{"x/undo.md", "Of many things", "", "undo", 1},
		{"x/long file.md", "Of many things", "undo", "undo", 1},
		{"x/long file.md", "Undo it", "undo", "undo", 1},
		{"x/long file.md", "Undo it", "", "undo", 0.5},
		{"undo/index.md", "Of many things", "", "undo", 1},
		{"undo/README.md", "Of many things", "", "undo", 1},
		{"undo/_index.md", "Of many things", "", "undo", 1},
		{"undo/index.md", "Of many things", "", "index", 0},
		{"readme.md", "Of many things", "", "readme", 0},
		{"undo/other.md", "Of many things", "", "undo", 0},
		{"x/y.md", "", "", "undo", 0},
	} {
		l := newShelf()
		d := l.add(sheaf.DocumentID("t", c.path), "Section")
		d.Chunks[0].Title = c.title
		if c.alias != "" {
			d.Aliases = []string{c.alias}
		}
		in := withReasons(ranking(hit(d.ID, 1), hit(d.Chunks[1].ID, 1), hit("t:unknown.md", 1)))
		out := apply(t, rank.Names{Document: 0.5}, in, rank.Env{Facts: l, Query: c.query, Named: lettersOf(c.query)})
		checkReasons(t, c.path, out)
		nearScores(t, scoresOf(out), map[string]float64{string(d.ID): 1 + 0.5*c.want, string(d.Chunks[1].ID): 1 + 0.5*c.want,
			"t:unknown.md": 1})
	}
}

// TestNamesThatCannotBeCompared checks that only names equal to the query count when Env.Named is nil.
func TestNamesThatCannotBeCompared(t *testing.T) {
	l := newShelf()
	d := l.add("t:undo.md", "Undo a commit")
	in := withReasons(ranking(hit(d.Chunks[1].ID, 2), hit(d.ID, 1)))
	all := rank.Names{Document: 0.5, Heading: 0.5, Title: 0.5, Alias: 0.5, Equal: 0.5}
	out := apply(t, all, in, rank.Env{Facts: l, Query: "undo a"})
	check.That(t, reflect.DeepEqual(out, in), "nothing equals the query: %s", written(out))
	out = apply(t, all, in, rank.Env{Facts: l, Query: "undo"})
	equal(t, "the file name equals", lines(out), "t:undo.md#Undo a commit 2\nt:undo.md 1.5")
}

// TestNamesAreBounded checks that name() is in 0..1, so that a hit gets a bounded sum. The explanation adds up to the
// score. A second run gives the same.
func TestNamesAreBounded(t *testing.T) {
	words := []string{"undo", "a", "commit", "Git", "index", "readme", "go", "の", "é", "x_y", "ref.current", "", " ", "\t"}
	text := func(rng *rand.Rand) string {
		var all []string
		for range rng.IntN(6) {
			all = append(all, words[rng.IntN(len(words))])
		}
		return strings.Join(all, " ")
	}
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 21))
		l, all := randomShelf(rng)
		for _, d := range l.docs {
			for i := range d.Chunks {
				d.Chunks[i].Title = text(rng)
			}
			for range rng.IntN(3) {
				d.Aliases = append(d.Aliases, text(rng))
			}
			d.Path = []string{d.Path, "index.md", "undo/_index.md", text(rng)}[rng.IntN(4)]
		}
		idf := map[string]float64{}
		for _, w := range words {
			idf[strings.ToLower(w)] = []float64{0, 1e-300, rng.Float64(), 12, 1e300}[rng.IntN(5)]
		}
		query := text(rng)
		s := rank.Names{Document: rng.Float64(), Heading: rng.Float64(), Title: rng.Float64(), Alias: rng.Float64(),
			Equal: rng.Float64()}
		most := s.Document + s.Heading + max(s.Title, s.Alias, s.Equal)
		env := rank.Env{Facts: l, Query: query, Named: wordsOf(query, idf)}
		in := withReasons(randomRanking(rng, append(all, "t:none", "t:none#1"), 1))
		before := scoresOf(in)
		out := apply(t, s, in, env)
		what := fmt.Sprintf("seed %d, %q, %+v", seed, query, s)
		checkReasons(t, what, out)
		for id, score := range scoresOf(out) {
			if got := score - before[id]; !(got >= -1e-9 && got <= most+1e-9) { // also for NaN
				t.Fatalf("%s: %s gets %v, want 0..%v", what, id, got, most)
			}
			must.That(t, !strings.HasPrefix(id, "t:none") || score == before[id], "%s: a hit that facts do not know gets %v",
				what, score-before[id])
		}
		again := apply(t, s, in, env)
		must.That(t, reflect.DeepEqual(again, out), "%s: %s, and then %s", what, written(out), written(again))
	}
}
