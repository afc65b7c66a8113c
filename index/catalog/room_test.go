package catalog

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"sheaf"
	"sheaf/index/vfs"
)

// TestRoom: what is decoded into memory that many share is what is decoded alone, also
// after others were decoded there.
func TestRoom(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	word := func() string { return strings.Repeat(string(rune('a'+random.IntN(26))), random.IntN(9)+1) }
	type decoded struct {
		record, alone   *Record
		outline, single *sheaf.Outline
	}
	var shared pieces
	var all []decoded
	for i := range 500 {
		doc := sheaf.Document{Title: word(), Tags: []string{word()}}
		doc.ID = sheaf.DocumentID("t", fmt.Sprintf("%s/%d.md", word(), i))
		chunks := random.IntN(4)
		if random.IntN(20) == 0 {
			chunks = 100 * random.IntN(4) // more than a piece has room for
		}
		for k := range chunks {
			c := sheaf.Chunk{ID: doc.ID, Doc: doc.ID, Title: doc.Title, Position: k, Span: sheaf.Span{End: 9}, Body: sheaf.Span{End: 5}, SiblingCount: 1, Hierarchy: []string{doc.Title}}
			if k > 0 {
				c.Title, c.Parent, c.Depth = word(), doc.Chunks[random.IntN(k)].ID, 1
				c.Slug = fmt.Sprintf("%s-%d", c.Title, k)
				c.ID += sheaf.ID("#" + c.Slug)
				c.Hierarchy = append(c.Hierarchy, word(), c.Title)
			}
			doc.Chunks = append(doc.Chunks, c)
		}
		encoded := encodeRecord(&Record{Document: doc})
		var d decoded
		for _, into := range []struct {
			in      *pieces
			record  **Record
			outline **sheaf.Outline
		}{{&shared, &d.record, &d.outline}, {&pieces{}, &d.alone, &d.single}} {
			r := one(&into.in.records, roomDocuments)
			r.Document.ID = doc.ID
			if !decodeRecord(encoded, r, into.in) {
				t.Fatalf("seed %d: record %d cannot be read", seed, i)
			}
			*into.record, *into.outline = r, decodeOutline(encoded, doc.ID, into.in)
		}
		all = append(all, d)
	}
	for i, d := range all {
		if !reflect.DeepEqual(d.record, d.alone) {
			t.Fatalf("seed %d: record %d is\n%+v, alone it is\n%+v", seed, i, d.record, d.alone)
		}
		if !reflect.DeepEqual(d.outline, d.single) {
			t.Fatalf("seed %d: outline %d is\n%+v, alone it is\n%+v", seed, i, d.outline, d.single)
		}
	}
}

// TestKeptTexts: a text that is kept is the one that was put, and texts take no more
// memory than is allowed, twice, and a piece each time.
func TestKeptTexts(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 2))
	kept := keptTexts{limit: 4 * textPiece}
	texts := map[sheaf.ID]sourceText{}
	found := 0
	for range 3000 {
		doc := sheaf.ID(fmt.Sprintf("t:%d.md", random.IntN(400)))
		want, known := texts[doc]
		if !known {
			text := bytes.Repeat([]byte{byte(random.IntN(256))}, random.IntN(longestText))
			want = sourceText{"/notes/" + doc.Path(), FileState{Size: int64(len(text)), ModTime: random.Int64()}, text}
			texts[doc] = want
		}
		if got, ok := kept.get(doc); ok {
			found++
			if got.name != want.name || got.file != want.file || !bytes.Equal(got.text, want.text) || cap(got.text) != len(got.text) {
				t.Fatalf("seed %d: of %s another text is kept", seed, doc)
			}
		} else {
			kept.put(doc, want)
			if _, ok := kept.get(doc); !ok {
				t.Fatalf("seed %d: what was put last of %s is not kept", seed, doc)
			}
		}
		if size := len(kept.now.pieces) + len(kept.before.pieces); size > 2*(4+1) {
			t.Fatalf("seed %d: %d pieces are kept", seed, size)
		}
	}
	if found < 100 {
		t.Errorf("seed %d: %d texts were found: too few to tell", seed, found)
	}
}

// TestTextOfAnother: a text is not given for another document whose ID has the same hash.
func TestTextOfAnother(t *testing.T) {
	var kept keptTexts
	kept.put("t:a.md", sourceText{name: "a.md", text: []byte("secret")})
	for key := range kept.now.at {
		for _, other := range []sheaf.ID{"t:b.md", "t:a.m", "t:a.mda", ""} {
			if _, ok := kept.now.get(key, other); ok {
				t.Errorf("%q has the text of another", other)
			}
		}
	}
}

// TestOutlinesLieApart: outlines stay longer than records. Side by side, each outline
// would keep the records beside it.
func TestOutlinesLieApart(t *testing.T) {
	c, err := Open(vfs.Disk{}, t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := Record{Document: sheaf.Document{ID: "t:a.md", Tree: "t", Path: "a.md", Title: strings.Repeat("long ", 100)}}
	if err := c.Update(t.Context(), Update{Put: []Record{r}}); err != nil {
		t.Fatal(err)
	}
	v := c.View()
	defer v.Close()
	if v.Outline(r.Document.ID) == nil {
		t.Fatal("no outline", v.Err())
	}
	before := cap(v.decoded.text)
	if _, err := v.Record(r.Document.ID); err != nil {
		t.Fatal(err)
	}
	if after := cap(v.decoded.text); before == 0 || after != before {
		t.Errorf("the piece of the outline had %d bytes left, and has %d after a record", before, after)
	}
}

// TestOutlinesGo: of outlines that are decoded again and again is kept about what is
// allowed. Each lies in one piece with its neighbors, and points at others, so that one
// that is in use must not keep all that were ever decoded.
func TestOutlinesGo(t *testing.T) {
	c, err := Open(vfs.Disk{}, t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var put []Record
	for i := range 3000 {
		path := fmt.Sprintf("%d.md", i)
		doc := sheaf.Document{ID: sheaf.DocumentID("t", path), Tree: "t", Path: path, Title: path}
		for k := range 1 + min(i/3, 1) {
			doc.Chunks = append(doc.Chunks, sheaf.Chunk{ID: doc.ID + sheaf.ID(fmt.Sprintf("#%d", k)), Doc: doc.ID, Parent: doc.ID, Depth: 1, Position: k, Title: path, Slug: fmt.Sprint(k)})
		}
		put = append(put, Record{Document: doc})
	}
	if err := c.Update(t.Context(), Update{Put: put}); err != nil {
		t.Fatal(err)
	}
	v := c.View()
	defer v.Close()
	v.outlines.limit = 256 << 10
	once := func(from int) (size int) {
		for i := from; i < len(put); i++ {
			doc := &put[i].Document
			o := v.Outline(doc.ID)
			if o == nil || v.Node(doc.Chunks[0].ID) == nil || v.NodeAt(doc.Chunks[0].ID, 1, uint32(i)) == nil {
				t.Fatalf("%s is missing: %v", doc.ID, v.Err())
			}
			size += outlineSize(o)
		}
		return size
	}
	size := once(0)
	if size < 2*v.outlines.limit {
		t.Fatalf("all outlines take %d bytes: too few to tell", size)
	}
	before := heapInUse()
	for range 20 {
		once(3) // pieces for 16 documents' parts never begin where those for 16 outlines do
	}
	if grown := heapInUse() - before; grown > size {
		t.Errorf("decoding %d bytes of outlines 20 times keeps %d bytes", size, grown)
	}
	runtime.KeepAlive(put)
}
