package api_test

import (
	"strings"
	"testing"
)

// TestDrawRefusals: over HTTP a wrong draw is refused in the words of the command, and a
// seed may have 20 digits.
func TestDrawRefusals(t *testing.T) {
	s := start(t, notes, nil)
	for sort, want := range map[string]string{"-random": "a draw has no direction", "random:x": "the seed must be a whole number", "random:18446744073709551616": "the seed must be a whole number of 0..18446744073709551615"} {
		if res, body := s.ask(t, "GET", "/v1/search?sort="+sort, ""); res.StatusCode != 422 || !strings.Contains(string(body), want) {
			t.Errorf("%s: %d %s", sort, res.StatusCode, body)
		}
	}
	if res, body := s.ask(t, "GET", "/v1/search?sort=random:18446744073709551615", ""); res.StatusCode != 200 {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}
