package ingest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestWalkIsUsedOnce checks that a run uses the given walk once and makes its own walk for the next plan.
func TestWalkIsUsedOnce(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	w.write("a.md", "alpha\n")
	w.o.Walked = must.Get(ingest.NewWalk(ctx, w.root, w.o.Walk))
	w.write("b.md", "alpha\n")
	check.Equal(t, w.run().Added, 1, "added documents of the earlier walk")
	w.o.Walked = nil
	r := w.run()
	check.That(t, r.Added == 1 && r.Unchanged == 1, "%+v", r)
	_, err := ingest.NewWalk(ctx, w.root+"/none", w.o.Walk)
	check.That(t, err != nil, "a folder that does not exist is no error")
}

// TestSample checks that a sample holds decoded text of documents of all folders, with a limited size.
func TestSample(t *testing.T) {
	w := newWorld(t)
	w.write("binary.md", strings.Repeat("\x00\x01", 5000))
	w.write("ignored.md", "never")
	w.write(".gitignore", "ignored.md")
	w.write("wide.md", "\xff\xfew\x00i\x00d\x00e\x00")
	w.write("bad.md", "one\xfftwo")
	sample := func(n, size int) string {
		walk := must.Get(ingest.NewWalk(context.Background(), w.root, w.o.Walk))
		return walk.Sample(n, size)
	}
	check.Equal(t, sample(10, 100), "oneÿtwo\nwide\n", "sample")
	check.Equal(t, sample(0, 100)+sample(10, 0), "\n\n", "nothing was asked for")
	for i := range 100 {
		w.write(fmt.Sprintf("d%d/n.md", i), strings.Repeat(fmt.Sprintf("é%d ", i), 9000))
	}
	got := sample(7, 1001)
	parts := map[string]bool{} // the first digit of the folder
	for line := range strings.SplitSeq(strings.TrimSuffix(got, "\n"), "\n") {
		parts[line[:min(3, len(line))]] = true
	}
	check.That(t, strings.Count(got, "\n") <= 7 && len(got) <= 7*1010 && utf8.ValidString(got) && len(parts) >= 6,
		"%d lines, %d bytes, of %v", strings.Count(got, "\n"), len(got), parts)
}

// TestBase64DataHasNoLanguage checks that pictures as base64 text have no part in the sample.
func TestBase64DataHasNoLanguage(t *testing.T) {
	w := newWorld(t)
	w.write("a.md", "The port is grey. ![r](data:image/png;base64,"+strings.Repeat("vW7dieUnd", 5000)+")\n")
	walk := must.Get(ingest.NewWalk(t.Context(), w.root, w.o.Walk))
	text := walk.LanguageSample()
	check.That(t, strings.Contains(text, "grey") && !strings.Contains(text, "die"), "%.200q", text)
}
