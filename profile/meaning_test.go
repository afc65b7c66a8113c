package profile_test

import (
	"math"
	"testing"

	"sheaf/profile"
)

// TestMeaningAlone checks that meaning 1 searches only by meaning, and meaning 0 only by words.
func TestMeaningAlone(t *testing.T) {
	p := must(profile.Load("sheaf", nil))
	for _, c := range []struct {
		meaning        string
		words, vectors float64
	}{{"1", 0, 1}, {"0.5", 0.5, 0.5}, {"0", 1, 0}} {
		plan, err := p.Plan(10, map[string]string{"meaning": c.meaning})
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if b := plan.Main.Branches; math.Abs(b[0].Weight-c.words) > 1e-9 || math.Abs(b[1].Weight-c.vectors) > 1e-9 {
			t.Errorf("%+v: weights %v and %v", c, b[0].Weight, b[1].Weight)
		}
	}
}
