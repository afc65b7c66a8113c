package opensearch

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"sheaf"
)

// Alias implements [store.Switcher]. One request gives the index and its dictionary their second names. If an index
// that this program did not make has one of these names, Alias fails and changes nothing.
func (s *Store) Alias(ctx context.Context, name string) error {
	if !indexName().MatchString(name) {
		return sheaf.Invalidf("alias %q: must be at most 200 lower-case letters, digits, '-' and '_', a letter first", name)
	}
	ctx, stop, err := s.calls.Begin(ctx)
	if err != nil {
		return err
	}
	defer stop()
	var actions []any
	for suffix, from := range map[string]string{"": s.index(), "-terms": s.dictionaryName()} {
		own, err := s.indicesOf(ctx, from)
		if err != nil {
			return err
		}
		if len(own) != 1 {
			return s.several(from, len(own))
		}
		others, err := s.indicesOf(ctx, name+suffix)
		if err != nil && !errors.Is(err, sheaf.ErrNotFound) {
			return err
		}
		for _, other := range others {
			if other == name+suffix {
				return s.fault(sheaf.ErrInvalid, "the alias %s is the name of an index: choose another, or remove that index",
					other)
			}
			if other != own[0] {
				d, err := s.describe(ctx, other)
				if err != nil {
					return err
				}
				_, ours := d.index()
				if suffix != "" {
					ours = d.isDictionary()
				}
				if !ours {
					return s.fault(sheaf.ErrInvalid, "the alias %s stands for %s, which sheaf did not make: choose another",
						name+suffix, other)
				}
				actions = append(actions, object{"remove": object{"index": other, "alias": name + suffix}})
			}
		}
		actions = append(actions, object{"add": object{"index": own[0], "alias": name + suffix}})
	}
	return s.client.Call(ctx, "POST", "/_aliases", object{"actions": actions}, nil)
}

// several returns the error for a name that leads to n indices instead of one.
func (s *Store) several(name string, n int) error {
	if n == 0 {
		return s.fault(sheaf.ErrUnavailable, "the server names no index: the answer is not from such a server")
	}
	return s.fault(sheaf.ErrInvalid, "the name %s stands for %d indices: name another index, which is one", name, n)
}

// checkDictionary looks up the index and the dictionary. If the names lead to other indices than before, it forgets the
// cached terms. If an index is missing, the error is sheaf.ErrNotFound. The caller must then not write, because the
// server might create an index with this name.
func (s *Store) checkDictionary(ctx context.Context) error {
	names, err := s.indicesOf(ctx, s.index()+","+s.dictionaryName())
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := strings.Join(names, ","); now != s.terms.indices {
		clear(s.terms.words)
		s.terms.indices = now
	}
	return nil
}

// indicesOf returns the names of the indices that a name leads to.
func (s *Store) indicesOf(ctx context.Context, name string) ([]string, error) {
	var found map[string]struct{}
	err := s.client.Call(ctx, "GET", "/"+name+"/_alias", nil, &found)
	return slices.Sorted(maps.Keys(found)), err
}
