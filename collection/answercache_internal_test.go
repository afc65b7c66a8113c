package collection

import (
	"testing"

	"sheaf"
	"sheaf/search"
)

// explained returns an answer with hits that have explanations of parts parts.
func explained(hits, parts int) *answer {
	list := make([]search.Hit, hits)
	for i := range list {
		list[i].Explanation = &sheaf.Explanation{Parts: make([]sheaf.Explanation, parts)}
	}
	return &answer{key: randomKey(), result: &search.Result{Hits: list}}
}

// TestAnswersAreBounded checks that the cache keeps its byte limit, but always the last answer with a cursor.
func TestAnswersAreBounded(t *testing.T) {
	s := newAnswers(8 << 20)
	known := func(a *answer) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.lookUp(a.key.cursor()) == a
	}
	first := explained(10, 1000)
	s.put(first, false)
	for range 20 {
		s.put(explained(10, 1000), false)
		if n := s.state(); n.Bytes > s.limit || n.Entries < 2 {
			t.Fatalf("%+v, want at most %d bytes", n, s.limit)
		}
	}
	if known(first) {
		t.Error("the first of 21 answers is remembered")
	}
	huge := explained(1000, 1000)
	if s.put(huge, false); known(huge) {
		t.Error("an answer larger than the bound is remembered")
	}
	if s.put(huge, true); !known(huge) || s.state().Entries != 1 {
		t.Errorf("an answer larger than the bound has no cursor: %+v", s.state())
	}
	last := explained(1, 1)
	if s.put(last, true); !known(last) || known(huge) || s.state().Bytes != last.bytes() {
		t.Errorf("after it: %+v", s.state())
	}
	last.keepShown(map[int]*Result{0: {Snippet: "a longer text"}})
	if s.grow(last); s.state().Bytes != last.bytes() || last.shownBefore(0) == nil {
		t.Errorf("with what was shown: %+v, want %d bytes", s.state(), last.bytes())
	}
}
