package catalog

import (
	"fmt"
	"runtime"
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

// heapInUse is how many bytes are in use once garbage is collected.
func heapInUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
