package storetest

import (
	"bytes"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"sheaf"
	"sheaf/store"
)

// Hollow removes something from a JSON answer.
type Hollow struct {
	// About is the step of the golden file: write, count, delete, or a search.
	About string
	// Path is the end of the address of the requests whose answers are changed.
	Path string
	// From matches the part of the answer that To replaces.
	From, To string
}

// HollowAnswers checks that an incomplete answer is a fault of the server. It is never an empty
// list, a zero, a success, or the fault of a document. open opens the store of the golden file at
// path, through a client.
func HollowAnswers(t *testing.T, path string, open func(client *http.Client) store.Backend, list []Hollow) {
	t.Helper()
	words := Words(sheaf.Match{Text: "tea"})
	for _, h := range list {
		from, changed := regexp.MustCompile(h.From), atomic.Bool{} // a store may send several requests at once
		x := NewExchanges(t, path, false)
		x.Alter = func(path string, answer []byte) []byte {
			if x.About != h.About || !strings.HasSuffix(path, h.Path) {
				return answer
			}
			after := from.ReplaceAll(answer, []byte(h.To))
			if !bytes.Equal(answer, after) {
				changed.Store(true)
			}
			return after
		}
		x.About = "open"
		b := open(x.Client())
		x.About = "write"
		err := b.Write(t.Context(), Library())
		if h.About != "write" && err != nil {
			t.Fatal(err)
		}
		x.About = h.About
		switch h.About {
		case "write":
		case "delete":
			err = b.Delete(t.Context(), []sheaf.ID{"notes:a.md"})
		case "count":
			_, err = b.(store.Counter).Count(t.Context(), words)
		default:
			for _, r := range Requests() {
				if r.Name == h.About {
					_, err = b.Retrieve(t.Context(), r.Request)
				}
			}
		}
		if !changed.Load() {
			t.Errorf("%s: no answer of %s holds %s", h.About, h.Path, h.From)
		}
		if !errors.Is(err, sheaf.ErrUnavailable) || errors.As(err, new(*store.PartialError)) {
			t.Errorf("%s of %s, %s for %s: %v, want sheaf.ErrUnavailable", h.About, h.Path, h.To, h.From, err)
		}
	}
}
