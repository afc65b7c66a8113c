package profile_test

import (
	"testing"

	"sheaf/internal/check"
	"sheaf/profile"
	"sheaf/rank"
)

// TestNormsOfRuns checks that a fusion of runs has every norm but share, each with the constant of package rank.
func TestNormsOfRuns(t *testing.T) {
	for i, name := range []string{"none", "minmax", "linear", "zscore", "max", "l2", "minmax_opensearch",
		"zscore_opensearch", "share"} {
		fusion, err := profile.NewFusion(map[string]string{"method": "scores", "norm": name}, 10, "--")
		if name == "share" {
			check.That(t, err != nil, "a run has no ideal score, but share is allowed")
			continue
		}
		s, ok := fusion.(rank.Scores)
		check.That(t, err == nil && ok && s.Norm == rank.Norm(i), "%s: %#v, %v, want norm %d", name, fusion, err, i)
	}
}
