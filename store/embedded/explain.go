package embedded

import (
	"context"

	"sheaf"
	"sheaf/index/engine"
	"sheaf/store"
)

// Explain implements [store.Explainer].
func (s *Store) Explain(ctx context.Context, req store.Request, ids []sheaf.ID) ([]*sheaf.Explanation, error) {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = string(id)
	}
	out := make([]*sheaf.Explanation, len(ids))
	err := s.answer(req, func(snapshot *engine.Snapshot, r engine.Request) error {
		found, err := snapshot.Explain(ctx, r, names)
		for i, e := range found {
			if e != nil {
				x := explanation(e)
				out[i] = &x
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func explanation(e *engine.Explanation) sheaf.Explanation {
	out := sheaf.Explanation{Label: e.Label, Value: e.Value, Combine: sheaf.Combine(e.Combine)}
	for i := range e.Parts {
		out.Parts = append(out.Parts, explanation(&e.Parts[i]))
	}
	return out
}
