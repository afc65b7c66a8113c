package ingest

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHostilePatterns checks that patterns with many stars end soon. Naive backtracking would take
// too long for each of them.
func TestHostilePatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{strings.Repeat("*a", 40) + "b", strings.Repeat("a", 200), false},
		{strings.Repeat("*a", 40), strings.Repeat("a", 200), true},
		{strings.Repeat("**/", 40) + "x", strings.Repeat("a/", 100) + "y", false},
		{strings.Repeat("**/*a", 20) + "b", strings.Repeat("a/", 100) + "a", false},
		{strings.Repeat("a/**/", 20) + "b", strings.Repeat("a/", 100) + "c", false},
		{strings.Repeat("?*", 60) + "/", strings.Repeat("z", 150), false},
	} {
		if got := patternOf(c.pattern).MatchString(c.s); got != c.want {
			t.Errorf("%.30s...: %v", c.pattern, got)
		}
	}
}

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
	must(t, os.Mkdir(filepath.Join(dir, "a"), 0o755))
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
		must(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(rules[0]), 0o644))
		must(t, os.WriteFile(filepath.Join(dir, "a", ".gitignore"), []byte(rules[1]), 0o644))
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
			if got != want {
				t.Errorf("round %d of seed %d: rules %q, path %q: %v, git says %v", round, seed, rules, p, got, want)
			}
		}
	}
}
