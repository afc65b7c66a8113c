package profile_test

import (
	"strings"
	"testing"

	"sheaf/profile"
)

// TestShowRounds checks that computed numbers are shown without rounding errors.
func TestShowRounds(t *testing.T) {
	p := must(profile.Load(profile.Default, profile.Builtin))
	text := must(p.Show(10, map[string]string{"meaning": "0.82"}))
	if !strings.Contains(text, "weight 0.18\n") {
		t.Errorf("1 - 0.82 is shown as:\n%s", text)
	}
}
