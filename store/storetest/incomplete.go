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
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

// Hollow says what to remove from a JSON answer of the server, to make it incomplete.
type Hollow struct {
	// About is the step of the golden file whose answer changes: write, count, delete, or the name of a search.
	About string
	// Path selects the requests whose answers change: their addresses end with Path.
	Path string
	// From is a regular expression. To replaces each match in the answer.
	From, To string
}

// HollowAnswers checks that the store reports an incomplete answer as a fault of the server. The store must not take
// the answer for an empty list, a zero, a success, or a document's fault. path is the golden file. open opens the store
// with a client.
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
		must.That(t, h.About == "write" || err == nil, "%v", err)
		x.About = h.About
		switch h.About {
		case "write":
		case "delete":
			err = b.Write(t.Context(), store.Batch{Replace: []sheaf.ID{"notes:a.md"}})
		case "count":
			_, err = b.(store.Counter).Count(t.Context(), words)
		default:
			for _, r := range Requests() {
				if r.Name == h.About {
					_, err = b.Retrieve(t.Context(), r.Request)
				}
			}
		}
		check.That(t, changed.Load(), "%s: no answer of %s holds %s", h.About, h.Path, h.From)
		check.That(t, errors.Is(err, sheaf.ErrUnavailable) && !errors.As(err, new(*store.PartialError)),
			"%s of %s, %s for %s: %v, want sheaf.ErrUnavailable", h.About, h.Path, h.To, h.From, err)
	}
}
