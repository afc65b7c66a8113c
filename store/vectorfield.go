package store

import (
	"fmt"

	"sheaf"
)

// ErrMadeOtherwise means that this program made the store with other settings than the requested settings. The user
// must empty the store and fill it again, or choose another place. It wraps sheaf.ErrInvalid.
var ErrMadeOtherwise = fmt.Errorf("%w", sheaf.ErrInvalid)

// VectorField is a vector field of a store: its name, its model and its number of dimensions.
type VectorField struct {
	Name  string `json:"name"`
	Model string `json:"model"`
	Dims  int    `json:"dims"`
}

// Same fails with ErrMadeOtherwise if v is the field with the wanted name, but has another model or other dimensions.
// In the advice, place names the holder of the field: "index" or "schema".
func (v VectorField) Same(want VectorField, place string) error {
	switch {
	case v.Name != want.Name:
		return nil
	case v.Dims != want.Dims:
		return fmt.Errorf("%w: vector field %q has %d dimensions, the model %s has %d: use the model it was made with "+
			"(%s), fill it again, or fill another %s", ErrMadeOtherwise, v.Name, v.Dims, want.Model, want.Dims, v.Model, place)
	case v.Model != "" && want.Model != "" && v.Model != want.Model:
		return fmt.Errorf("%w: vector field %q was made with the model %s, not with %s: use that model again, fill it "+
			"again, or fill another %s", ErrMadeOtherwise, v.Name, v.Model, want.Model, place)
	}
	return nil
}

// Answers reports whether the field has vectors, so that it can answer a request. The zero VectorField has no
// vectors. Answers fails with sheaf.ErrInvalid if the vector of the request has another number of dimensions.
func (v VectorField) Answers(req *VectorRequest) (bool, error) {
	if v.Dims != 0 && v.Dims != len(req.Vector) {
		return true, sheaf.Invalidf("request: the vector has %d dimensions, field %q has %d", len(req.Vector), req.Field,
			v.Dims)
	}
	return v.Dims != 0, nil
}

// ValidateVectorFields fails with sheaf.ErrInvalid if a vector field has no name, or if its dimensions are not in
// 1..most. The message begins with the text in store.
func ValidateVectorFields(store string, fields []VectorField, most int) error {
	for _, v := range fields {
		if v.Name == "" || v.Dims < 1 || v.Dims > most {
			return sheaf.Invalidf("open %s: vector field %q has %d dimensions: must be 1..%d", store, v.Name, v.Dims, most)
		}
	}
	return nil
}

// DimsOf returns the number of dimensions of each field, by name.
func DimsOf(fields []VectorField) map[string]int {
	dims := make(map[string]int, len(fields))
	for _, v := range fields {
		dims[v.Name] = v.Dims
	}
	return dims
}

// ValidateDims fails with sheaf.ErrInvalid if a passage has more dimensions than the limit, or not as many as its
// field. dims has the dimensions of the known fields; ValidateDims adds new fields to dims.
func (b *Batch) ValidateDims(dims map[string]int, limit int) error {
	for i := range b.Chunks {
		c := &b.Chunks[i]
		for _, v := range c.Vectors {
			for n, p := range v.Passages {
				want, ok := dims[v.Name]
				if len(p) > limit {
					return sheaf.Invalidf("write %s: passage %d of vector field %q has %d dimensions, the store takes %d at most",
						c.ID, n, v.Name, len(p), limit)
				}
				if ok && len(p) != want {
					return sheaf.Invalidf("write %s: passage %d of vector field %q has %d dimensions, the store has %d", c.ID, n,
						v.Name, len(p), want)
				}
				dims[v.Name] = len(p)
			}
		}
	}
	return nil
}
