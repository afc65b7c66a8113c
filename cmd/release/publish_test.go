package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestPublishAs checks scripts/publish-as.sh in a small module that is built like this one.
func TestPublishAs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("publish-as.sh needs a shell")
	}
	script := must.Get(os.ReadFile(filepath.Join("..", "..", "scripts", "publish-as.sh")))
	dir := t.TempDir()
	lines := func(page, part string) string { // the lines of a page of this repository that the script must change
		var found string
		for line := range strings.Lines(string(must.Get(os.ReadFile(filepath.Join("..", "..", page))))) {
			if strings.Contains(line, part) {
				found += line
			}
		}
		return found
	}
	for name, text := range map[string]string{
		"go.mod":       "module sheaf\n\ngo 1.26.0\n",
		"bench/go.mod": "module sheaf/bench\n\nrequire (\n\tsheaf v0.0.0\n)\n\nreplace sheaf => ..\n",
		"a.go":         "package sheaf\n\nconst Name = \"sheaf/a\"\n",
		"b/b.go": "package b\n\nimport (\n\t\"os\"\n\n\t\"sheaf\"\n)\n\n" +
			"var B = sheaf.Name + os.DevNull\n",
		"c/c.go":                         "package c\n\nimport \"sheaf/b\"\n\nvar C = b.B\n",
		"internal/lint/layering_test.go": "package lint\n\nconst module = \"sheaf\"\n",
		"README.md":                      lines("README.md", "git clone"),
		"doc/getting-started.md":         lines("doc/getting-started.md", "git clone"),
		"doc/go-library.md":              lines("doc/go-library.md", "sheaf"),
		"collection/collection.go": "package collection\n\n" +
			lines("collection/collection.go", "go mod edit"),
		"scripts/publish-as.sh": string(script),
	} {
		name = filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(t, os.WriteFile(name, []byte(text), 0o644))
	}
	run := func(name string, args ...string) (string, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=t",
			"GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.org",
			"GOWORK=off", "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-qm", "first"}} {
		out, err := run("git", args...)
		must.That(t, err == nil, "%v %v", out, err)
	}
	refused := func(want string, args ...string) {
		t.Helper()
		out, err := run("sh", append([]string{"scripts/publish-as.sh"}, args...)...)
		check.That(t, err != nil && strings.Contains(out, want), "%v: %v, %q, want %q", args, err, out, want)
	}
	refused("give exactly one argument")
	refused("give exactly one argument", "example.org/a/b", "c")
	refused("is not a module path", "sheaf2")
	refused("is not a module path", "example.org/a b")
	refused("is not a module path", "https://example.org/a")
	must.Do(t, os.WriteFile(filepath.Join(dir, "new.go"), []byte("package sheaf\n"), 0o644))
	refused("not committed", "example.org/you/sheaf")
	must.Do(t, os.Remove(filepath.Join(dir, "new.go")))

	for _, module := range []string{"example.org/you/sheaf", "example.com/team/search"} {
		if out, err := run("sh", "scripts/publish-as.sh", module); err != nil {
			t.Fatal(out, err)
		}
		refused("is called "+module+" already", module)
		for name, want := range map[string]string{
			"go.mod": "module " + module + "\n",
			"bench/go.mod": "module " + module + "/bench\n\nrequire (\n\t" + module + " v0.0.0\n)\n\n" +
				"replace " + module + " =>",
			"a.go":                           "\"sheaf/a\"",
			"b/b.go":                         "\t\"" + module + "\"\n",
			"c/c.go":                         "import \"" + module + "/b\"",
			"internal/lint/layering_test.go": "const module = \"" + module + "\"",
			"README.md":                      "git clone https://" + module + " sheaf && cd sheaf\n",
			"doc/getting-started.md":         "git clone https://" + module + " sheaf && cd sheaf\n",
			"doc/go-library.md":              "\t\"" + module + "/collection\"\n",
		} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			check.That(t, err == nil && strings.Contains(string(text), want), "%s: %v, %q, want %q", name, err, text, want)
		}
		text := string(must.Get(os.ReadFile(filepath.Join(dir, "doc", "go-library.md"))))
		check.Contains(t, text, "The module is called `"+module+"`.",
			"go mod edit -require "+module+"@v0.0.0 -replace "+module+"=../sheaf\n",
			"`go doc "+module+"/collection`")
		out, err := run("git", "status", "--porcelain")
		check.That(t, err == nil && out == "", "%v, %q", err, out)
	}
}
