package profile_test

import (
	"strings"
	"testing"

	"sheaf/profile"
)

// TestShowRounds: computed numbers are shown as a person would write them.
func TestShowRounds(t *testing.T) {
	p, err := profile.Load(profile.Default, profile.Builtin)
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.Show(10, map[string]string{"meaning": "0.82"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "weight 0.18\n") {
		t.Errorf("1 - 0.82 is shown as:\n%s", text)
	}
}
