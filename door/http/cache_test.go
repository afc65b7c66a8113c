package http_test

import (
	"slices"
	"strings"
	"testing"

	"sheaf/collection"
)

// TestCachedAnswers checks that cached answers are reported and counted, and new notes found at once.
func TestCachedAnswers(t *testing.T) {
	s := start(t, notes, nil)
	const path = "/v1/search?query=undo"
	var first, second collection.Answer
	if steps := timed(t, s.get(t, "GET", path, "", &first)); slices.Contains(steps, "cache") ||
		!slices.Contains(steps, "fuse") {
		t.Errorf("steps of a search: %v", steps)
	}
	if steps := timed(t, s.get(t, "GET", path, "", &second)); !slices.Equal(steps, []string{"cache", "show", "total"}) {
		t.Errorf("steps of the same search again: %v", steps)
	}
	if len(first.Results) != len(second.Results) || first.Results[0].Snippet != second.Results[0].Snippet {
		t.Errorf("an answer and the one remembered: %+v, %+v", first, second)
	}
	_, body := s.ask(t, "GET", "/metrics", "")
	for _, want := range []string{`sheaf_answers_total{from="cache"} 1`, `sheaf_answers_total{from="search"} 1`,
		"sheaf_cache_entries 1"} {
		if !strings.Contains(string(body), want+"\n") {
			t.Errorf("no %s in the metrics:\n%s", want, body)
		}
	}
	s.fixture.Write(t, "svn.md", "# Undo undo undo\n\nUndo with revert, undo.\n")
	s.fixture.Index(t)
	var third collection.Answer
	s.get(t, "GET", path, "", &third)
	if !slices.ContainsFunc(third.Results, func(r collection.Result) bool { return r.Path == "svn.md" }) {
		t.Errorf("a saved note is not found: %+v", third.Results)
	}
}
