package opensearch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sheaf"
)

// A name may be an alias, which another process can give to another index at any time. If the other index has the same
// settings, an open store follows the name. Otherwise the store keeps the old index: in the other index, it would read
// nonsense and write wrong data.

// place has the real names of an index and its dictionary, not aliases.
type place struct{ index, terms string }

// index returns the name that requests use for the index.
func (s *Store) index() string {
	if p := s.place.Load(); p != nil {
		return p.index
	}
	return s.o.Index
}

// dictionaryName returns the name that requests use for the dictionary.
func (s *Store) dictionaryName() string {
	if p := s.place.Load(); p != nil {
		return p.terms
	}
	return s.o.Index + "-terms"
}

// currentPlace returns the index and the dictionary that the store's name leads to now. It returns nil unless the name
// leads to exactly one index and one dictionary.
func (s *Store) currentPlace(ctx context.Context) (*place, error) {
	indices, err := s.indicesOf(ctx, s.o.Index)
	if err != nil || len(indices) != 1 {
		return nil, err
	}
	terms, err := s.indicesOf(ctx, s.o.Index+"-terms")
	if err != nil || len(terms) != 1 {
		return nil, err
	}
	return &place{indices[0], terms[0]}, nil
}

// pin makes the store use the index that its name leads to now. If the user may not read aliases, it keeps the name.
func (s *Store) pin(ctx context.Context) error {
	p, err := s.currentPlace(ctx)
	if p != nil && p.index != s.o.Index {
		s.place.Store(p)
		s.alias.lastTime = time.Now()
	}
	if errors.Is(err, sheaf.ErrInvalid) || errors.Is(err, sheaf.ErrNotFound) {
		return nil
	}
	return err
}

// followEvery is the shortest time between two checks of the index that the store's alias points to.
const followEvery = time.Second

// follow looks up the store's name. If the name leads to another index with the same settings, the store uses this
// index. If the settings differ, the store keeps its index, and Moved returns the error.
func (s *Store) follow(ctx context.Context) {
	now := s.place.Load()
	if now == nil {
		return
	}
	s.mu.Lock()
	due := time.Since(s.alias.lastTime) >= followEvery
	if due {
		s.alias.lastTime = time.Now()
	}
	s.mu.Unlock()
	if !due {
		return
	}
	p, err := s.currentPlace(ctx)
	switch {
	case err != nil && !errors.Is(err, sheaf.ErrNotFound):
		return // the request itself will show the fault
	case p == nil:
		s.setMoved(fmt.Errorf("the alias %s stands for no index now: %s is still used", s.o.Index, now.index))
		return
	case *p == *now:
		s.setMoved(nil)
		return
	}
	other := &Store{o: s.o, client: s.client, flat: map[string]bool{}}
	other.place.Store(p)
	if err = other.verify(ctx); err == nil {
		err = other.sameVectors(s)
	}
	if err != nil {
		s.setMoved(fmt.Errorf("the alias %s stands for %s now, which was made with other settings: %s is still used; "+
			"start again with other settings, or move the alias back: %w", s.o.Index, p.index, now.index, err))
		return
	}
	s.vectors.Set(other.vectors.All())
	s.mu.Lock()
	s.flat, s.alias.fault = other.flat, nil
	s.mu.Unlock()
	s.made.shards.Store(other.made.shards.Load())
	s.made.version.Store(other.made.version.Load())
	s.place.Store(p)
}

// sameVectors returns an error if a vector field of the store old has another model or other dimensions in s.
func (s *Store) sameVectors(old *Store) error {
	for _, want := range old.vectors.All() {
		if err := s.vectors.Get(want.Name).Same(want, "index"); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) setMoved(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alias.fault = err
}

// Moved implements [store.Mover].
func (s *Store) Moved() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.alias.fault
}
