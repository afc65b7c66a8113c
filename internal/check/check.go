// Package check compares results in tests. After a difference, the test goes on. Only tests use this package.
package check

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// T is a running test: a *testing.T, a *testing.B or a *rapid.T.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// That reports the text of format and args as an error if holds is false.
func That(t T, holds bool, format string, args ...any) {
	if !holds {
		t.Helper()
		t.Errorf(format, args...)
	}
}

// Equal reports an error if got is not want. The text of the error begins with the formatted args.
func Equal[V comparable](t T, got, want V, format string, args ...any) {
	if got != want {
		t.Helper()
		t.Errorf("%s: got %s, want %s", fmt.Sprintf(format, args...), shown(got), shown(want))
	}
}

// List reports an error if a list has other elements than want, or has them in another order.
func List[V comparable](t T, got, want []V, format string, args ...any) {
	if !slices.Equal(got, want) {
		t.Helper()
		t.Errorf("%s: got %v, want %v", fmt.Sprintf(format, args...), got, want)
	}
}

// Contains reports an error for each part that does not occur in text.
func Contains[S ~string | ~[]byte](t T, text S, parts ...string) {
	t.Helper()
	for _, part := range parts {
		That(t, strings.Contains(string(text), part), "no %q in:\n%s", part, text)
	}
}

// Lacks reports an error for each part that occurs in text.
func Lacks[S ~string | ~[]byte](t T, text S, parts ...string) {
	t.Helper()
	for _, part := range parts {
		That(t, !strings.Contains(string(text), part), "%q in:\n%s", part, text)
	}
}

// Is reports an error if err does not wrap want.
func Is(t T, err, want error, format string, args ...any) {
	if !errors.Is(err, want) {
		t.Helper()
		t.Errorf("%s: got the error %v, want %v", fmt.Sprintf(format, args...), err, want)
	}
}

// Fails reports an error if err does not wrap want, or if the text of err does not contain part.
func Fails(t T, err, want error, part, format string, args ...any) {
	if !errors.Is(err, want) || err != nil && !strings.Contains(err.Error(), part) {
		t.Helper()
		t.Errorf("%s: got the error %v, want %v with %q", fmt.Sprintf(format, args...), err, want, part)
	}
}

// NoError reports an error if err is not nil.
func NoError(t T, err error, format string, args ...any) {
	if err != nil {
		t.Helper()
		t.Errorf("%s: %v", fmt.Sprintf(format, args...), err)
	}
}

// shown formats a value for people. It quotes a text of one line, so that white space is visible.
func shown(v any) string {
	text := fmt.Sprint(v)
	if reflect.ValueOf(v).Kind() == reflect.String && !strings.Contains(text, "\n") {
		return strconv.Quote(text)
	}
	return text
}
