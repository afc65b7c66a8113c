package storekit

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"sheaf/store"
)

// Vectors are the vector fields that an open store has. They are safe for concurrent use.
type Vectors struct {
	mu     sync.Mutex
	fields map[string]store.VectorField
}

// Set replaces all fields.
func (v *Vectors) Set(fields []store.VectorField) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fields = make(map[string]store.VectorField, len(fields))
	for _, f := range fields {
		v.fields[f.Name] = f
	}
}

// Add adds a field.
func (v *Vectors) Add(f store.VectorField) { v.Set(append(v.All(), f)) }

// All returns the fields, sorted by name.
func (v *Vectors) All() []store.VectorField {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.SortedFunc(maps.Values(v.fields), func(a, b store.VectorField) int {
		return cmp.Compare(a.Name, b.Name)
	})
}

// Get returns the field with this name, or the zero VectorField without such a field.
func (v *Vectors) Get(name string) store.VectorField {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.fields[name]
}

// Answers reports whether the field of a request has vectors: see [store.VectorField.Answers].
func (v *Vectors) Answers(req *store.VectorRequest) (bool, error) {
	return v.Get(req.Field).Answers(req)
}

// Check returns sheaf.ErrInvalid if a batch is invalid, or if its vectors do not fit v and wanted. wanted has the
// vector fields of the options.
func (v *Vectors) Check(batch *store.Batch, wanted []store.VectorField, maxDims int) error {
	if err := batch.Validate(); err != nil {
		return err
	}
	return batch.ValidateDims(store.DimsOf(append(slices.Clone(wanted), v.All()...)), maxDims)
}

// Missing returns the vector fields of a chunk that v does not have. wanted has the vector fields of the options. If
// wanted has such a field, the result has it with its model, else without a model.
func (v *Vectors) Missing(c *store.Chunk, wanted []store.VectorField) (out []store.VectorField) {
	for _, f := range c.Vectors {
		if v.Get(f.Name).Dims != 0 {
			continue
		}
		field := store.VectorField{Name: f.Name, Dims: len(f.Passages[0])}
		for _, w := range wanted {
			if w.Name == f.Name {
				field = w
			}
		}
		out = append(out, field)
	}
	return out
}
