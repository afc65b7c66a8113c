package check_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"sheaf/internal/check"
)

// reported is a test that records its errors.
type reported struct{ list []string }

func (*reported) Helper() {}

func (r *reported) Errorf(format string, args ...any) {
	r.list = append(r.list, fmt.Sprintf(format, args...))
}

func TestChecksReportDifferences(t *testing.T) {
	r := &reported{}
	check.Equal(r, 1, 1, "same")
	check.Equal(r, 1, 2, "number %d", 7)
	check.Equal(r, "a", "b ", "text")
	check.List(r, nil, []string{}, "both empty")
	check.List(r, []string{"a"}, nil, "list")
	check.Is(r, fmt.Errorf("read: %w", io.EOF), io.EOF, "wrapped")
	check.Is(r, nil, io.EOF, "error")
	check.Fails(r, fmt.Errorf("read: %w", io.EOF), io.EOF, "read", "named")
	check.Fails(r, io.EOF, io.EOF, "read", "file %d", 1)
	check.That(r, true, "held")
	check.That(r, false, "part %d", 9)
	check.Contains(r, "ab", "a", "c", "b")
	check.Lacks(r, []byte("ab"), "a", "c")
	check.NoError(r, nil, "none")
	check.NoError(r, errors.New("full"), "disk %s", "c")
	want := []string{"number 7: got 1, want 2", `text: got "a", want "b "`, "list: got [a], want []",
		"error: got the error <nil>, want EOF", `file 1: got the error EOF, want EOF with "read"`, "part 9",
		"no \"c\" in:\nab", "\"a\" in:\nab", "disk c: full"}
	if !slices.Equal(r.list, want) {
		t.Errorf("got %q, want %q", r.list, want)
	}
}
