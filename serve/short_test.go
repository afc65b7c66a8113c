package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/backend"
	"sheaf/search"
	"sheaf/serve"
	"sheaf/serve/access"
	"sheaf/serve/servetest"
)

// failing is a store that fails at something besides retrieving while err is not nil.
type failing struct {
	whole
	err *error
}

// whole is all that is asked of a store here.
type whole interface {
	store
	backend.Faceter
	backend.Versioned
}

func (f failing) Explain(ctx context.Context, req backend.Request, ids []sheaf.ID) ([]*sheaf.Explanation, error) {
	if *f.err != nil {
		return nil, *f.err
	}
	return f.whole.Explain(ctx, req, ids)
}

func (f failing) Facets(ctx context.Context, req backend.Request, columns []string, limit int) ([]backend.Facet, error) {
	if *f.err != nil {
		return nil, *f.err
	}
	return f.whole.Facets(ctx, req, columns, limit)
}

// TestShortAnswers: an answer that lacks what the store failed to tell is that of who asked
// then; who asks again is told all. What the store can never tell is remembered.
func TestShortAnswers(t *testing.T) {
	for what, q := range map[string]serve.SearchRequest{
		"an explanation":   {Text: "undo a commit", Explain: true},
		"values there are": {Text: "undo tag:nothing-has-it"},
	} {
		var fault error
		f := servetest.Open(t, notes, func(o *serve.Options) { o.Backend = failing{o.Backend.(whole), &fault} })
		r := reader(t, f, access.Unrestricted())
		said := func(a *serve.Answer) (string, bool) {
			text, err := json.Marshal([]any{a.Notes, a.Results})
			if err != nil {
				t.Fatal(err)
			}
			return string(text), slices.ContainsFunc(a.Timings, func(s search.Timing) bool { return s.Step == "cache" })
		}
		fault = errors.New("connection refused")
		short, _ := said(find(t, r, q))
		fault = nil
		if got, remembered := said(find(t, r, q)); got == short || strings.Contains(got, "refused") || remembered {
			t.Errorf("%s, asked again: %s, remembered %v", what, got, remembered)
		}
		if _, remembered := said(find(t, r, q)); !remembered {
			t.Errorf("%s: a whole answer is not remembered", what)
		}
		fault, q.Limit = sheaf.ErrUnsupported, 3
		find(t, r, q)
		if got, remembered := said(find(t, r, q)); !remembered {
			t.Errorf("%s: what the store never tells is asked for again: %s", what, got)
		}
	}
}
