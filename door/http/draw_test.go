package http_test

import (
	"strings"
	"testing"

	"sheaf/collection"
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

// TestDrawPages: the pages of a draw are asked for as those of any search, with what the search
// was asked for: nobody but the server knows the seed. Another draw is another search.
func TestDrawPages(t *testing.T) {
	s := start(t, notes, nil)
	var first, second collection.Answer
	s.get(t, "GET", "/v1/search?sort=random&limit=1", "", &first)
	s.get(t, "GET", "/v1/search?sort=random&limit=1&cursor="+first.Next, "", &second)
	if len(first.Results) != 1 || len(second.Results) != 1 || first.Results[0].ID == second.Results[0].ID {
		t.Errorf("the first page is %v, the second %v", first.Results, second.Results)
	}
	s.get(t, "GET", "/v1/search?sort=random:7&limit=1", "", &first)
	for _, sort := range []string{"random", "random:8", "path"} {
		if res, body := s.ask(t, "GET", "/v1/search?sort="+sort+"&cursor="+first.Next, ""); res.StatusCode != 409 {
			t.Errorf("%s: %d %s", sort, res.StatusCode, body)
		}
	}
}
