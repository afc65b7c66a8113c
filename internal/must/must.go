// Package must ends a test at an error. Only tests use it.
package must

import (
	"fmt"
	"testing"
)

// T is a running test: a *testing.T, a *testing.B or a *rapid.T.
type T interface {
	Helper()
	Fatal(args ...any)
}

// Get returns v. If err is not nil, it panics, which ends the test program and prints the line of the caller.
func Get[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// Do ends the test if err is not nil.
func Do(t T, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Err returns the error of a call, and drops the result of the call.
func Err[V any](_ V, err error) error { return err }

// That ends the test with the text of format and args if holds is false.
func That(t T, holds bool, format string, args ...any) {
	if !holds {
		t.Helper()
		t.Fatal(fmt.Sprintf(format, args...))
	}
}

// Equal ends the test if got is not want. The text of the error begins with the formatted args.
func Equal[V comparable](t T, got, want V, format string, args ...any) {
	if got != want {
		t.Helper()
		t.Fatal(fmt.Sprintf(format, args...)+": got", got, "want", want)
	}
}

// Whole skips the test in a short run. The parameter reason says why the test takes long. The script test.sh runs the
// short tests with the race detector, and then the skipped tests without it.
func Whole(t *testing.T, reason string) {
	if testing.Short() {
		t.Helper()
		t.Skip(reason)
	}
}
