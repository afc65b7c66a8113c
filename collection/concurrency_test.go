package collection_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// mark matches the mark in every text of a document: its number and its collection's.
var mark = regexp.MustCompile(`mark-?(\d+)of(\d)`)

var manyWords = []string{"apple", "bread", "cheese", "dates", "eggs", "figs", "grapes"}

// markedNotes returns documents whose titles, tags and lines all have the mark of the document.
func markedNotes(of, round int) map[string]string {
	notes := map[string]string{}
	for i := range 30 {
		m := fmt.Sprintf("mark%dof%d", i, of)
		text := fmt.Sprintf("---\ndate: 2024-05-%02d\ntags: [%s]\nhidden: %v\n---\n# Note %s\n\n", i%28+1, m, i%2 == 1, m)
		for k, word := range manyWords {
			if (i+k)%3 == 0 {
				text += strings.Repeat("The "+word+" of "+m+". ", k+1+round) + "\n\n## Part " + word + " " + m +
					"\n\nMore of it, " + m + " " + word + ".\n\n"
			}
		}
		if i == 20 {
			for k := range 200 { // more than a record holds directly
				text += fmt.Sprintf("## Piece %d %s\n\nSome apple %s.\n\n", k, m, m)
			}
		}
		notes[m+".md"] = text
	}
	return notes
}

// TestConcurrentAnswersOfCollections checks that concurrent answers of several collections never mix documents and
// never show hidden ones. The index changes, and some callers cancel.
func TestConcurrentAnswersOfCollections(t *testing.T) {
	for name, remember := range map[string]int64{"remembered": 0, "forgotten": 1 << 16, "searched for": -1} {
		t.Run(name, func(t *testing.T) {
			var fs []*collectiontest.Fixture
			for of := range 2 {
				fs = append(fs, openOld(t, markedNotes(of, 0), func(o *collection.Options) { o.CacheBytes = remember }))
			}
			check := func(of int, hidden bool, text, why string) {
				var a struct {
					Results []json.RawMessage
				}
				if err := json.Unmarshal([]byte(text), &a); err != nil {
					t.Error(err)
					return
				}
				for _, r := range a.Results {
					var h struct{ ID string }
					_ = json.Unmarshal(r, &h)
					want := mark.FindStringSubmatch(h.ID)
					if want == nil {
						t.Errorf("%s: no mark in %s", why, r)
						return
					}
					if want[2] != fmt.Sprint(of) {
						t.Errorf("%s: %s of another collection", why, h.ID)
					}
					for _, m := range mark.FindAllStringSubmatch(string(r), -1) {
						if m[1] != want[1] || m[2] != want[2] {
							t.Errorf("%s: %s has %s:\n%s", why, h.ID, m[0], r)
							return
						}
					}
					if n := len(want[1]); hidden && (want[1][n-1]-'0')%2 == 1 {
						t.Errorf("%s: %s is hidden", why, h.ID)
					}
				}
			}
			done := make(chan struct{})
			var writer, all sync.WaitGroup
			writer.Go(func() {
				for round := 1; round < 4; round++ {
					select {
					case <-done:
						return
					default:
					}
					for of, f := range fs {
						for path, text := range markedNotes(of, round%3) {
							if round%7 == len(path)%7 {
								if err := os.WriteFile(filepath.Join(f.Root, path), []byte(text), 0o600); err != nil {
									t.Error(err)
								}
							}
						}
						f.Index(t)
					}
				}
			})
			for k := range 4 {
				all.Go(func() {
					rng := rand.New(rand.NewPCG(3, uint64(k)))
					for range 15 {
						of := rng.IntN(2)
						g := access.Unrestricted()
						hidden := rng.IntN(2) == 0
						if hidden {
							g.Baked = "-prop.hidden:true"
						}
						r, err := fs[of].For(g)
						if err != nil {
							t.Error(err)
							return
						}
						ctx, cancel := context.WithCancel(t.Context())
						if rng.IntN(3) == 0 {
							cancel()
							ctx, cancel = context.WithTimeout(t.Context(), time.Duration(rng.IntN(4000))*time.Microsecond)
						}
						word := manyWords[rng.IntN(len(manyWords))]
						q := collection.SearchRequest{Text: word, Limit: 1 + rng.IntN(30), Window: 20 + rng.IntN(60),
							Explain: rng.IntN(4) == 0}
						q.Limit = min(q.Limit, q.Window)
						if rng.IntN(4) == 0 {
							q.Text += " note"
						}
						if rng.IntN(5) == 0 {
							q.Profile = []string{"rrf", "tree", "sonar"}[rng.IntN(3)]
						}
						if q.Explain {
							q.Window = min(q.Window, 200)
						}
						why := fmt.Sprintf("%+v", q)
						switch rng.IntN(6) {
						case 0:
							out, err := r.Fused(ctx, q.Text, "rrf", 60, 1+rng.IntN(80))
							r.Close()
							if err == nil {
								b, _ := json.Marshal(struct{ Results any }{out.Results})
								check(of, hidden, string(b), "fused "+why)
							}
						case 1:
							e, err := r.Explain(ctx, q)
							r.Close()
							if err == nil {
								b, err := json.Marshal(e)
								if err != nil {
									t.Error(err)
								}
								check(of, hidden, string(b), "explained "+why)
							}
						default:
							a, err := r.Search(ctx, q)
							var more *collection.Answer
							if err == nil && a.Next != "" && rng.IntN(2) == 0 {
								more, _ = r.Page(ctx, a.Next, collection.SearchRequest{})
							}
							r.Close()
							for _, a := range []*collection.Answer{a, more} {
								if a == nil || err != nil {
									continue
								}
								text, err := json.Marshal(a)
								if err != nil {
									t.Error(err)
								}
								check(of, hidden, string(text), why)
							}
						}
						cancel()
					}
				})
			}
			all.Wait()
			close(done)
			writer.Wait()
		})
	}
}
