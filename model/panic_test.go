package model_test

import (
	"fmt"
	"strings"
	"testing"

	"sheaf/internal/check"
	"sheaf/model"
)

// TestCaught checks that a panic, even of the runtime, becomes an error with the model's name and
// the position. Normal results and errors stay.
func TestCaught(t *testing.T) {
	call := func(f func() error) (err error) {
		defer model.Caught("own", &err)
		return f()
	}
	var words map[string]int
	var counted []int
	for want, f := range map[string]func() error{
		"model own panicked: no reply (panic_test.go:":                      func() error { panic("no reply") },
		"model own panicked: assignment to entry in nil map (panic_test.go": func() error { words["a"]++; return nil },
		"model own panicked: runtime error: index out of range": func() error {
			counted[len(words)]++
			return nil
		},
		"away":  func() error { return fmt.Errorf("away") },
		"<nil>": func() error { return nil },
	} {
		said := fmt.Sprint(call(f))
		check.That(t, strings.HasPrefix(said, want) && (!strings.Contains(want, "runtime") ||
			strings.Contains(said, "(panic_test.go:")), "%q, want %q", said, want)
	}
}
