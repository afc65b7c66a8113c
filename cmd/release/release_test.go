package main

import (
	"bufio"
	"bytes"
	"debug/macho"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestNoticeListsLinkedModules checks that the notice has a license for Go and for each module that
// this test links. The program links these modules and more.
func TestNoticeListsLinkedModules(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	var text bytes.Buffer
	must.Do(t, notice(&text))
	parts := strings.Split(text.String(), "\n## ")[1:]
	check.That(t, strings.Contains(parts[0], "The Go Authors"), "the first part is not of Go:\n%.300s", parts[0])
	for _, part := range parts {
		check.That(t, len(part) >= 500, "no license in %q", part)
	}
	info, ok := debug.ReadBuildInfo()
	must.That(t, ok, "this test has no build information")
	for _, m := range info.Deps {
		if !slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(part, m.Path+" "+m.Version+"\n") }) {
			t.Errorf("no part for %s %s", m.Path, m.Version)
		}
	}
}

// TestLicenseIsRequired checks that a module without a license stops the release.
func TestLicenseIsRequired(t *testing.T) {
	err := licenses(bufio.NewWriter(io.Discard), "example.org/m v1.0.0", t.TempDir())
	check.That(t, err != nil && strings.Contains(err.Error(), "example.org/m v1.0.0"),
		"no error that names the module: %v", err)
}

// TestWrongArguments checks the message about a wrong command.
func TestWrongArguments(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "")
	for want, args := range map[string][]string{
		"give notice, or bundle": {"something"},
		"SOURCE_DATE_EPOCH":      {"bundle", "program"},
		"unknown flag":           {"bundle", "program", "--verison", "1"},
	} {
		err := run(args)
		check.That(t, err != nil && strings.Contains(err.Error(), want), "%q: %v, want %q", args, err, want)
	}
}

// TestProgramHasMacOSLoadCommands checks a small program that has the linker flags of .goreleaser.yaml.
// macOS 26 needs the load command LC_UUID, and on arm64 also a signature.
func TestProgramHasMacOSLoadCommands(t *testing.T) {
	settings := must.Get(os.ReadFile(filepath.Join("..", "..", ".goreleaser.yaml")))
	flags := regexp.MustCompile(`-s -w -buildid=\S+ ?\S* ?\S*`).FindString(string(settings))
	must.That(t, flags != "", "no -buildid in .goreleaser.yaml")
	flags = regexp.MustCompile(`\{\{[^}]*\}\}`).ReplaceAllString(strings.SplitAfter(flags, "}}")[0], "x")
	root := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example\n\ngo 1.26\n",
		"main.go": "package main\n\nfunc main() {}\n"} {
		must.Do(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	const uuid, signature = 0x1b, 0x1d
	for arch, want := range map[string][]uint32{"amd64": {uuid}, "arm64": {uuid, signature}} {
		name := filepath.Join(root, "program")
		cmd := exec.Command("go", "build", "-ldflags", flags, "-o", name)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOOS=darwin", "GOARCH="+arch, "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		must.That(t, err == nil, "%v\n%s", err, out)
		program := must.Get(macho.Open(name))
		defer program.Close()
		has := map[uint32]bool{}
		for _, load := range program.Loads {
			has[program.ByteOrder.Uint32(load.Raw())] = true
		}
		for _, command := range want {
			check.That(t, has[command], "%s: no load command %#x", arch, command)
		}
	}
}

// TestReferencedDocumentsExist checks that doc/ has each page that help and README.md name.
func TestReferencedDocumentsExist(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	files := must.Get(filepath.Glob("cmd/sheaf/*.go"))
	page := regexp.MustCompile(`\bdoc/[a-z/0-9-]+\.md\b`)
	found := 0
	for _, file := range append(files, "README.md") {
		text := must.Get(os.ReadFile(file))
		for _, name := range page.FindAllString(string(text), -1) {
			found++
			_, err := os.Stat(name)
			check.That(t, err == nil, "%s names %s: %v", file, name, err)
		}
	}
	check.That(t, found >= 10, "%d pages are named: this test looks for them in a wrong way", found)
}
