package catalog

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/index/vfs"
)

// cardOf is the card that a record gives.
func cardOf(r *Record, c *sheaf.Chunk) Card {
	doc := &r.Document
	return Card{Doc: doc.ID, Path: doc.ID.Path(), Title: c.Title, Breadcrumb: c.Breadcrumb, Hierarchy: c.Hierarchy, Tags: slices.Concat(c.Tags, doc.Tags), Depth: c.Depth,
		Span: c.Span, Body: c.Body, Frontmatter: doc.Frontmatter, FrontmatterText: doc.FrontmatterText, Date: r.Date}
}

// TestCards: a card says what the record does, whatever else is kept, and cards take no more
// memory than is allowed, twice, and a piece each time.
func TestCards(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 3))
	word := func() string { return strings.Repeat(string(rune('a'+random.IntN(26))), random.IntN(9)+1) }
	words := func(most int) (list []string) {
		for range random.IntN(most) {
			list = append(list, word())
		}
		return list
	}
	c, err := Open(vfs.Disk{}, t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var put []Record
	for i := range 600 {
		path := fmt.Sprintf("%s#%s/%d.md", word(), word(), i) // a '#' of its own
		if i%3 > 0 {
			path = fmt.Sprintf("%d.md", i)
		}
		doc := sheaf.Document{ID: sheaf.DocumentID("t", path), Tree: "t", Path: path, Title: word(), Tags: words(3), FrontmatterText: random.IntN(2) == 0,
			Frontmatter: sheaf.Span{End: random.IntN(50)}}
		chunks := random.IntN(5)
		if random.IntN(30) == 0 {
			chunks = 3 * cardChunks / 2 // more than one piece has room for
		}
		for k := range chunks {
			c := sheaf.Chunk{ID: doc.ID, Doc: doc.ID, Title: doc.Title, Position: k, Span: sheaf.Span{Start: k, End: k + 9}, Body: sheaf.Span{Start: k, End: k + 5}, SiblingCount: 1, Hierarchy: []string{doc.Title}, Tags: words(3)}
			if k > 0 || i%7 == 0 {
				c.Title, c.Parent, c.Depth = word(), doc.ID, 1
				c.Slug = fmt.Sprintf("%s-%d", c.Title, k)
				c.ID += sheaf.ID("#" + c.Slug)
				c.Hierarchy = append(c.Hierarchy, word(), c.Title)
			}
			doc.Chunks = append(doc.Chunks, c)
		}
		r := Record{Document: doc}
		if i%2 == 0 {
			r.Date = sheaf.Dated{Time: time.UnixMilli(int64(i)).UTC(), Source: 1}
		}
		put = append(put, r)
	}
	if err := c.Update(t.Context(), Update{Put: put}); err != nil {
		t.Fatal(err)
	}
	v := c.View()
	defer v.Close()
	v.cards.limit = 3 * cardPieceBytes
	cards, large := 0, 0
	for range 8000 {
		r, err := v.Record(put[random.IntN(len(put))].Document.ID)
		if err != nil {
			t.Fatal(err)
		}
		if random.IntN(2) == 0 {
			v.records = recent[Record]{limit: recordBytes} // a card is made without it
		}
		doc := &r.Document
		for k := range doc.Chunks {
			var got Card
			var lists []string
			switch ok := v.Card(doc.Chunks[k].ID, &got, &lists); {
			case !ok && len(doc.Chunks) <= cardChunks:
				t.Fatalf("seed %d: %s has no card: %v", seed, doc.Chunks[k].ID, v.Err())
			case !ok:
				large++
			default:
				if want := cardOf(r, &doc.Chunks[k]); !reflect.DeepEqual(got, want) {
					t.Fatalf("seed %d: the card of %s is\n%+v, by its record it is\n%+v", seed, doc.Chunks[k].ID, got, want)
				}
				cards++
			}
			if k > 3 {
				break
			}
		}
		if date, _ := v.Date(doc.ID); date != r.Date {
			t.Fatalf("seed %d: the date of %s is %v, not %v", seed, doc.ID, date, r.Date)
		}
		if n := len(v.cards.now.pieces) + len(v.cards.before.pieces); n > 2*(3+1) {
			t.Fatalf("seed %d: %d pieces are kept", seed, n)
		}
	}
	if cards < 1000 || large < 100 {
		t.Errorf("seed %d: %d cards, %d chunks without: too few to tell", seed, cards, large)
	}
	for _, id := range []sheaf.ID{"", "#", "t:no.md", "t:no.md#a", put[1].Document.ID + "#none"} {
		var card Card
		if v.Card(id, &card, nil) {
			t.Errorf("%q has a card: %+v", id, card)
		}
	}
}

// TestCardOfAnother: the card of a chunk is not given for one of a document whose ID has the
// same hash.
func TestCardOfAnother(t *testing.T) {
	var kept cards
	kept.put(&Record{Document: sheaf.Document{ID: "t:a.md", Tags: []string{"secret"}, Chunks: []sheaf.Chunk{{ID: "t:a.md", Title: "secret"}}}})
	for key := range kept.now.at {
		for _, other := range []sheaf.ID{"t:b.md", "t:a.m", "t:a.mda", ""} {
			if p, d, _ := kept.now.find(key, other); p != nil || d != nil {
				t.Errorf("%q has the cards of another", other)
			}
		}
	}
}

// TestLinksAreKeptAlone: what documents link to is found without keeping their records.
func TestLinksAreKeptAlone(t *testing.T) {
	c, err := Open(vfs.Disk{}, t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var put []Record
	for i := range 3 {
		path := fmt.Sprintf("%d.md", i)
		doc := sheaf.Document{ID: sheaf.DocumentID("t", path), Tree: "t", Path: path, Title: path}
		doc.Chunks = []sheaf.Chunk{{ID: doc.ID, Doc: doc.ID, Title: path, Links: []sheaf.Link{{Kind: sheaf.LinkMarkdown, Target: fmt.Sprintf("%d.md", (i+1)%3)}}}}
		put = append(put, Record{Document: doc})
	}
	if err := c.Update(t.Context(), Update{Put: put}); err != nil {
		t.Fatal(err)
	}
	v := c.View()
	defer v.Close()
	for range 2 {
		for i := range put {
			to := put[(i+1)%3].Document.ID
			if numbers, ok := v.LinkNumbers(v.Node(put[i].Document.ID)); !ok || !slices.Equal(numbers, []uint32{v.Node(to).Number}) {
				t.Errorf("document %d links to %v", i, numbers)
			}
			if links := v.Links(put[i].Document.ID); !slices.Equal(links, []sheaf.ID{to}) {
				t.Errorf("document %d links to %v", i, links)
			}
		}
	}
	if n := len(v.records.now); n > 0 {
		t.Errorf("%d records are kept", n)
	}
}
