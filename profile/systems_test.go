package profile_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test, script and case that doc/systems.md names exists.
func TestSystemsNamesRealTests(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "doc", "systems.md"))
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{}
	named := regexp.MustCompile("`([a-z/]+)\\.((?:Test|Benchmark|Example|Fuzz)\\w+)`").FindAllStringSubmatch(string(text), -1)
	for _, m := range named {
		pkg, name := m[1], m[2]
		if _, read := sources[pkg]; !read {
			files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pkg), "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				source, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				sources[pkg] += string(source)
			}
		}
		if !strings.Contains(sources[pkg], "func "+name+"(") {
			t.Errorf("there is no test %s.%s", pkg, name)
		}
	}
	// A name without its package is looked for nowhere.
	if all := regexp.MustCompile("`[^`\\s]*\\b(?:Test|Benchmark|Example|Fuzz)[A-Z]\\w*`").FindAllString(string(text), -1); len(all) != len(named) {
		t.Errorf("%d names of tests, %d with the package that they are in", len(all), len(named))
	}
	// Worked numbers are not everywhere: no row rests on them alone.
	for line := range strings.Lines(string(text)) {
		numbers := strings.Count(line, ".TestVectors")
		if all := regexp.MustCompile("`[a-z/]+\\.(?:Test|Benchmark|Example|Fuzz)\\w+`|`[a-z/_-]+\\.(?:txt|txtar)`").FindAllString(line, -1); numbers > 0 && len(all) == numbers {
			t.Errorf("a row names tests on worked numbers alone: %s", line)
		}
	}
	scripts := regexp.MustCompile("`([a-z-]+\\.txt)`").FindAllStringSubmatch(string(text), -1)
	for _, m := range scripts {
		if _, err := os.Stat(filepath.Join("testdata", "rank", m[1])); err != nil {
			t.Errorf("there is no script %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile("`([a-z/]+/[a-z_]+\\.txtar)`").FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(m[1]))); err != nil {
			t.Errorf("there is no script %s", m[1])
		}
	}
	rules, err := os.ReadFile(filepath.Join("..", "chunk", "testdata", "rules.txt"))
	if err != nil {
		t.Fatal(err)
	}
	cases := regexp.MustCompile("`([ADSW][0-9]+b?)`").FindAllStringSubmatch(string(text), -1)
	for _, m := range cases {
		if !strings.Contains(string(rules), "\n== "+m[1]+": ") {
			t.Errorf("there is no case %s in %s", m[1], "chunk/testdata/rules.txt")
		}
	}
	if len(cases) < 35 || len(named) < 150 || len(scripts) < 20 {
		t.Errorf("found %d tests, %d scripts and %d cases", len(named), len(scripts), len(cases))
	}
}
