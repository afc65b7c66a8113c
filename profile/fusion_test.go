package profile_test

import (
	"errors"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/profile"
	"sheaf/rank"
)

func TestNewFusion(t *testing.T) {
	f, err := profile.NewFusion(map[string]string{"method": "rrf", "k": "10"}, 10, "")
	check.That(t, err == nil && f == (rank.RRF{K: 10}), "got %+v, %v", f, err)
	byLimit := map[string]string{"method": "rrf", "k": "2 * limit"}
	f, err = profile.NewFusion(byLimit, 30, "")
	check.That(t, err == nil && f == (rank.RRF{K: 60}), "k by limit: %+v, %v", f, err)
	_, err = profile.NewFusion(byLimit, 0, "--")
	check.That(t, errors.Is(err, sheaf.ErrInvalid) && strings.Contains(err.Error(),
		"--k: fuse.k counts on limit, which is 0"), "k by no limit: %v", err)
	for _, set := range []map[string]string{{"method": "rrf", "k": "0"}, {"method": "sum"}, {}, {"k": "10"},
		// These settings have no effect, because rankings of other systems lack the data.
		{"method": "scores", "norm": "share"}, {"method": "scores", "complete": "true"},
		{"method": "rrf", "push_down": "always"}, {"method": "scores", "direct": "true"}} {
		check.Is(t, must.Err(profile.NewFusion(set, 10, "")), sheaf.ErrInvalid, "%v", set)
	}
}
