package hashed_test

import (
	"context"
	"math"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model"
	"sheaf/model/hashed"
)

func TestTextsThatShareWordsAreNear(t *testing.T) {
	v := must.Get(hashed.New(128).Embed(context.Background(), model.Passage,
		[]string{"rotate the token", "the token rotates daily", "bread and butter", "?!"}))
	dot := func(a, b []float32) (sum float64) {
		for i := range a {
			sum += float64(a[i]) * float64(b[i])
		}
		return sum
	}
	if near, far := dot(v[0], v[1]), dot(v[0], v[2]); near < 0.4 || far > 0.3 {
		t.Errorf("similar texts are at %v, others at %v", near, far)
	}
	check.That(t, math.Abs(dot(v[0], v[0])-1) <= 1e-6 && v[3] == nil, "length %v; a text without words has %v",
		dot(v[0], v[0]), v[3])
}
