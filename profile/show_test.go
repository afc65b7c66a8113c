package profile_test

import (
	"strings"
	"testing"

	"sheaf/profile"
)

// TestShowRounds: computed numbers are shown as a person would write them.
func TestShowRounds(t *testing.T) {
	p := must(profile.Load(profile.Default, profile.Builtin))
	text := must(p.Show(10, map[string]string{"meaning": "0.82"}))
	if !strings.Contains(text, "weight 0.18\n") {
		t.Errorf("1 - 0.82 is shown as:\n%s", text)
	}
}
