package collection

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"sheaf"
	"sheaf/search"
)

// TestPack: hits are what they were after they were packed, whatever is in them.
func TestPack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		return []string{"", "a", "note.md", "A note › of", "› of", "öä\x00ü", fmt.Sprint(random.Uint64())}[random.IntN(7)]
	}
	texts := func() []string {
		switch n := random.IntN(5); n {
		case 0:
			return nil
		default:
			list := make([]string, n-1)
			for i := range list {
				list[i] = text()
			}
			return list
		}
	}
	number := func() int {
		return []int{0, 1, -1, 63, 64, 300, math.MaxInt32, math.MinInt, math.MaxInt}[random.IntN(9)]
	}
	score := func() float64 {
		return []float64{0, math.Copysign(0, -1), 1, -0.1, math.Inf(1), math.MaxFloat64, random.Float64()}[random.IntN(7)]
	}
	span := func() sheaf.Span {
		const bits = strconv.IntSize * 5 / 8
		start := random.IntN(1 << bits)
		return sheaf.Span{Start: start, End: start + random.IntN(1<<random.IntN(bits))}
	}
	for range 300 {
		hits := make([]search.Hit, random.IntN(6))
		for i := range hits {
			h := &hits[i]
			*h = search.Hit{Rank: number(), ID: sheaf.ID(text()), Doc: sheaf.ID(text()), Title: text(), Hierarchy: texts(), Breadcrumb: text(), Path: text(), Span: span(),
				Body: span(), Depth: number(), Tags: texts(), Score: score(), Level: search.Level(text()), Passage: random.IntN(1 << 20), ByMeaning: random.IntN(2) == 0}
			switch random.IntN(4) {
			case 0:
				h.ID = slugID(h.Doc, h.Title)
			case 1:
				h.ID = slugID(h.Doc, h.Title) + sheaf.ID(text())
			}
			if random.IntN(2) == 0 {
				h.Level = levels[random.IntN(len(levels))]
				c := score()
				h.Confidence = &c
			}
			if n := random.IntN(4); n > 0 {
				h.Legs = make([]sheaf.Leg, n-1)
			}
			for j := range h.Legs {
				h.Legs[j] = sheaf.Leg{Rank: number(), Score: score()}
			}
			if n := random.IntN(4); n > 0 {
				h.Constituents = make([]search.Constituent, n-1)
			}
			for j := range h.Constituents {
				h.Constituents[j] = search.Constituent{ID: sheaf.ID(text()), Title: text(), Span: span(), Score: score()}
			}
			if random.IntN(3) == 0 {
				h.Explanation = &sheaf.Explanation{Label: text()}
			}
		}
		p := pack(hits)
		if p.n != len(hits) {
			t.Fatalf("%d hits of %d", p.n, len(hits))
		}
		var room search.Hit // of the one before
		for i := range hits {
			got := new(search.Hit)
			if random.IntN(2) == 0 {
				got = &room
			}
			p.into(got, i)
			if !reflect.DeepEqual(*got, hits[i]) || math.Signbit(got.Score) != math.Signbit(hits[i].Score) {
				t.Fatalf("hit %d was\n%+v\nand is\n%+v", i, hits[i], *got)
			}
		}
	}
}

// TestPackSharesTexts: what several texts of a hit say stands in its memory once, and
// nothing of the hit's own memory is kept.
func TestPackSharesTexts(t *testing.T) {
	own := []byte("> A note › Its part")
	for _, c := range []struct{ id, doc, title, want string }{
		{"t:a/note.md#its-part", "t:a/note.md", "Its part", "t:a/note.md> A note › Its part"},
		{"t:a/note.md#its-part-1", "t:a/note.md", "Its part", "t:a/note.md#its-part-1> A note › Its part"},
		{"t:a/note.md", "t:a/note.md", "A note", "t:a/note.md> A note › Its part"},
	} {
		h := search.Hit{Breadcrumb: string(own), ID: sheaf.ID(c.id), Doc: sheaf.ID(c.doc), Path: "a/note.md", Title: c.title, Hierarchy: []string{"A note", "Its part"}, Level: search.High}
		if p := pack([]search.Hit{h}); p.data[p.text:] != c.want {
			t.Errorf("the texts of %s take %q", c.id, p.data[p.text:])
		}
	}
}

// TestSnippetsOnce: a snippet is kept once, beside those of other pages, and what it takes
// is told once.
func TestSnippetsOnce(t *testing.T) {
	var s snippets
	first, second := shownSnippet{1, "the first", 3, []Span{{4, 9}}, ""}, shownSnippet{0, "the second", 12, []Span{}, "notes:a.md#^b"}
	if _, ok := s.of(1); ok {
		t.Error("one that nobody added")
	}
	if n := s.add(3, []shownSnippet{first}); n < int64(len(first.text)) {
		t.Errorf("%d bytes", n)
	}
	if n := s.add(3, []shownSnippet{first}); n != 0 {
		t.Errorf("%d bytes for what is kept", n)
	}
	s.add(3, []shownSnippet{second, first})
	for _, want := range []shownSnippet{first, second} {
		if got, ok := s.of(want.i); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v is %+v", want, got)
		}
	}
	if _, ok := s.of(2); ok {
		t.Error("one that nobody added")
	}
}
