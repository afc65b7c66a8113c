package collection_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// TestCachedSimilarHasNoSourceText checks that cached answers of Similar do not keep the text of the source
// document.
func TestCachedSimilarHasNoSourceText(t *testing.T) {
	const size = 1 << 20
	docs := map[string]string{"big.md": "# Big\n\n" + strings.Repeat("zebra giraffe lion pasture ", size/27)}
	for i := range 10 {
		docs[fmt.Sprintf("s%d.md", i)] = fmt.Sprintf("# S%d\n\nzebra giraffe lion number %d of the pasture\n", i, i)
	}
	f := collectiontest.Open(t, docs, nil)
	f.Index(t)
	r, err := f.Collection.For(access.Unrestricted())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ask := func(times int) (live uint64) {
		for range times {
			a, err := r.Similar(t.Context(), sheaf.DocumentID(collectiontest.Tree, "big.md"), collection.SearchRequest{Limit: 1})
			if err != nil || a.Next == "" {
				t.Fatalf("%+v, %v", a, err)
			}
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	few := ask(3)
	if many := ask(20); many > few+8*size {
		t.Errorf("20 rankings more hold %d bytes", many-few)
	}
}

// TestManyTags checks that a note with thousands of tags is answered like any other.
func TestManyTags(t *testing.T) {
	var text strings.Builder
	text.WriteString("# Tags\n\nzebra\n\n")
	const n = 5000
	for i := range n {
		fmt.Fprintf(&text, "#t%d ", i)
	}
	f := collectiontest.Open(t, map[string]string{"a.md": text.String()}, nil)
	f.Index(t)
	r, err := f.Collection.For(access.Unrestricted())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 2 { // once from the index and once from the cache
		a, err := r.Search(t.Context(), collection.SearchRequest{Text: "zebra"})
		if err != nil || len(a.Results) != 1 || len(a.Results[0].Tags) != n ||
			a.Results[0].Tags[n-1] != fmt.Sprint("t", n-1) {
			t.Fatalf("%+v, %v", a, err)
		}
	}
}
