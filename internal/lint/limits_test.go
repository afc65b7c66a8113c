package lint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// limits are the largest allowed values. When you make a measure smaller, lower its limit.
var limits = map[string]int{
	"lines of Go without tests":                                      115456,
	"lines of tests in Go":                                           64957,
	"lines over 120 columns":                                         0,
	"lines of tests over 120 columns":                                0,
	"structs with more than 12 fields (not JSON, Options or engine)": 7,
	"fields of the largest of these structs":                         16,
	"sync.Pool outside index/engine and text/analysis":               0,
	"context.WithValue":                                              2,
	"words that the style guide forbids":                             0,
	"top-level folders of code":                                      14,
	"longest chain of imports of our packages":                       7,
}

// TestLimits prints the size of the code and checks that no measure is above its limit. go test
// ./internal/lint -run TestLimits -v prints the table.
func TestLimits(t *testing.T) {
	measured := measure(t)
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range limits {
			if !yield(name) {
				return
			}
		}
	}) {
		t.Logf("%7d of %7d  %s", measured[name], limits[name], name)
		check.That(t, measured[name] <= limits[name], "%s: %d, the limit is %d", name, measured[name], limits[name])
	}
}

// measure counts the measures in limits in all Go files of the module, without lab and bench.
func measure(t *testing.T) map[string]int {
	t.Helper()
	n := map[string]int{}
	folders := map[string]bool{}
	for name, content := range goFiles(t) {
		folder, _, below := strings.Cut(name, "/")
		if below {
			folders[folder] = true
		}
		if folder == "bench" || folder == "lab" || strings.Contains(name, "testdata/") {
			continue
		}
		lines := strings.Count(content, "\n")
		long := 0
		for line := range strings.Lines(content) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 120 {
				long++
			}
		}
		if strings.HasSuffix(name, "_test.go") {
			n["lines of tests in Go"] += lines
			n["lines of tests over 120 columns"] += long
			continue
		}
		n["lines of Go without tests"] += lines
		n["lines over 120 columns"] += long
		n["words that the style guide forbids"] += len(forbidden.FindAllString(content, -1))
		n["context.WithValue"] += strings.Count(content, "context.WithValue(")
		if !strings.HasPrefix(name, "index/engine/") && !strings.HasPrefix(name, "text/analysis/") {
			n["sync.Pool outside index/engine and text/analysis"] += len(pools.FindAllString(content, -1))
		}
		if strings.HasPrefix(name, "index/engine/") {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), name, content, 0))
		for _, fields := range stateStructs(file) {
			if fields > 12 {
				n["structs with more than 12 fields (not JSON, Options or engine)"]++
			}
			n["fields of the largest of these structs"] = max(n["fields of the largest of these structs"], fields)
		}
	}
	n["top-level folders of code"] = len(folders)
	n["longest chain of imports of our packages"] = longestChain(imports(t))
	return n
}

// goFiles yields the name and the content of every Go file of the repository.
func goFiles(t *testing.T) iter.Seq2[string, string] {
	t.Helper()
	root := filepath.Join("..", "..")
	out, err := exec.Command("git", "-C", root, "ls-files", "-z", "*.go").Output()
	if err != nil {
		t.Skipf("git does not list this folder's files: %v", err)
	}
	return func(yield func(name, content string) bool) {
		for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if !yield(name, string(must.Get(os.ReadFile(filepath.Join(root, name))))) {
				return
			}
		}
	}
}

// forbidden are words that make a comment or a message hard to read.
var forbidden = regexp.MustCompile(`(?i)\b(nobody|anew|of which|as one that|the like|who asks|whoever|is ` +
	`told)\b|\bno more[,.;:)]`)

var pools = regexp.MustCompile(`\bsync\.Pool\b`)

// stateStructs counts the fields of structs that hold state: without JSON names, and not called Options.
func stateStructs(file *ast.File) []int {
	var list []int
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || strings.HasSuffix(spec.Name.Name, "Options") {
			return true
		}
		s, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		fields := 0
		for _, f := range s.Fields.List {
			if f.Tag != nil && strings.Contains(f.Tag.Value, "json:") {
				return true
			}
			fields += max(1, len(f.Names))
		}
		list = append(list, fields)
		return true
	})
	return list
}

// longestChain returns the length of the longest chain of imports of Sheaf packages.
func longestChain(imports map[string][]string) int {
	depth := map[string]int{}
	var of func(string) int
	of = func(pkg string) int {
		if d, ok := depth[pkg]; ok {
			return d
		}
		d := 0
		for _, imported := range imports[pkg] {
			d = max(d, 1+of(imported))
		}
		depth[pkg] = d
		return d
	}
	longest := 0
	for pkg := range imports {
		longest = max(longest, of(pkg))
	}
	return longest
}
