package storetest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// Golden compares text with a golden file. If update is true, it first writes text to the file.
func Golden(t testing.TB, path, text string, update bool) {
	t.Helper()
	if update {
		must.Do(t, os.WriteFile(path, []byte(text), 0o666))
	}
	want := must.Get(os.ReadFile(path))
	check.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), text,
		"%s; look at the difference after go test -update", path)
}

// Written formats a ranking for a golden file: IDs, scores, and the numbers of passages other than passage 0.
func Written(r sheaf.Ranking) string {
	var b strings.Builder
	for _, h := range r {
		fmt.Fprintf(&b, " %s %.5g", h.ID, h.Score)
		if h.Passage != 0 {
			fmt.Fprintf(&b, " (passage %d)", h.Passage)
		}
		b.WriteByte(';')
	}
	return b.String()
}
