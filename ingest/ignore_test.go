package ingest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestIgnoresAsGitDoes compares random rules, at the top and in a folder, and random paths with git.
// The paths have only ASCII letters, because git matches bytes and this package matches characters.
func TestIgnoresAsGitDoes(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("TestIgnoresAsGitDoes: no git here to compare with")
	}
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, 1))
	pick := func(from ...string) string { return from[rng.IntN(len(from))] }
	some := func(most int, from ...string) string {
		out := ""
		for range 1 + rng.IntN(most) {
			out += pick(from...)
		}
		return out
	}
	dir := t.TempDir()
	git := func(in string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_DIR="+
			filepath.Join(dir, ".git"), "GIT_WORK_TREE="+dir)
		out, err := cmd.Output()
		if code := cmd.ProcessState.ExitCode(); err != nil && code != 1 { // exit status 1 means that no path is ignored
			t.Fatalf("git %q: %v", args, err)
		}
		return string(out)
	}
	git("", "init", "-q", ".")
	must.Do(t, os.Mkdir(filepath.Join(dir, "a"), 0o755))
	random := func(rules string) string {
		for range 1 + rng.IntN(4) {
			rules += pick("", "", "", "!", "/", "\\!", "\\#", "#") +
				some(5, "a", "b", "ab", "c.md", "*", "**", "?", "/", "/**/", "**/", "[ab]", "[!a]", "[a-c]", "[^b]", "[]a]",
					"[[:alpha:]]", "\\*", "\\/", "**\\/", "\\a", ".", " ", "\\ ", "é", "[", "]", "{a,b}") +
				pick("", "", "/", "/**", " ", "\\ ", "\r") + "\n"
		}
		return rules
	}
	for round := range 200 {
		rules := [2]string{random(""), random("")}
		must.Do(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(rules[0]), 0o644))
		must.Do(t, os.WriteFile(filepath.Join(dir, "a", ".gitignore"), []byte(rules[1]), 0o644))
		var paths []string
		for range 60 {
			paths = append(paths, strings.Trim(path.Clean(some(6, "a", "b", "ab", "c.md", "/", ".", " ", "[", "*")), "/"))
		}
		paths = slices.DeleteFunc(paths, func(p string) bool { return p == "" || strings.HasPrefix(p, "..") || p == "." })
		ignored := map[string]bool{}
		for line := range strings.SplitSeq(git(strings.Join(paths, "\x00"), "check-ignore", "--no-index", "-z", "--stdin"),
			"\x00") {
			ignored[line] = true
		}
		files := []ignoreFile{parseIgnore("", ".gitignore", rules[0]), parseIgnore("a/", "a/.gitignore", rules[1])}
		for _, p := range paths {
			want := ignored[p]
			got := false
			for at := range len(p) + 1 { // an ignored folder holds only ignored files
				if at < len(p) && p[at] != '/' || got {
					continue
				}
				_, r := (&walker{}).ignoredBy(files, p[:at], path.Base(p[:at]), at < len(p) || p == "a")
				got = r != nil
			}
			check.Equal(t, got, want, "round %d of seed %d: rules %q, path %q: ignored", round, seed, rules, p)
		}
	}
}

// TestIgnoreFileInUTF16 checks that the rules of a file hold that a shell of Windows wrote.
func TestIgnoreFileInUTF16(t *testing.T) {
	for _, text := range []string{"\xff\xfea\x00\xfc\x00\r\x00\n\x00", "\xfe\xff\x00a\x00\xfc\x00\r\x00\n"} {
		f := parseIgnore("", ".sheafignore", text)
		check.That(t, len(f.rules) == 1 && f.rules[0].pattern == "aü", "%q: %+v", text, f.rules)
	}
}

// TestSettingRules checks patterns of settings as people type them in a shell.
func TestSettingRules(t *testing.T) {
	f := settingRules([]string{"./drafts/", "./*.org", "!./keep.org", "b/./c"})
	ignored := func(p string, isDir bool) bool {
		r := f.verdict(p, path.Base(p), isDir)
		return r != nil && !r.negated
	}
	check.That(t, ignored("drafts", true) && ignored("a.org", false), "a pattern with ./ ignores nothing: %+v", f.rules)
	check.That(t, !ignored("a/drafts", true) && !ignored("a/a.org", false) && !ignored("keep.org", false),
		"a pattern with ./ counts below: %+v", f.rules)
}

// TestIgnoreRulesInAnyComposition checks that rules match names in composed and in decomposed letters.
func TestIgnoreRulesInAnyComposition(t *testing.T) {
	forms := []string{"gr\u00f6\u00dfe/\ud559.md", "gro\u0308\u00dfe/\u1112\u1161\u11a8.md"}
	for _, base := range []string{"", "\u00e9/", "e\u0301/"} {
		for _, rule := range append(forms, "gr\u00f6*/", "gro\u0308*/?.md", "gr?\u00dfe") {
			f := parseIgnore(base, ".sheafignore", rule)
			for _, p := range forms {
				folder := path.Dir(p)
				check.That(t, f.verdict(base+p, path.Base(p), false) != nil || f.verdict(base+folder, folder, true) != nil,
					"the rule %q ignores not %q", rule, base+p)
			}
		}
	}
}

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
		check.List(t, found(t, filepath.Join(root, filepath.FromSlash(top))), want, "files in %q", top)
	}
}

// TestUserExcludes checks the rules of a user for all repositories.
func TestUserExcludes(t *testing.T) {
	home := filesOf(t, map[string]string{
		".config/git/ignore": "*.draft.md\n/top.md\nkept.md\n", "own": "**/secret*.md\n",
		"set/.gitconfig": "[user]\n\tname = Ann\n[core]\n\teditor = vi\n\texcludesFile = ~/mine # all\n[x]\n",
		"set/mine":       "mine.md\n",
	})
	root := filesOf(t, map[string]string{
		".git/HEAD": "ref\n", ".gitignore": "!kept.md\n", "a.md": "a\n", "b.draft.md": "a\n",
		"top.md":    "a\n",
		"in/top.md": "a\n", "kept.md": "a\n", "mine.md": "a\n", "secret1.md": "a\n",
		"inner/.git/HEAD": "ref\n", "inner/c.draft.md": "a\n",
		"inner/top.md": "a\n",
	})
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("HOME", home)
	check.List(t, found(t, root), []string{"a.md", "in/top.md", "kept.md", "mine.md", "secret1.md"}, "by the default file")
	check.List(t, found(t, filepath.Join(root, "in")), []string{"top.md"}, "in a folder of the repository")
	all := []string{"a.md", "b.draft.md", "in/top.md", "inner/c.draft.md", "inner/top.md", "kept.md", "secret1.md",
		"top.md"}
	t.Setenv("HOME", filepath.Join(home, "set"))
	check.List(t, found(t, root), all, "by the settings of the user")
	must.Do(t, os.WriteFile(filepath.Join(root, ".git", "config"), []byte("[core]\nexcludesfile = \""+
		filepath.Join(home, "own")+"\"\n"), 0o644))
	all = slices.DeleteFunc(all, func(name string) bool { return name == "secret1.md" })
	check.List(t, found(t, root), append(all[:5:5], "kept.md", "mine.md", "top.md"), "by the settings of the repository")
}

// TestManyIgnoreRulesWithStars checks that 10,000 rules with stars above a folder of 300 files take little time.
func TestManyIgnoreRulesWithStars(t *testing.T) {
	var rules strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&rules, "**/*a*b*c*/**/n*%d*\n", i)
	}
	files := map[string]string{".git/HEAD": "ref\n", ".gitignore": rules.String()}
	for i := range 300 {
		files[fmt.Sprintf("top/abc/deep/%d.md", i)] = "a\n"
	}
	files["top/abc/deep/n77.md"] = "a\n"
	root := filesOf(t, files)
	began := time.Now()
	w := must.Get(NewWalk(t.Context(), filepath.Join(root, "top"), WalkOptions{}))
	if took := time.Since(began); len(w.files) != 300 || w.ignored != 1 || took > 20*time.Second {
		t.Errorf("found %d files, ignored %d, in %v", len(w.files), w.ignored, took)
	}
}
