package collection_test

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
)

// releaseNotes are documents of which each word of manyWords finds some.
func releaseNotes() map[string]string {
	notes := map[string]string{}
	for i := range 40 {
		text := fmt.Sprintf("---\ndate: 2024-05-%02d\ntags: [t%d]\n---\n# Note %d\n\n", i%28+1, i%3, i)
		for k, word := range manyWords {
			if (i+k)%3 == 0 {
				text += strings.Repeat("The "+word+" of this note. ", k+1) + "\n\n## Part " + word + "\n\nMore of it.\n\n"
			}
		}
		notes[fmt.Sprintf("n%d.md", i)] = text
	}
	return notes
}

var manyWords = []string{"apple", "bread", "cheese", "dates", "eggs", "figs", "grapes"}

// cursors differ from answer to answer.
var cursors = regexp.MustCompile(`"next":"[^"]*"`)

// TestReleasedAnswers: an answer that lies in the memory of others is what one is that has
// memory of its own, whoever asks meanwhile, whether it is remembered or not, on each page.
func TestReleasedAnswers(t *testing.T) {
	for name, remember := range map[string]int64{"remembered": 0, "searched for": -1} {
		t.Run(name, func(t *testing.T) {
			f := openOld(t, releaseNotes(), func(o *collection.Options) { o.CacheBytes = remember })
			requests := []collection.SearchRequest{{Text: "nothing-of-this"}}
			for i, word := range manyWords {
				requests = append(requests, collection.SearchRequest{Text: word, Limit: 1 + 3*i}, collection.SearchRequest{Text: word + " note", Explain: true, Facets: []string{"tag"}},
					collection.SearchRequest{Text: word, Sort: "-path", Limit: 2}, collection.SearchRequest{Text: word, Limit: 3, Plain: true})
			}
			r := reader(t, f, access.Unrestricted())
			ask := func(q collection.SearchRequest, release bool) (string, error) {
				a, err := r.Search(t.Context(), q)
				if err != nil {
					return "", err
				}
				text, err := a.AppendJSON(nil)
				if next := a.Next; err == nil && next != "" {
					if release {
						a.Release()
					}
					if a, err = r.Page(t.Context(), next, collection.SearchRequest{}); err != nil {
						return "", err
					}
					text, err = a.AppendJSON(text)
				}
				if release {
					a.Release()
				}
				return cursors.ReplaceAllString(string(text), ""), err
			}
			want := make([]string, len(requests))
			for i, q := range requests {
				var err error
				if want[i], err = ask(q, false); err != nil {
					t.Fatal(err)
				}
			}
			var all sync.WaitGroup
			for k := range 4 {
				all.Go(func() {
					for n := range 4 * len(requests) {
						i := (n*(2*k+1) + k) % len(requests)
						if got, err := ask(requests[i], true); err != nil || got != want[i] {
							t.Errorf("%+v: %v\n%s: want\n%s", requests[i], err, got, want[i])
							return
						}
					}
				})
			}
			all.Wait()
		})
	}
}

// TestReleasedRoom: in the memory of an answer that was released nothing is left of it that
// others might see, or that would be kept for them.
func TestReleasedRoom(t *testing.T) {
	f := openOld(t, releaseNotes(), nil)
	r := reader(t, f, access.Unrestricted())
	for _, q := range []collection.SearchRequest{{Text: "apple", Limit: 20, Explain: true}, {Text: "bread", Limit: 2}} {
		for range 2 { // the second is remembered
			a := find(t, r, q)
			room := reflect.ValueOf(collection.RoomOf(a)).Elem()
			a.Release()
			pointing(t, "room", room)
		}
	}
}

// pointing tells of all that holds a pointer to something, lists aside.
func pointing(t *testing.T, name string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		list := v.Slice(0, v.Cap())
		for i := range list.Len() {
			pointing(t, fmt.Sprintf("%s[%d]", name, i), list.Index(i))
		}
	case reflect.Struct:
		if v.Type().String() == "time.Time" {
			return
		}
		for i := range v.NumField() {
			pointing(t, name+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.String, reflect.Pointer, reflect.Map, reflect.Interface, reflect.Func:
		if !v.IsZero() {
			t.Errorf("%s is %v", name, v)
		}
	}
}
