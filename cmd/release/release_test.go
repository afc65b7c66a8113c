package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"debug/macho"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var day = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func testFiles() []file {
	return []file{{name: "usr/share/doc/sheaf/README.md", content: []byte("odd")},
		{name: "usr/bin/sheaf", content: []byte("program"), program: true}}
}

func testDeb(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := writeDeb(&b, "1.2.3", "amd64", testFiles(), day); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// dpkg-deb reads the package as one of its own.
func TestDebianReadsThePackage(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("no dpkg-deb: the package is not read")
	}
	name := filepath.Join(t.TempDir(), "sheaf.deb")
	if err := os.WriteFile(name, testDeb(t), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("dpkg-deb", "--field", name, "Package", "Version", "Architecture").CombinedOutput()
	if want := "Package: sheaf\nVersion: 1.2.3\nArchitecture: amd64\n"; err != nil || string(out) != want {
		t.Errorf("fields: %v\n%s\nwant\n%s", err, out, want)
	}
	to := t.TempDir()
	if out, err := exec.Command("dpkg-deb", "--extract", name, to).CombinedOutput(); err != nil {
		t.Fatalf("extract: %v\n%s", err, out)
	}
	for _, f := range testFiles() {
		path := filepath.Join(to, f.name)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != os.FileMode(f.mode()) || !info.ModTime().Equal(day) {
			t.Errorf("%s: mode %o, time %v", f.name, info.Mode().Perm(), info.ModTime())
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, f.content) {
			t.Errorf("%s: %q, %v", f.name, got, err)
		}
	}
}

func TestPackageIsReproducible(t *testing.T) {
	if !bytes.Equal(testDeb(t), testDeb(t)) {
		t.Error("two packages of the same files differ")
	}
}

// Releases come after what came before them; only "~" sorts before the end.
func TestDebVersion(t *testing.T) {
	for version, want := range map[string]string{
		"1.2.3":                        "1.2.3",
		"1.2.3-rc.1":                   "1.2.3~rc.1",
		"0.0.0-20260102030405-abcdef0": "0.0.0~20260102030405.abcdef0",
		"1.2.3+dirty":                  "1.2.3+dirty",
	} {
		if got := debVersion(version); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
}

// Debian wants to know whose the program is since when.
func TestDebianCopyrightHasYear(t *testing.T) {
	name, content, err := inDebian("LICENSE", nil, day)
	if err != nil || name != "usr/share/doc/sheaf/copyright" ||
		!strings.Contains(string(content), "\nCopyright: 2026 the Sheaf authors\n") {
		t.Errorf("%s, %v\n%s", name, err, content)
	}
}

// Who has a package and no checkout is sent to files that are in the package.
func TestDocumentsComeAlong(t *testing.T) {
	t.Chdir("../..")
	names, err := documents()
	if err != nil {
		t.Fatal(err)
	}
	help, err := filepath.Glob("cmd/sheaf/*.go")
	if err != nil {
		t.Fatal(err)
	}
	sent := regexp.MustCompile(`\bdoc/[a-z/0-9-]+\.md\b`)
	found := 0
	for _, from := range append(help, "README.md") {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range sent.FindAllString(string(text), -1) {
			found++
			if !slices.Contains(names, filepath.FromSlash(name)) {
				t.Errorf("%s sends its readers to %s, which is not in a package", from, name)
			}
		}
	}
	if found < 10 {
		t.Errorf("%d are sent to documents: this test looks for them in another way than they are named", found)
	}
	for _, name := range []string{"doc/json.md", "doc/calibration.svg", "SECURITY.md"} {
		if at, _, err := inDebian(name, nil, day); err != nil || at != "usr/share/doc/sheaf/"+name {
			t.Errorf("%s on Debian: %q, %v", name, at, err)
		}
	}
}

func TestTarHasFilesAsGiven(t *testing.T) {
	var b bytes.Buffer
	if err := writeTarGz(&b, testFiles(), day); err != nil {
		t.Fatal(err)
	}
	zr, err := gzip.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	tr := tar.NewReader(zr)
	for _, f := range testFiles() {
		h, err := tr.Next()
		if err != nil {
			t.Fatal(err)
		}
		if h.Name != f.name || h.Mode != f.mode() || !h.ModTime.Equal(day) || h.Uid != 0 {
			t.Errorf("entry %+v, want %s", h, f.name)
		}
	}
	if _, err := tr.Next(); err != io.EOF {
		t.Errorf("after the last entry: %v", err)
	}
}

// A default would stand above the platform that BuildKit was asked for, and an image
// for arm64 hold the program for amd64. Builders that know no TARGETARCH need one.
func TestImageHoldsTheProgramOfItsPlatform(t *testing.T) {
	dir := t.TempDir()
	if err := makeContainer(source{version: "1.2.3", commit: "ab"}, dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "Containerfile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"ARG TARGETARCH", "COPY bin/linux_${TARGETARCH:-amd64}/sheaf /sheaf"} {
		if !slices.Contains(strings.Split(string(text), "\n"), line) {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

// The bill names what is linked into this test, which is the standard library.
func TestSBOMNamesWhatIsLinked(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	src := source{version: "1.2.3", commit: strings.Repeat("ab", 20), date: day}
	var texts [2][]byte
	for i := range texts {
		name := filepath.Join(t.TempDir(), "sbom.json")
		if err := makeSBOM(t.Context(), src, []string{program, program}, name); err != nil {
			t.Fatal(err)
		}
		if texts[i], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("two bills of one program differ")
	}
	var b bom
	if err := json.Unmarshal(texts[0], &b); err != nil {
		t.Fatal(err)
	}
	if b.Metadata.Timestamp != "2026-01-02T03:04:05Z" || b.Metadata.Component.Version != "1.2.3" {
		t.Errorf("metadata %+v", b.Metadata)
	}
	if len(b.Components) == 0 || !strings.HasPrefix(b.Components[len(b.Components)-1].PURL, "pkg:golang/std@1.") {
		t.Errorf("components %+v", b.Components)
	}
	if std := b.Components[len(b.Components)-1]; !slices.Equal(std.Licenses, licensedBy("BSD-3-Clause")) {
		t.Errorf("the licenses of Go's library are %+v", std.Licenses)
	}
}

// A license is known by its words, however its lines are broken; one that is not known
// stops the release.
func TestLicensesAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"one": {"Apache License\n   Version 2.0, January 2004\n", []string{"Apache-2.0"}},
		"two": {"Permission is hereby granted,\nfree of charge\n\nNeither the\nname of\n",
			[]string{"BSD-3-Clause", "MIT"}},
		"shorter": {"Redistribution and use in source and binary\nforms\n", []string{"BSD-2-Clause"}},
		"another": {"All rights reserved.\n", nil},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "LICENSE.txt"), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := licensesIn(name, dir); !slices.Equal(got, c.want) || (err == nil) != (c.want != nil) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
}

// The notice names each module that is linked into the program, with its terms.
func TestNoticeNamesWhatIsLinked(t *testing.T) {
	program := filepath.Join(t.TempDir(), "sheaf")
	if err := build(t.Context(), source{version: "1.2.3", commit: "ab", date: day}, target{"windows", "amd64"},
		filepath.Join("..", ".."), program); err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	text, err := notice(t.Context(), []string{program})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := notice(t.Context(), []string{program, program}); err != nil || !bytes.Equal(text, again) {
		t.Errorf("two notices of one program differ: %v", err)
	}
	parts := strings.Split(string(text), "\n## ")[1:]
	if len(parts) != len(info.Deps)+1 || !strings.Contains(parts[0], "The Go Authors") {
		t.Errorf("%d parts for Go and %d modules, the first of them\n%.300s", len(parts), len(info.Deps), parts[0])
	}
	for i, m := range info.Deps {
		if part := parts[i+1]; !strings.HasPrefix(part, m.Path+" "+m.Version+"\n") || len(part) < 500 {
			t.Errorf("of %s: %.300s", m.Path, part)
		}
	}
}

// A folder that is not from a release is left alone.
func TestClearLeavesOtherFoldersAlone(t *testing.T) {
	dir := t.TempDir()
	notes := filepath.Join(dir, "notes.md")
	if err := os.WriteFile(notes, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := empty(dir); err == nil {
		t.Error("a folder with other files was emptied")
	}
	if _, err := os.Stat(notes); err != nil {
		t.Error(err)
	}
	own := filepath.Join(dir, "dist")
	for range 2 {
		if err := empty(own); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(own, "old"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestVersionForm(t *testing.T) {
	for version, want := range map[string]bool{"1.2.3": true, "1.2.3-rc.1": true, "0.0.0-2026-ab+dirty": true,
		"1.2": false, "1.2.3 -X": false, "../1.2.3": false, "": false} {
		if got := versionForm.MatchString(version); got != want {
			t.Errorf("%q: %v, want %v", version, got, want)
		}
	}
}

func TestParseTargets(t *testing.T) {
	got, err := parseTargets("windows/arm64,linux/amd64")
	if err != nil || len(got) != 2 || got[0] != (target{"windows", "arm64"}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := parseTargets("plan9/amd64"); err == nil || !strings.Contains(err.Error(), "linux/amd64") {
		t.Errorf("unknown target: %v", err)
	}
}

// smallProgram is a folder with sources that build takes, and go.env with settings
// that change what they make.
func smallProgram(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":             "module example\n\ngo 1.26\n",
		"cmd/sheaf/main.go":  "package main\n\nfunc main() { println(what) }\n",
		"cmd/sheaf/plain.go": "//go:build !own\n\npackage main\n\nconst what = \"as it is released\"\n",
		"cmd/sheaf/own.go":   "//go:build own\n\npackage main\n\nconst what = \"with settings of one's own\"\n",
		"go.env":             "GOFLAGS=-tags=own\nGOFIPS140=latest\nGOAMD64=v3\nGO111MODULE=off\n",
	} {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// macOS 26 starts no program without the load command LC_UUID, and one for arm64
// only with a signature.
func TestMacOSTakesTheProgram(t *testing.T) {
	const uuid, signature = 0x1b, 0x1d
	for arch, want := range map[string][]uint32{"amd64": {uuid}, "arm64": {uuid, signature}} {
		name := filepath.Join(t.TempDir(), "program")
		if err := build(t.Context(), source{version: "1.2.3", commit: "ab", date: day}, target{"darwin", arch},
			smallProgram(t), name); err != nil {
			t.Fatal(err)
		}
		program, err := macho.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer program.Close()
		has := map[uint32]bool{}
		for _, load := range program.Loads {
			has[program.ByteOrder.Uint32(load.Raw())] = true
		}
		for _, command := range want {
			if !has[command] {
				t.Errorf("%s: no load command %#x", arch, command)
			}
		}
	}
}

// What people set for their own Go, in the environment or with go env -w, does not
// tell in the bytes.
func TestOwnSettingsDoNotTell(t *testing.T) {
	root := smallProgram(t)
	src := source{version: "1.2.3", commit: "ab", date: day}
	made := func() string {
		name := filepath.Join(root, "program")
		if err := build(t.Context(), src, target{"linux", "amd64"}, root, name); err != nil {
			t.Fatal(err)
		}
		sum, err := sha256File(name)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	plain := made()
	t.Run("environment", func(t *testing.T) {
		t.Setenv("GOFLAGS", "-tags=own")
		t.Setenv("GOFIPS140", "latest")
		if sum := made(); sum != plain {
			t.Errorf("other bytes: %s, want %s", sum, plain)
		}
	})
	t.Run("go env -w", func(t *testing.T) {
		t.Setenv("GOENV", filepath.Join(root, "go.env"))
		if sum := made(); sum != plain {
			t.Errorf("other bytes: %s, want %s", sum, plain)
		}
	})
}
