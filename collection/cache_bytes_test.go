package collection_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
)

// TestCacheReportsItsSize compares the reported size of the cache with the real memory. They
// differ by at most 30 %, whether all or few results were shown.
func TestCacheReportsItsSize(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	words := make([]string, 40)
	for i := range words {
		words[i] = fmt.Sprintf("%c%c%c%d", 'a'+i%26, 'a'+i*7%26, 'a'+i*11%26, i)
	}
	files := map[string]string{}
	for i := range 120 {
		var text strings.Builder
		fmt.Fprintf(&text, "---\ntags: [all/%d]\n---\n# The %s of %s\n\n", i%7, words[i%40], words[i*3%40])
		for section := range 3 {
			if section > 0 {
				fmt.Fprintf(&text, "\n## %s and %s\n\n", words[random.IntN(40)], words[random.IntN(40)])
			}
			for range 80 {
				text.WriteString(words[random.IntN(40)] + " ")
			}
		}
		files[fmt.Sprintf("folder/of/some/depth/%03d.md", i)] = text.String()
	}
	held := func() int64 {
		for range 6 { // pools and finalizers free memory only after several cycles
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for what, q := range map[string]collection.SearchRequest{
		"all shown": {Limit: 20, Window: 20}, "few shown": {Limit: 4, Window: 20},
		"explained": {Limit: 20, Window: 20, Explain: true},
	} {
		t.Run(what, func(t *testing.T) {
			w := newTwin(t, files)
			open := func(c *collection.Collection) *collection.Reader {
				r, err := c.For(access.Unrestricted())
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			ask := func(r *collection.Reader) {
				defer r.Close() // closing frees the reader's lookups

				for i := range 6 {
					for j := range i {
						q.Text = words[i] + " " + words[10+j]
						find(t, r, q)
					}
				}
			}
			ask(open(w.plain)) // fills the caches of catalog and store
			before := held()
			ask(open(w.Collection))
			grown, told := held()-before, w.Cache()
			t.Logf("%d answers hold %d kB each, told are %d kB", told.Entries, grown/int64(told.Entries)>>10,
				told.Bytes/int64(told.Entries)>>10)
			if ratio := float64(told.Bytes) / float64(grown); told.Entries != 15 || ratio < 0.7 || ratio > 1.3 {
				t.Errorf("%d answers are told to hold %.2f of the %d bytes that they do", told.Entries, ratio, grown)
			}
			runtime.KeepAlive(w)
		})
	}
}
