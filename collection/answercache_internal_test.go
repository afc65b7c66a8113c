package collection

import (
	"strings"
	"testing"

	"sheaf"
	"sheaf/search"
)

// TestAnswersAreBounded checks that the cache keeps its byte limit, but always the last answer with a cursor.
func TestAnswersAreBounded(t *testing.T) {
	s := newAnswers(1 << 20)
	sized := func(bytes int) *answer {
		hits := []search.Hit{{Explanation: &sheaf.Explanation{Label: strings.Repeat("x", bytes)}}}
		return &answer{key: randomKey(), result: &search.Result{Hits: hits}}
	}
	known := func(a *answer) bool { return s.lookUp(a.key.cursor()) == a }
	huge := sized(2 << 20)
	if s.put(huge, false); known(huge) {
		t.Error("an answer larger than the bound is in the cache")
	}
	if s.put(huge, true); !known(huge) || s.state().Entries != 1 {
		t.Errorf("an answer larger than the bound has no cursor: %+v", s.state())
	}
	last := sized(1)
	if s.put(last, true); !known(last) || known(huge) || s.state().Bytes != last.bytes() {
		t.Errorf("after it: %+v", s.state())
	}
}
