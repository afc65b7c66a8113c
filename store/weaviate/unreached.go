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

// Unreached implements [store.Inspector]. If its process is killed, version 1.35.2 of the server may keep objects but
// lose their vectors from its index. Writing the same objects again without Remove does not help.
func (s *Store) Unreached(ctx context.Context, ids []sheaf.ID) (int, error) {
	lost := 0
	for _, field := range s.vectors.All() {
		probe := make([]float32, field.Dims)
		probe[0] = 1
		err := s.inParts(ctx, field.Name, storekit.Hashes(ids), everything, MaxLimit, func(class, where string, n int) error {
			near, err := s.passageHits(ctx, class, fmt.Sprintf("limit:%d nearVector:{vector:%s} where:%s", MaxLimit,
				numbers(probe), where), "n")
			lost += max(n-len(near), 0)
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return lost, nil
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

// passagesIn returns the condition for the passages with numbers from..to-1.
func passagesIn(from, to int) condition {
	return and(condition{where: fmt.Sprintf(`{path:["n"] operator:GreaterThanEqual valueInt:%d}`, from)},
		condition{where: fmt.Sprintf(`{path:["n"] operator:LessThan valueInt:%d}`, to)})
}
