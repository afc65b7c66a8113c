package weaviate

import (
	"context"
	"sheaf/store/storekit"
	"strconv"

	"sheaf"
)

// WithoutVector replaces a passage of a chunk with a passage that has no vector.
func WithoutVector(ctx context.Context, s *Store, id sheaf.ID, field string, n int) {
	class, object := s.passageClass(field), objectID(string(id), field, strconv.Itoa(n))
	_ = s.client.Call(ctx, "DELETE", "/v1/objects/"+class+"/"+object, nil, nil)
	_ = s.client.Call(ctx, "POST", "/v1/objects",
		map[string]any{"class": class, "id": object,
			"properties": map[string]any{"chunk": storekit.Hash(string(id)), "n": n}}, nil)
}
