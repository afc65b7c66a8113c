package rank_test

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/rank"
)

// asked counts the answers that stages request. A document counts with its chunks at the first
// request, and a list of links counts its length. Like a search, asked caches documents.
type asked struct {
	*shelf
	questions int
	known     map[sheaf.ID]bool
	outlines  map[sheaf.ID]*sheaf.Outline
}

func (a *asked) Node(id sheaf.ID) *sheaf.Node {
	a.questions++
	return a.shelf.Node(id)
}

func (a *asked) Outline(id sheaf.ID) *sheaf.Outline {
	if _, ok := a.Document(id); ok && a.outlines[id] == nil {
		a.outlines[id] = a.shelf.Outline(id)
	}
	return a.outlines[id]
}

func (a *asked) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	a.questions++
	return a.shelf.Chunk(id)
}

func (a *asked) Document(id sheaf.ID) (sheaf.Document, bool) {
	d, ok := a.shelf.Document(id)
	a.questions++
	if !a.known[id] {
		a.known[id] = true
		a.questions += len(d.Chunks)
	}
	return d, ok
}

func (a *asked) FolderSize(string, string) int {
	a.questions++
	return 10
}

func (a *asked) Links(doc sheaf.ID) []sheaf.ID {
	a.questions += 1 + len(a.links[doc])
	return a.links[doc]
}

func (a *asked) Backlinks(doc sheaf.ID) []sheaf.ID {
	a.questions += 1 + len(a.links[doc])
	return a.links[doc] // in the wrapped shelf, links go both ways
}

// TestAggregationAndBoostsAreLinear checks that eight times as many hits need at most eight times as much work and
// memory. Hits are five chunks of each of many documents, in folders of 20, or all chunks of one document.
func TestAggregationAndBoostsAreLinear(t *testing.T) {
	measured := map[string]bool{"Aggregate": true, "Tree": true, "FolderBoost": true, "GraphBoost": true, "Recency": true,
		"PropertyBoost": true,
		"HeadingBoost":  true, "Names": true, "WordPairs": true, "FieldBoost": true}
	kinds := map[string]bool{}
	const few, factor = 500, 8
	for _, s := range every {
		kind := reflect.TypeOf(s).Name()
		if !measured[kind] {
			continue
		}
		kinds[kind] = true
		for _, perDocument := range []int{5, 0} {
			var questions, bytes [2]float64
			for i, n := range []int{few, few * factor} {
				l, in := hitsOf(n, perDocument)
				env := rank.Env{Facts: l, Now: now, Query: "S1", Named: lettersOf("S1"), Pairs: someHave}
				apply(t, s, in, env) // fill caches first
				l.questions = 0
				clear(l.known)
				bytes[i] = float64(allocated(func() { apply(t, s, in, env) }))
				questions[i] = float64(l.questions)
				for range 4 { // with the race detector a pool drops some memory
					bytes[i] = min(bytes[i], float64(allocated(func() { apply(t, s, in, env) })))
				}
			}
			what := fmt.Sprintf("%s, %d hits a document", kind, perDocument)
			r := questions[1] / max(questions[0], 1)
			check.That(t, r <= 1.1*factor, "%s: %d times the hits ask %.1f times as much", what, factor, r)
			// Maps and slices grow by doubling.
			r = bytes[1] / bytes[0]
			check.That(t, r <= 2*factor, "%s: %d times the hits take %.1f times the memory", what, factor, r)
		}
	}
	check.Equal(t, len(kinds), len(measured), "measured %v of %v", kinds, measured)
}

// hitsOf returns n hits, perDocument hits of each document; 0 means all of one document.
func hitsOf(n, perDocument int) (*asked, sheaf.Ranking) {
	l := &asked{shelf: newShelf(), known: map[sheaf.ID]bool{}, outlines: map[sheaf.ID]*sheaf.Outline{}}
	var in sheaf.Ranking
	if perDocument == 0 {
		perDocument = n
	}
	for d := 0; len(in) < n; d++ {
		var outline []string
		for i := range perDocument - 1 {
			outline = append(outline, fmt.Sprintf("%*sS%d", 2*(i%3), "", i))
		}
		id := sheaf.ID(fmt.Sprintf("t:folder%d/document-%04d.md", d/20, d))
		doc := l.add(id, outline...)
		for _, c := range doc.Chunks {
			in = append(in, hit(c.ID, float64(n-len(in))))
		}
		if d > 0 {
			previous := sheaf.ID(fmt.Sprintf("t:folder%d/document-%04d.md", (d-1)/20, d-1))
			l.link(id, previous)
			l.link(previous, id)
		}
	}
	return l, in[:n]
}

// allocated returns how many bytes f allocates, without reused memory.
func allocated(f func()) uint64 {
	runtime.GC()
	runtime.GC() // the second run empties pools
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
