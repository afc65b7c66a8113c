package profile_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestSystemsNamesRealTests checks that every test, script and case in doc/systems.md and
// doc/behavior.md exists. Every row names a test that needs no server, unless the row gives a reason.
func TestSystemsNamesRealTests(t *testing.T) {
	var text []byte
	for _, page := range []string{"systems.md", "behavior.md"} {
		of := must.Get(os.ReadFile(filepath.Join("..", "doc", page)))
		text = append(text, of...)
	}
	sources := map[string]string{}
	named := regexp.MustCompile("`([a-z/]+)\\.((?:Test|Benchmark|Example|Fuzz)\\w+)`").FindAllStringSubmatch(string(text),
		-1)
	for _, m := range named {
		pkg, name := m[1], m[2]
		if _, read := sources[pkg]; !read {
			files := must.Get(filepath.Glob(filepath.Join("..", filepath.FromSlash(pkg), "*_test.go")))
			for _, file := range files {
				source := must.Get(os.ReadFile(file))
				sources[pkg] += string(source)
			}
		}
		check.That(t, strings.Contains(sources[pkg], "func "+name+"("), "there is no test %s.%s", pkg, name)
	}
	// The test cannot check a name without its package.
	if all := regexp.MustCompile("`[^`\\s]*\\b(?:Test|Benchmark|Example|Fuzz)[A-Z]\\w*`").FindAllString(string(text),
		-1); len(all) != len(named) {
		t.Errorf("%d names of tests, %d with the package that they are in", len(all), len(named))
	}
	// Worked numbers and servers may be missing, so only rows of PostgreSQL may depend on them alone.
	shown := regexp.MustCompile(
		"(`[a-z/]+\\.(?:Test|Benchmark|Example|Fuzz)\\w+`|`[a-z/_-]+\\.(?:txt|txtar)`|`(?:[ADSW][0-9]+b?|MDX)`)( †)?")
	rows, head := 0, true
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "|") {
			head = true // the next row is the head of a table, and the row below it a rule
			continue
		}
		if head || strings.HasPrefix(line, "|---") {
			head = false
			continue
		}
		rows++
		all := shown.FindAllStringSubmatch(line, -1)
		numbers, servers := strings.Count(line, ".TestVectors"), 0
		for _, m := range all {
			if m[2] != "" {
				servers++
			}
		}
		switch {
		case len(all) == 0:
			t.Errorf("a row names no test: %s", line)
		case numbers == len(all):
			t.Errorf("a row names tests on worked numbers alone: %s", line)
		case numbers+servers == len(all) && !strings.Contains(line, "`store/postgres`"):
			t.Errorf("a row names only tests that need a server: %s", line)
		}
	}
	scripts := regexp.MustCompile("`([a-z-]+\\.txt)`").FindAllStringSubmatch(string(text), -1)
	for _, m := range scripts {
		_, err := os.Stat(filepath.Join("testdata", "rank", m[1]))
		check.That(t, err == nil, "there is no script %s", m[1])
	}
	for _, m := range regexp.MustCompile("`([a-z/]+/[a-z_]+\\.txtar)`").FindAllStringSubmatch(string(text), -1) {
		_, err := os.Stat(filepath.Join("..", filepath.FromSlash(m[1])))
		check.That(t, err == nil, "there is no script %s", m[1])
	}
	rules := must.Get(os.ReadFile(filepath.Join("..", "text", "chunk", "testdata", "rules.txt")))
	cases := regexp.MustCompile("`([ADSW][0-9]+b?)`").FindAllStringSubmatch(string(text), -1)
	for _, m := range cases {
		check.That(t, strings.Contains(string(rules), "\n== "+m[1]+": "), "there is no case %s in %s", m[1],
			"text/chunk/testdata/rules.txt")
	}
	check.That(t, len(cases) >= 35 && len(named) >= 300 && len(scripts) >= 40 && rows >= 230,
		"found %d tests, %d scripts and %d cases in %d rows", len(named), len(scripts), len(cases), rows)
}
