package ingest

import (
	"fmt"
	"os"
	"os/exec"
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
		w, err := NewWalk(t.Context(), filepath.Join(root, filepath.FromSlash(top)), WalkOptions{})
		must(t, err)
		var got []string
		for _, f := range w.files {
			got = append(got, f.Path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("in %q found %q, want %q", top, got, want)
		}
	}
}

// TestIgnoreRulesAboveAsGit compares the rules of a fault report with git.
func TestIgnoreRulesAboveAsGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("TestIgnoreRulesAboveAsGit: no git here to compare with")
	}
	root := filesOf(t, map[string]string{
		".gitignore": "**/bar/*\n/deep/*/two/hid.md\ndeep/**/gone.md\n!/deep/one/[x-z]*.md\nfoo/**/*.md\n" +
			"**/d?ep/**/q.md\n",
		"foo/bar/out.md": "a\n", "foo/a.md": "a\n", "deep/one/two/hid.md": "a\n", "deep/one/gone.md": "a\n",
		"deep/one/in.md":    "a\n",
		"deep/one/xgone.md": "a\n", "deep/one/two/q.md": "a\n", "foo/bar/deep/q.md": "a\n", "deep/bar/x.md": "a\n",
	})
	git := func(dir string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return string(out)
	}
	git(root, "init", "-q", ".")
	for _, top := range []string{".", "foo", "foo/bar", "foo/bar/deep", "deep", "deep/one", "deep/one/two", "deep/bar"} {
		dir := filepath.Join(root, filepath.FromSlash(top))
		w, err := NewWalk(t.Context(), dir, WalkOptions{})
		must(t, err)
		var got, want []string
		for _, f := range w.files {
			got = append(got, f.Path)
		}
		for path := range strings.FieldsSeq(git(dir, "ls-files", "-o", "--exclude-standard", ".")) {
			if strings.HasSuffix(path, ".md") {
				want = append(want, path)
			}
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("in %q found %q, git %q", top, got, want)
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
