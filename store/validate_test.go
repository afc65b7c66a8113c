package store_test

import (
	"errors"
	"math"
	"testing"

	"sheaf"
	"sheaf/store"
)

// TestValidateVector checks that a vector may have finite numbers of any size, and no others.
func TestValidateVector(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want error
	}{
		{0, nil}, {math.Copysign(0, -1), nil}, {math.MaxFloat32, nil}, {-math.MaxFloat32, nil},
		{math.SmallestNonzeroFloat32, nil},
		{math.NaN(), sheaf.ErrInvalid}, {math.Inf(1), sheaf.ErrInvalid}, {math.Inf(-1), sheaf.ErrInvalid},
	} {
		req := store.Request{Limit: 1, Vector: &store.VectorRequest{Field: "body", Vector: []float32{1, float32(c.x), 1}}}
		if err := req.Validate(); !errors.Is(err, c.want) {
			t.Errorf("a component of %v: %v, want %v", c.x, err, c.want)
		}
	}
}
