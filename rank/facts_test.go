package rank_test

import (
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/rank"
)

// shelf holds documents in memory. It implements rank.Facts.
type shelf struct {
	docs    map[sheaf.ID]*sheaf.Document
	chunks  map[sheaf.ID]*sheaf.Chunk
	dates   map[sheaf.ID]time.Time
	links   map[sheaf.ID][]sheaf.ID
	folders map[string]int // sizes of folders with documents that docs lacks
}

func newShelf() *shelf {
	return &shelf{docs: map[sheaf.ID]*sheaf.Document{}, chunks: map[sheaf.ID]*sheaf.Chunk{},
		dates: map[sheaf.ID]time.Time{}, links: map[sheaf.ID][]sheaf.ID{}, folders: map[string]int{}}
}

// add creates a document from an outline: one heading per line, indented by two spaces per level.
// The slug is the title.
func (l *shelf) add(id sheaf.ID, outline ...string) *sheaf.Document {
	_, p, _ := strings.Cut(string(id), ":")
	d := &sheaf.Document{ID: id, Tree: id.Tree(), Path: p, Title: path.Base(p)}
	d.Chunks = []sheaf.Chunk{{ID: id, Doc: id, Title: d.Title, SiblingCount: 1,
		Span: sheaf.Span{End: 100 * (len(outline) + 1)}}}
	above := []int{0}
	children := map[sheaf.ID]int{}
	for i, line := range outline {
		title := strings.TrimLeft(line, " ")
		depth := (len(line)-len(title))/2 + 1
		for len(above) > 1 && d.Chunks[above[len(above)-1]].Depth >= depth {
			above = above[:len(above)-1]
		}
		parent := d.Chunks[above[len(above)-1]].ID
		children[parent]++
		d.Chunks = append(d.Chunks, sheaf.Chunk{ID: sheaf.ChunkID(id, title), Doc: id, Parent: parent, Depth: depth,
			Position: i + 1, Title: title, Slug: title, Span: sheaf.Span{Start: 100 * (i + 1), End: 100 * (i + 2)}})
		above = append(above, i+1)
	}
	for i := range d.Chunks {
		c := &d.Chunks[i]
		if c.Parent != "" {
			c.SiblingCount = children[c.Parent]
		}
		l.chunks[c.ID] = c
	}
	l.docs[id] = d
	return d
}

func (l *shelf) link(from, to sheaf.ID) { l.links[from] = append(l.links[from], to) }

func (l *shelf) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	if c := l.chunks[id]; c != nil {
		return *c, true
	}
	return sheaf.Chunk{}, false
}

func (l *shelf) Document(id sheaf.ID) (sheaf.Document, bool) {
	if d := l.docs[id]; d != nil {
		return *d, true
	}
	return sheaf.Document{}, false
}

// Node returns a node that does not point into an outline.
func (l *shelf) Node(id sheaf.ID) *sheaf.Node {
	if c := l.chunks[id]; c != nil {
		return sheaf.NodeOf(c)
	}
	return nil
}

func (l *shelf) Outline(doc sheaf.ID) *sheaf.Outline {
	d := l.docs[doc]
	if d == nil {
		return nil
	}
	var date sheaf.Dated
	if t, dated := l.dates[doc]; dated {
		date = sheaf.Dated{Time: t, Source: sheaf.DateFrontmatter}
	}
	return sheaf.OutlineOf(d, date)
}

func (l *shelf) FolderSize(tree, folder string) int {
	n := l.folders[folder]
	for _, d := range l.docs {
		dir := path.Dir(d.Path)
		if d.Tree == tree && (dir == folder || dir == "." && folder == "") {
			n++
		}
	}
	return n
}

func (l *shelf) Links(doc sheaf.ID) []sheaf.ID {
	out := slices.Clone(l.links[doc])
	slices.Sort(out)
	return slices.Compact(out)
}

func (l *shelf) Backlinks(doc sheaf.ID) []sheaf.ID {
	var out []sheaf.ID
	for from, to := range l.links {
		if from != doc && slices.Contains(to, doc) {
			out = append(out, from)
		}
	}
	slices.Sort(out)
	return out
}

// hit and ranking write rankings in tests.
func hit(id sheaf.ID, score float64) sheaf.Hit { return sheaf.Hit{ID: id, Score: score} }

func ranking(hits ...sheaf.Hit) sheaf.Ranking { return sheaf.Ranking(hits) }

func ids(r sheaf.Ranking) []sheaf.ID {
	out := []sheaf.ID{}
	for _, h := range r {
		out = append(out, h.ID)
	}
	return out
}

// withReasons gives every hit an explanation.
func withReasons(r sheaf.Ranking) sheaf.Ranking {
	out := slices.Clone(r)
	for i := range out {
		out[i].Explanation = &sheaf.Explanation{Label: "retrieved", Value: out[i].Score}
	}
	return out
}

// near compares floats to 1e-9, relative or absolute.
func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b))
}

// checkReasons fails if an explanation is missing, or if its parts do not combine to its value.
func checkReasons(t testing.TB, what string, r sheaf.Ranking) {
	t.Helper()
	for _, h := range r {
		must.That(t, h.Explanation != nil, "%s: hit %s has lost its explanation", what, h.ID)
		must.That(t, near(h.Explanation.Value, h.Score),
			"%s: hit %s scores %v, its explanation says %v", what, h.ID, h.Score, h.Explanation.Value)
		checkTree(t, what, *h.Explanation)
	}
}

func checkTree(t testing.TB, what string, e sheaf.Explanation) {
	t.Helper()
	if v := e.Recombine(); !near(v, e.Value) {
		t.Fatalf("%s: %q claims %v and recombines (%s) to %v: %+v", what, e.Label, e.Value, e.Combine, v, e)
	}
	for _, p := range e.Parts {
		checkTree(t, what, p)
	}
}

// apply runs a stage. It checks that explanations do not change hits and scores.
func apply(t testing.TB, s rank.Stage, in sheaf.Ranking, env rank.Env) sheaf.Ranking {
	t.Helper()
	out, err := s.Apply(in, env)
	must.That(t, err == nil, "%T: %v", s, err)
	plain := slices.Clone(in)
	for i := range plain {
		plain[i].Explanation = nil
	}
	plain, err = s.Apply(plain, env)
	must.That(t, err == nil, "%T without explanations: %v", s, err)
	same := func(a, b sheaf.Hit) bool { return a.ID == b.ID && a.Score == b.Score }
	must.That(t, slices.EqualFunc(plain, out, same), "%T: %v without explanations, %v with them", s, plain, out)
	return out
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	must.Equal(t, cmp.Diff(want, got), "", "%s: (-want +got)", what)
}

// randomShelf returns documents with random outlines, folders, tags and links.
func randomShelf(rng *rand.Rand) (*shelf, []sheaf.ID) {
	l := newShelf()
	var all []sheaf.ID
	names := []string{"a", "b", "x/c", "x/d", "x/y/e", "f"}
	for _, name := range names {
		var outline []string
		depth := 0
		for i := range rng.IntN(8) {
			depth = min(rng.IntN(depth+2), 5)
			outline = append(outline, strings.Repeat("  ", depth)+string(rune('A'+i)))
		}
		d := l.add(sheaf.DocumentID("t", name+".md"), outline...)
		d.Tags = []string{string(rune('p' + rng.IntN(3)))}
		if rng.IntN(2) == 0 {
			d.Properties = []sheaf.Property{{Name: "boost", Values: []sheaf.Value{sheaf.NumberValue(float64(rng.IntN(9) - 4))}}}
			l.dates[d.ID] = now.AddDate(0, 0, -rng.IntN(1000))
		}
		for _, c := range d.Chunks {
			all = append(all, c.ID)
		}
	}
	for range 5 {
		l.link(sheaf.DocumentID("t", names[rng.IntN(len(names))]+".md"),
			sheaf.DocumentID("t", names[rng.IntN(len(names))]+".md"))
	}
	return l, all
}

// randomRanking returns a random part of all, in order.
func randomRanking(rng *rand.Rand, all []sheaf.ID, scale float64) sheaf.Ranking {
	var r sheaf.Ranking
	for _, id := range all {
		if rng.IntN(3) > 0 {
			r = append(r, hit(id, float64(rng.IntN(40))/4*scale))
		}
	}
	r.Sort()
	return r
}

var now = time.Unix(1767225600, 0)
