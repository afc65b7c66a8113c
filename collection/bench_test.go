package collection_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/internal/must"
)

// benchFiles returns the files of the folder SHEAF_TEST_DIR, or 1,000 generated files, and queries.
func benchFiles(b *testing.B) (map[string]string, []string) {
	if os.Getenv("SHEAF_TEST_DIR") != "" {
		return collectiontest.Documentation(b), []string{"execution policy", "remote session", "configuration module",
			"install package"}
	}
	files := map[string]string{}
	random := rand.New(rand.NewPCG(1, 2))
	var words []string
	for i := range 2000 {
		words = append(words, fmt.Sprintf("word%d", i))
	}
	for i := range 1000 {
		var text strings.Builder
		fmt.Fprintf(&text, "# Note %s %s\n\n", words[random.IntN(2000)], words[random.IntN(2000)])
		for range 300 {
			text.WriteString(words[int(2000*random.Float64()*random.Float64())] + " ")
		}
		files[fmt.Sprintf("n%d.md", i)] = text.String() + "\n"
	}
	return files, []string{"word1 word7", "word100 word3", "word500 word501", "word20"}
}

// BenchmarkSearch times a search with page and snippets: by words, with meaning, for a restricted caller, and cached.
func BenchmarkSearch(b *testing.B) {
	files, queries := benchFiles(b)
	with := collectiontest.Open(b, files, nil)
	o := with.Options
	o.CacheBytes = -1
	without := must.Get(collection.New(o))
	defer without.Close()
	all := access.Unrestricted()
	part := access.Grant{
		Scopes: []access.Scope{access.ScopeSearch}, Tenant: access.All, Access: []string{access.All}, Baked: "path:1",
	}
	for _, c := range []struct {
		name string
		of   *collection.Collection
		who  access.Grant
		set  map[string]string
	}{
		{"words", without, all, map[string]string{"meaning": "0"}}, {"hybrid", without, all, nil},
		{"a part", without, part, nil}, {"remembered", with.Collection, all, nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				r := must.Get(c.of.For(c.who))
				must.Get(r.Search(context.Background(),
					collection.SearchRequest{Text: queries[i%len(queries)], Parameters: c.set}))
				r.Close()
				i++
			}
		})
	}
}
