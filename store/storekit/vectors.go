package storekit

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"sheaf"
	"sheaf/store"
)

// Vectors are the vector fields that an open store has. It is safe for concurrent use.
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

// Get returns a field; the zero VectorField when there is none.
func (v *Vectors) Get(name string) store.VectorField {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.fields[name]
}

// Has reports whether the field of a request has vectors. It fails with sheaf.ErrInvalid when they
// have other dimensions than the request's.
func (v *Vectors) Has(req *store.VectorRequest) (bool, error) {
	f := v.Get(req.Field)
	if f.Dims != 0 && f.Dims != len(req.Vector) {
		return true, sheaf.Invalidf("request: the vector has %d dimensions, field %q has %d", len(req.Vector), req.Field,
			f.Dims)
	}
	return f.Dims != 0, nil
}

// Check fails with sheaf.ErrInvalid for a batch that cannot be written beside these fields. wanted
// are the fields of the options.
func (v *Vectors) Check(batch *store.Batch, wanted []store.VectorField, maxDims int) error {
	if err := batch.Validate(); err != nil {
		return err
	}
	return batch.ValidateDims(store.DimsOf(append(slices.Clone(wanted), v.All()...)), maxDims)
}

// Missing returns the fields of a chunk that are missing here. wanted are the fields of the
// options, which name their models.
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
