package weaviate

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

var _ store.Inspector = (*Store)(nil)

// Unreached implements [store.Inspector]. After a kill, version 1.35.2 may keep objects but lose their vectors from
// its index. Writing the same objects again does not help.
func (s *Store) Unreached(ctx context.Context, ids []sheaf.ID) (int, error) {
	n := 0
	for _, field := range s.vectors.All() {
		lost, err := s.countUnreached(ctx, field.Name, storekit.Hashes(ids), everything)
		if err != nil {
			return 0, err
		}
		n += lost
	}
	return n, nil
}

// Remove implements [store.Inspector]. It deletes each object by its key: a filter would miss objects that its index
// has lost.
func (s *Store) Remove(ctx context.Context, ids []sheaf.ID) error {
	fields := s.vectors.All()
	for _, id := range ids {
		err := s.calls.Write(ctx, func(ctx context.Context) error {
			if _, err := s.removeObject(ctx, s.o.Class, objectID(string(id))); err != nil {
				return err
			}
			for _, field := range fields {
				for n, there := 0, true; there; n++ {
					var err error
					if there, err = s.removeObject(ctx, s.passageClass(field.Name),
						objectID(string(id), field.Name, strconv.Itoa(n))); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// removeObject deletes an object by its key, and reports whether the object existed. It looks first, because a
// deletion succeeds even if there is no object.
func (s *Store) removeObject(ctx context.Context, class, key string) (there bool, err error) {
	path := "/v1/objects/" + class + "/" + key
	err = s.client.Call(ctx, "GET", path, nil, nil)
	if err == nil {
		err = s.client.Call(ctx, "DELETE", path, nil, nil)
		there = err == nil
	}
	if errors.Is(err, sheaf.ErrNotFound) {
		err = nil
	}
	return there, err
}

// countUnreached returns how many stored passages a vector search does not find. If one answer cannot have all, it
// sends several requests.
func (s *Store) countUnreached(ctx context.Context, field string, hashes []string, within condition) (int, error) {
	if len(hashes) == 0 {
		return 0, nil
	}
	class, where := s.passageClass(field), and(anyOf("chunk", hashes), within)
	kept, err := timed(ctx, s, func(ctx context.Context) (int, error) {
		return s.count(ctx, class, where)
	})
	if err != nil {
		return 0, err
	}
	switch {
	case kept == 0:
		return 0, nil
	case kept > MaxLimit && len(hashes) > 1:
		half := len(hashes) / 2
		first, err := s.countUnreached(ctx, field, hashes[:half], everything)
		if err != nil {
			return 0, err
		}
		rest, err := s.countUnreached(ctx, field, hashes[half:], everything)
		return first + rest, err
	case kept > MaxLimit:
		lost := 0
		for from := 0; from < kept; from += MaxLimit {
			some, err := s.countUnreached(ctx, field, hashes, passagesIn(from, from+MaxLimit))
			if err != nil {
				return 0, err
			}
			lost += some
		}
		return lost, nil
	}
	probe := make([]float32, s.vectors.Get(field).Dims)
	probe[0] = 1
	query := fmt.Sprintf("{Get{%s(limit:%d nearVector:{vector:%s} where:%s){n}}}", class, MaxLimit, numbers(probe),
		where.where)
	answer, err := timed(ctx, s, func(ctx context.Context) (struct{ Get map[string][]passage }, error) {
		return ask[struct{ Get map[string][]passage }](ctx, s, query)
	})
	if err != nil {
		return 0, err
	}
	near, err := hits(s, answer.Get, class)
	return max(kept-len(near), 0), err
}

// passagesIn returns the condition for the passages with numbers from..to-1.
func passagesIn(from, to int) condition {
	return and(condition{where: fmt.Sprintf(`{path:["n"] operator:GreaterThanEqual valueInt:%d}`, from)},
		condition{where: fmt.Sprintf(`{path:["n"] operator:LessThan valueInt:%d}`, to)})
}
