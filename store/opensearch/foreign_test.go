package opensearch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/opensearch"
	"sheaf/store/storetest"
)

// asked sends a request directly to the server of o, and returns the status and the body.
func asked(t *testing.T, o opensearch.Options, method, path, body string) (int, string) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, o.URL+path,
		strings.NewReader(body)))
	req.Header.Set("Content-Type", "application/json")
	resp := must.Get(http.DefaultClient.Do(req))
	defer resp.Body.Close()
	return resp.StatusCode, string(must.Get(io.ReadAll(resp.Body)))
}

// put sends a request directly to the server, which must accept it.
func put(t *testing.T, o opensearch.Options, path, body string) {
	t.Helper()
	status, said := asked(t, o, "PUT", path, body)
	must.That(t, status == http.StatusOK, "PUT %s %s: %s", path, body, said)
}

// foreign makes a foreign index with one document, and removes it at the end of the test. unharmed
// returns an error if that index has changed.
func foreign(t *testing.T, o opensearch.Options, name, mappings string) (unharmed func() error) {
	t.Helper()
	put(t, o, "/"+name, `{"mappings":`+mappings+`}`)
	t.Cleanup(func() { asked(t, o, "DELETE", "/"+name, "") })
	status, said := asked(t, o, "PUT", "/"+name+"/_doc/1?refresh=true", `{"t":"theirs"}`)
	must.That(t, status == 201, "write to %s: %s", name, said)
	return func() error {
		if _, said := asked(t, o, "GET", "/"+name+"/_count", ""); !strings.Contains(said, `"count":1,`) {
			return fmt.Errorf("%s holds %s", name, said)
		}
		return nil
	}
}

// refused returns an error unless err says that a foreign index has the name.
func refused(err error, name string) error {
	if !errors.Is(err, sheaf.ErrInvalid) || errors.Is(err, store.ErrMadeOtherwise) ||
		!strings.Contains(err.Error(), name+" ") || !strings.Contains(err.Error(), "name another index") {
		return fmt.Errorf("%s is not ours, and is answered with: %w", name, err)
	}
	return nil
}

// TestForeignDictionary checks that Open and Drop refuse and keep a foreign index with the index's or dictionary's
// name.
func TestForeignDictionary(t *testing.T) {
	each(t, func(t *testing.T, s *storetest.Stores[opensearch.Options]) {
		o := s.New(t)
		unharmed := foreign(t, o, o.Index, `{}`)
		_, opened := opensearch.Open(t.Context(), o)
		for _, err := range []error{opened, opensearch.Drop(t.Context(), o)} {
			if !errors.Is(err, sheaf.ErrInvalid) || unharmed() != nil {
				t.Errorf("a foreign index: %v, %v", err, unharmed())
			}
		}
		for _, mappings := range []string{
			`{}`,
			`{"dynamic":false,"_source":{"enabled":false},"properties":{"t":{"type":"keyword"}}}`,
			`{"dynamic":"strict","properties":{"t":{"type":"keyword"}}}`,
			`{"dynamic":"strict","_source":{"enabled":false},"properties":{"t":{"type":"text","index_options":"docs"}}}`,
			`{"dynamic":"strict","_source":{"enabled":false},"properties":{"t":{"type":"keyword"},` +
				`"u":{"properties":{"p":{"type":"text","index_options":"docs"}}}}}`,
			`{"_meta":{"sheaf":"a bundle","made":1}}`,
		} {
			o := s.New(t)
			name := o.Index + "-terms"
			unharmed := foreign(t, o, name, mappings)
			_, err := opensearch.Open(t.Context(), o)
			check.NoError(t, errors.Join(refused(err, name), refused(opensearch.Drop(t.Context(), o), name), unharmed()),
				"%s", mappings)
			status, said := asked(t, o, "GET", "/"+o.Index, "")
			check.That(t, status == http.StatusNotFound, "%s: the index was made: %s", mappings, said)
			f := examined(t, o)
			check.That(t, f != nil && refused(f, name) == nil, "%s: examined: %v", mappings, f)
		}
	})
}

// examined returns the faults that the doctor finds.
func examined(t *testing.T, o opensearch.Options) error {
	var all error
	for _, f := range opensearch.Examine(t.Context(), o) {
		all = errors.Join(all, f.Err)
	}
	return all
}

// TestDictionaryReplacedByForeignIndex checks a store whose dictionary was replaced with a foreign index. Open with
// any access and Drop refuse, and keep both indices.
func TestDictionaryReplacedByForeignIndex(t *testing.T) {
	each(t, func(t *testing.T, s *storetest.Stores[opensearch.Options]) {
		o := s.New(t)
		b := s.Open(t, o)
		defer b.Close()
		must.Do(t, b.Write(t.Context(), storetest.One("t:a", "stone")))
		name := o.Index + "-terms"
		asked(t, o, "DELETE", "/"+name, "")
		unharmed := foreign(t, o, name, `{}`)
		for _, change := range []func(*opensearch.Options){func(*opensearch.Options) {},
			func(o *opensearch.Options) { o.Access = store.Existing },
			func(o *opensearch.Options) { o.Access = store.ReadOnly }} {
			opened := o
			change(&opened)
			_, err := opensearch.Open(t.Context(), opened)
			check.NoError(t, refused(err, name), "access %v", opened.Access)
		}
		if err := errors.Join(refused(opensearch.Drop(t.Context(), o), name), unharmed()); err != nil {
			t.Error(err)
		}
		check.Equal(t, storetest.Hits(t, b, "stone"), 1, "chunks that are left")
	})
}

// TestStoreNamedAsDictionary checks that a store may not have the name of another store's dictionary, in either
// order.
func TestStoreNamedAsDictionary(t *testing.T) {
	each(t, func(t *testing.T, s *storetest.Stores[opensearch.Options]) {
		for _, longFirst := range []bool{true, false} {
			short := s.New(t)
			long := short
			long.Index += "-terms"
			first, second := short, long
			if longFirst {
				first, second = long, short
			}
			b := s.Open(t, first)
			must.Do(t, b.Write(t.Context(), storetest.One("t:a", "stone")))
			_, err := opensearch.Open(t.Context(), second)
			check.That(t, errors.Is(err, sheaf.ErrInvalid) && !errors.Is(err, store.ErrMadeOtherwise) &&
				strings.Contains(err.Error(), "another"), "%s beside %s: %v", second.Index, first.Index, err)
			check.Is(t, opensearch.Drop(t.Context(), second), sheaf.ErrInvalid,
				"drop %s beside %s", second.Index, first.Index)
			r, err := b.Retrieve(t.Context(), storetest.Words(sheaf.Prefix{Text: "sto"}))
			check.That(t, err == nil && len(r) == 1, "%s: found %v, %v", first.Index, r, err)
			if err := errors.Join(b.Close(), opensearch.Drop(t.Context(), first)); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestOlderDictionary checks that Open accepts a dictionary of an earlier version, without _meta.
func TestOlderDictionary(t *testing.T) {
	each(t, func(t *testing.T, s *storetest.Stores[opensearch.Options]) {
		o := s.New(t)
		put(t, o, "/"+o.Index+"-terms",
			`{"mappings":{"dynamic":"strict","_source":{"enabled":false},"properties":{"t":{"type":"keyword"}}}}`)
		b := s.Open(t, o)
		defer b.Close()
		if err := b.Write(t.Context(), storetest.One("t:a", "stone")); err != nil {
			t.Error(err)
		}
		if err := opensearch.Drop(t.Context(), o); err != nil {
			t.Error(err)
		}
		status, _ := asked(t, o, "GET", "/"+o.Index+"-terms", "")
		check.That(t, status == http.StatusNotFound, "the dictionary is still there: %d", status)
	})
}

// TestForeignAlias checks that Alias refuses a name of a foreign index, also for the dictionary.
func TestForeignAlias(t *testing.T) {
	each(t, func(t *testing.T, s *storetest.Stores[opensearch.Options]) {
		b := s.Empty(t).(*opensearch.Store)
		defer b.Close()
		for _, suffix := range []string{"", "-terms"} {
			o := s.New(t)
			alias := o.Index + "-alias"
			foreign(t, o, o.Index, `{"_meta": {"sheaf": "a bundle"}}`)
			put(t, o, "/"+o.Index+"/_alias/"+alias+suffix, "")
			err := b.Alias(t.Context(), alias)
			check.That(t, errors.Is(err, sheaf.ErrInvalid) && strings.Contains(err.Error(), alias+suffix+" ") &&
				strings.Contains(err.Error(), "choose another"), "%s: %v", alias+suffix, err)
			_, said := asked(t, o, "GET", "/_alias/"+alias+"*", "")
			check.That(t, strings.Contains(said, `"`+o.Index+`":`) && strings.Count(said, alias) == 1,
				"%s: now stands for %s", alias+suffix, said)
		}
	})
}
