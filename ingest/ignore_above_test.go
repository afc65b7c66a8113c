package ingest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestIgnoreRulesWithStarsAbove checks rules above the indexed folder: each folder, indexed alone,
// has the documents that git lists there.
func TestIgnoreRulesWithStarsAbove(t *testing.T) {
	root := filesOf(t, map[string]string{
		".git/HEAD": "ref\n", ".git/info/exclude": "/deep/**/excluded.md\n",
		".gitignore": "**/bar/*\n/deep/*/two/hid.md\ndeep/**/gone.md\n/d[e]ep/on?/class.md\n/ä*/x.md\n" +
			"deep/one/**/tmp/\n/deep/one/plain.md\n",
		"deep/.gitignore": "*/two/inner.md\n!one/two/back.md\n", ".sheafignore": "deep/*/own.md\n/deep/**/back.md\n",
		"foo/bar/out.md": "a\n", "foo/bar/baz/out.md": "a\n", "foo/in.md": "a\n", "ä1/x.md": "a\n", "ä1/y.md": "a\n",
		"deep/one/two/hid.md": "a\n", "deep/one/two/inner.md": "a\n", "deep/one/gone.md": "a\n",
		"deep/one/two/gone.md": "a\n",
		"deep/one/class.md":    "a\n", "deep/one/excluded.md": "a\n", "deep/one/own.md": "a\n", "deep/one/plain.md": "a\n",
		"deep/one/in.md": "a\n", "deep/one/two/in.md": "a\n", "deep/one/two/tmp/t.md": "a\n", "deep/one/two/back.md": "a\n",
		"deep/one/hid.md": "a\n",
	})
	for top, want := range map[string][]string{
		"":             {"deep/one/hid.md", "deep/one/in.md", "deep/one/two/in.md", "foo/in.md", "ä1/y.md"},
		"deep":         {"one/hid.md", "one/in.md", "one/two/in.md"},
		"deep/one":     {"hid.md", "in.md", "two/in.md"},
		"deep/one/two": {"in.md"},
		"foo/bar":      nil,
		"foo":          {"in.md"},
		"ä1":           {"y.md"},
	} {
		if got := found(t, filepath.Join(root, filepath.FromSlash(top))); !slices.Equal(got, want) {
			t.Errorf("in %q found %q, want %q", top, got, want)
		}
	}
}

// TestManyIgnoreRulesWithStars checks that 10,000 rules with stars above a folder of 300 files take little time.
func TestManyIgnoreRulesWithStars(t *testing.T) {
	var rules strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&rules, "**/*a*b*c*/**/n*%d.md\n", i)
	}
	files := map[string]string{".git/HEAD": "ref\n", ".gitignore": rules.String()}
	for i := range 300 {
		files[fmt.Sprintf("top/abc/deep/%d.md", i)] = "a\n"
	}
	files["top/abc/deep/n77.md"] = "a\n"
	root := filesOf(t, files)
	began := time.Now()
	w, err := NewWalk(t.Context(), filepath.Join(root, "top"), WalkOptions{})
	must(t, err)
	if took := time.Since(began); len(w.files) != 300 || w.ignored != 1 || took > 20*time.Second {
		t.Errorf("found %d files, ignored %d, in %v", len(w.files), w.ignored, took)
	}
}
