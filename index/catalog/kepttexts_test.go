package catalog

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"sheaf"
)

// TestKeptSmallTexts: of many small texts is kept about what is allowed, with what finds
// them.
func TestKeptSmallTexts(t *testing.T) {
	k := keptTexts{limit: keptTextBytes}
	before, most := heapInUse(), 0
	for i := range 300_000 {
		k.put(sheaf.ID(fmt.Sprintf("t:%d.md", i)), sourceText{name: fmt.Sprintf("/n/%d.md", i), text: []byte("tea, milk")})
		if i%20_000 == 19_999 {
			most = max(most, heapInUse()-before)
		}
	}
	if allowed := 2*keptTextBytes + 4<<20; most > allowed {
		t.Errorf("%d bytes are kept, want at most %d", most, allowed)
	}
	runtime.KeepAlive(&k)
}

// put keeps a text of a document.
func (k *keptTexts) put(doc sheaf.ID, t sourceText) {
	t.file.Size = int64(len(t.text))
	place := k.place(doc, t.name, t.file)
	copy(place.text, t.text)
	k.keep(place)
}

// TestTextsInTheirPlaces: of texts that are written at the same time each lies where no other
// does, is found once it is whole, and not at all when what was kept beside it has gone.
func TestTextsInTheirPlaces(t *testing.T) {
	k := keptTexts{limit: 2 * textPiece}
	name := func(i int) string { return fmt.Sprintf("/n/%d.md", i) }
	doc := func(i int) sheaf.ID { return sheaf.ID(fmt.Sprintf("t:%d.md", i)) }
	content := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i%26)}, i%2000) }
	begin := func(i int) textPlace {
		return k.place(doc(i), name(i), FileState{Size: int64(len(content(i))), ModTime: int64(i)})
	}
	first, again := begin(1), begin(1)
	if _, ok := k.get(doc(1)); ok || first.text == nil || again.text == nil {
		t.Fatalf("before it is written: %v, %v, %v", ok, first, again)
	}
	copy(first.text, content(1))
	k.keep(first)
	k.keep(again) // empty
	if got, ok := k.get(doc(1)); !ok || !bytes.Equal(got.text, content(1)) {
		t.Errorf("the first is %q, %v", got.text, ok)
	}
	late := begin(2)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := 3 + g; i < 3000; i += 4 {
				place := begin(i)
				copy(place.text, content(i))
				k.keep(place)
				if got, ok := k.get(doc(i)); ok && (got.name != name(i) || !bytes.Equal(got.text, content(i)) || got.file.ModTime != int64(i)) {
					t.Errorf("%s is %.20q, %.20q", doc(i), got.name, got.text)
				}
			}
		})
	}
	all.Wait()
	found := 0
	for i := range 3000 {
		if got, ok := k.get(doc(i)); ok {
			found++
			if got.name != name(i) || !bytes.Equal(got.text, content(i)) {
				t.Errorf("%s is %.20q, %.20q", doc(i), got.name, got.text)
			}
		}
	}
	copy(late.text, content(2))
	k.keep(late)
	if _, ok := k.get(doc(2)); ok || found == 0 || found > 2900 {
		t.Errorf("%d of 3000 are kept; one that came too late: %v", found, ok)
	}
}

// heapInUse is how many bytes are in use once garbage is collected.
func heapInUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
