package collection_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// TestConcurrentAnswers checks that concurrent answers never mix documents and never show hidden ones. The index
// changes, and some callers cancel.
func TestConcurrentAnswers(t *testing.T) {
	words := []string{"apple", "bread", "cheese", "dates", "eggs"}
	mark := regexp.MustCompile(`mark-?(\d+)`)
	marked := func(i, round int) (path, text string) { // title, tag and lines have the mark of the document
		m := fmt.Sprintf("mark%d", i)
		text = fmt.Sprintf("---\ntags: [%s]\nhidden: %v\n---\n# Note %s\n\n", m, i%2 == 1, m)
		for k, word := range words {
			text += strings.Repeat("The "+word+" of "+m+". ", k+1+round) + "\n\n## Part " + word + " " + m + "\n\nMore.\n\n"
		}
		return m + ".md", text
	}
	files := map[string]string{}
	for i := range 30 {
		path, text := marked(i, 0)
		files[path] = text
	}
	f := collectiontest.Open(t, files, nil)
	check := func(a *collection.Answer, hides bool) {
		for i := range a.Results {
			text, err := json.Marshal(a.Results[i])
			if err != nil {
				t.Error(err)
			}
			is := mark.FindStringSubmatch(string(a.Results[i].ID))[1]
			for _, m := range mark.FindAllStringSubmatch(string(text), -1) {
				if m[1] != is {
					t.Errorf("document %s has %s: %s", is, m[0], text)
				}
			}
			if hides && strings.Contains("13579", is[len(is)-1:]) {
				t.Errorf("%s is hidden", is)
			}
		}
	}
	var all sync.WaitGroup
	for k := range uint64(4) {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(3, k))
			for range 15 {
				g := access.Unrestricted()
				if rng.IntN(2) == 0 {
					g.Baked = "-prop.hidden:true"
				}
				r, err := f.For(g)
				if err != nil {
					t.Error(err)
					return
				}
				ctx, cancel := t.Context(), func() {}
				if rng.IntN(3) == 0 {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(4000))*time.Microsecond)
				}
				q := collection.SearchRequest{Text: words[rng.IntN(len(words))], Limit: 1 + rng.IntN(30), Window: 80,
					Explain: rng.IntN(4) == 0, Profile: []string{"", "rrf", "tree", "sonar"}[rng.IntN(4)]}
				a, err := r.Search(ctx, q)
				for err == nil {
					if check(a, g.Baked != ""); a.Next == "" {
						break
					}
					a, err = r.Page(ctx, a.Next, collection.SearchRequest{})
				}
				cancel()
				r.Close()
			}
		})
	}
	for round := range 3 {
		for i := round; i < 30; i += 7 {
			path, text := marked(i, round+1)
			f.Write(t, path, text)
		}
		f.Index(t)
	}
	all.Wait()
}
