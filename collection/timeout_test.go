package collection_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

// whole is a store with everything that the tests ask for.
type whole interface {
	store.Backend
	store.Counter
	store.Explainer
	store.Faceter
	store.Versioned
}

// hooked is a store that passes every request to hook first. The hook may change the request. Its error is the answer
// of the store. The verbs are "retrieve", "count", "explain", "facets" and "supports".
type hooked struct {
	whole
	hook func(ctx context.Context, verb string, r *store.Request) error
}

// hookStore returns an option that puts a hook before the store of a collection.
func hookStore(hook func(ctx context.Context, verb string, r *store.Request) error) func(*collection.Options) {
	return func(o *collection.Options) { o.Backend = hooked{o.Backend.(whole), hook} }
}

func (s hooked) Retrieve(ctx context.Context, r store.Request) (sheaf.Ranking, error) {
	if err := s.hook(ctx, "retrieve", &r); err != nil {
		return nil, err
	}
	return s.whole.Retrieve(ctx, r)
}

func (s hooked) Count(ctx context.Context, r store.Request) (int, error) {
	if err := s.hook(ctx, "count", &r); err != nil {
		return 0, err
	}
	return s.whole.Count(ctx, r)
}

func (s hooked) Explain(ctx context.Context, r store.Request, ids []sheaf.ID) ([]*sheaf.Explanation, error) {
	if err := s.hook(ctx, "explain", &r); err != nil {
		return nil, err
	}
	return s.whole.Explain(ctx, r, ids)
}

func (s hooked) Facets(ctx context.Context, r store.Request, columns []string, limit int) ([]store.Facet, error) {
	if err := s.hook(ctx, "facets", &r); err != nil {
		return nil, err
	}
	return s.whole.Facets(ctx, r, columns, limit)
}

func (s hooked) Supports(r store.Request) error { return s.hook(context.Background(), "supports", &r) }

// hookCount puts a hook before every count of a store.
func hookCount(hook func(ctx context.Context, r *store.Request) error) func(*collection.Options) {
	return hookStore(func(ctx context.Context, verb string, r *store.Request) error {
		if verb == "count" {
			return hook(ctx, r)
		}
		return nil
	})
}

// hanging opens a collection with a store whose Count blocks until the channel is closed.
func hanging(t *testing.T) (*collectiontest.Fixture, *chan struct{}) {
	t.Helper()
	free := make(chan struct{})
	return collectiontest.Open(t, map[string]string{"a.md": "---\naccess: public\n---\n# Okapi\n\nzebra\n"},
		func(o *collection.Options) {
			o.Distant = true
			hookCount(func(ctx context.Context, _ *store.Request) error {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-free:
					return nil
				}
			})(o)
		}), &free
}

// TestStoreHangs checks that a hanging store delays no search beyond its deadline, whatever the
// caller may see. Later requests count again.
func TestStoreHangs(t *testing.T) {
	f, free := hanging(t)
	for name, grant := range map[string]access.Grant{"all": access.Unrestricted(),
		"some": {Scopes: []access.Scope{access.ScopeSearch}}} {
		*free = make(chan struct{})
		r := reader(t, f, grant)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := r.Search(ctx, collection.SearchRequest{Text: "okapi zebra"})
		check.That(t, err == nil || errors.Is(err, context.DeadlineExceeded), "%s: %v", name, err)
		close(*free)
		if s, err := r.Summary(t.Context()); err != nil || s.Chunks == 0 {
			t.Errorf("%s: %+v, %v: want the chunks counted when the store answers", name, s, err)
		}
	}
}

// TestBranchHangs checks that a branch that hangs until the caller's deadline degrades the answer. The answer has the
// results of the other branch.
func TestBranchHangs(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# Okapi\n\nzebra\n"},
		hookStore(func(ctx context.Context, verb string, r *store.Request) error {
			if verb == "retrieve" && r.Vector != nil {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	a := must.Get(reader(t, f, access.Unrestricted()).Search(ctx, collection.SearchRequest{Text: "okapi"}))
	check.That(t, a.Degraded && len(a.Results) == 1 && strings.HasPrefix(a.Warnings[0], "branch meaning "),
		"degraded %v, %d results, warnings %q", a.Degraded, len(a.Results), a.Warnings)
}

// TestWordsWhileStoreHangs checks that Words works while the store hangs, and returns nil for an
// invalid query.
func TestWordsWhileStoreHangs(t *testing.T) {
	f, _ := hanging(t)
	for name, grant := range map[string]access.Grant{"all": access.Unrestricted(),
		"some": {Scopes: []access.Scope{access.ScopeSearch}}} {
		r := reader(t, f, grant)
		got := r.Words(t.Context(), "the okapi", "The okapis, and the zebra.")
		check.That(t, len(got) == 1 && strings.Join(got[0], "|") == "|okapis", "%s: %q", name, got)
		got = r.Words(t.Context(), strings.Repeat("okapi ", 1<<16), "The okapi.")
		check.That(t, got == nil, "%s, of a query that is too long: %q", name, got)
	}
}

// ending is a context that ends when end is called.
type ending struct {
	context.Context
	over chan struct{}
	end  func()
}

func newEnding(ctx context.Context) *ending {
	over := make(chan struct{})
	return &ending{ctx, over, sync.OnceFunc(func() { close(over) })}
}

func (e *ending) Done() <-chan struct{} { return e.over }

func (e *ending) Err() error {
	select {
	case <-e.over:
		return context.DeadlineExceeded
	default:
		return e.Context.Err()
	}
}

// TestCountHangs checks a search whose time ends while matches are counted. The answer has the
// results and a warning about the missing count. The next search counts again.
func TestCountHangs(t *testing.T) {
	var end func() // ends the time of the request
	f := collectiontest.Open(t, map[string]string{"a.md": "# Okapi\n\nzebra\n", "b.md": "# Zebra\n\nokapi\n"},
		hookCount(func(ctx context.Context, r *store.Request) error {
			if m, ok := r.Text.Query.(sheaf.Match); ok && !strings.Contains(m.Text, " ") {
				return nil // of a single word
			}
			end()
			<-ctx.Done()
			return ctx.Err()
		}))
	r := reader(t, f, access.Unrestricted())
	want := find(t, r, collection.SearchRequest{Text: "okapi zebra"})
	for range 2 {
		ctx := newEnding(t.Context())
		end = ctx.end
		a := must.Get(r.Search(ctx, collection.SearchRequest{Text: "okapi zebra", Count: true}))
		check.That(t, a.Degraded && a.Matches == nil && len(a.Warnings) == 1 && len(a.Results) == len(want.Results) &&
			len(want.Results) != 0, "degraded %v, matches %v, warnings %q, %d results of %d", a.Degraded, a.Matches, a.Warnings,
			len(a.Results), len(want.Results))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, must.Err(r.Search(ctx, collection.SearchRequest{Text: "okapi zebra", Count: true})), context.Canceled,
		"a caller who went away")
}

// TestFailedPropertyLookupIsError checks that a failed lookup of property names is an error for callers that
// may not see everything. Otherwise the answer could show excluded documents.
func TestFailedPropertyLookupIsError(t *testing.T) {
	var missing error
	f := collectiontest.Open(t, map[string]string{"a.md": "---\naccess: public\nstatus: draft\n---\n# Okapi\n\nzebra\n",
		"b.md": "---\naccess: public\n---\n# Zebra\n\nokapi\n"}, hookCount(func(_ context.Context, r *store.Request) error {
		if f, ok := r.Filter.(sheaf.And); ok {
			if _, ok := f[len(f)-1].(sheaf.Exists); ok { // whether a document has a property
				return missing
			}
		}
		return nil
	}))
	r := reader(t, f, access.Grant{Scopes: []access.Scope{access.ScopeSearch}})
	for _, fault := range []error{errors.New("no connection"), context.DeadlineExceeded} {
		missing = fault
		a, err := r.Search(t.Context(), collection.SearchRequest{Text: "okapi -status:draft"})
		check.That(t, errors.Is(err, sheaf.ErrUnavailable) && errors.Is(err, fault), "%v: %+v, %v", fault, a, err)
	}
	missing = nil
	for i, text := range []string{"okapi -status:draft", "okapi -status:draft", "zebra -[Status:draft]"} {
		a := find(t, r, collection.SearchRequest{Text: text})
		check.That(t, len(a.Results) != 0 && !strings.Contains(string(a.Results[0].ID), "a.md"),
			"search %d: %+v", i, a.Results)
	}
}

// late is a reranking model that answers when the request's time ends.
type late struct {
	end func() // ends the time of the request
}

func (*late) Model() string { return "late" }

func (l *late) Rerank(ctx context.Context, _ string, _ []string) ([]float64, error) {
	l.end()
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestLateRerankKeepsRanking checks that a late model leaves the previous ranking, with a warning.
func TestLateRerankKeepsRanking(t *testing.T) {
	open := func(change func(*collection.Options)) *collection.Reader {
		return reader(t, collectiontest.Open(t, map[string]string{
			"port.md": "# Port\n\nShips come and go in the harbor.\n", "dock.md": "# Dock\n\nNine cranes, near the harbor.\n",
		}, change), access.Unrestricted())
	}
	write := func(o *collection.Options, profile string) {
		writeFile(t, filepath.Join(o.ProfileDirs[0], "rrf.yaml"), profile)
	}
	want := find(t, open(func(o *collection.Options) {
		write(o, strings.Replace(gathers, "  - rerank: {n: 10}\n", "", 1))
	}), collection.SearchRequest{Text: "harbor", Profile: "rrf"})
	model := &late{}
	r := open(func(o *collection.Options) {
		write(o, strings.Replace(gathers, "{n: 10}", "{n: 10, timeout: 60}", 1))
		o.Rerank = model
	})
	ctx := newEnding(t.Context())
	model.end = ctx.end
	got := must.Get(r.Search(ctx, collection.SearchRequest{Text: "harbor", Profile: "rrf"}))
	must.That(t, got.Degraded && len(got.Warnings) == 1 && strings.HasPrefix(got.Warnings[0], "rerank: ") &&
		len(got.Results) == len(want.Results),
		"degraded %v, warnings %q, %d results of %d", got.Degraded, got.Warnings, len(got.Results), len(want.Results))
	for i := range want.Results {
		if a, b := got.Results[i], want.Results[i]; a.ID != b.ID || a.Snippet != b.Snippet || a.Snippet == "" {
			t.Errorf("result %d is %s %q, want %s %q", i+1, a.ID, a.Snippet, b.ID, b.Snippet)
		}
	}
}
