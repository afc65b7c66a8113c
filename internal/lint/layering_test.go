// Package lint holds the rules of the code base that no standard tool checks:
// who may import whom, and that every exported name has a comment.
package lint_test

import (
	"encoding/json"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "sheaf"

// allowed is the import table of ARCHITECTURE.md: a package (or, ending in
// "/...", every package below a folder that has no entry of its own) and
// everything of ours it may import. "root" is the package sheaf.
var allowed = map[string][]string{
	"root":                     {},
	"analysis":                 {},
	"vfs":                      {},
	"inference":                {},
	"engine/postings":          {},
	"engine/vector":            {"internal/offheap"},
	"engine/bm25":              {},
	"vfs/sectionfile":          {"vfs"},
	"vfs/manifest":             {"vfs"},
	"engine/segment":           {"vfs", "vfs/sectionfile", "engine/postings", "engine/vector", "engine/bm25", "internal/offheap"},
	"engine":                   {"vfs", "vfs/manifest", "analysis", "engine/...", "internal/offheap"},
	"query":                    {"root", "internal/fold", "internal/suggest", "internal/wikilink"},
	"chunk":                    {"root", "internal/attributes", "internal/wikilink", "internal/yamlfile"},
	"catalog":                  {"root", "internal/fold", "vfs", "vfs/sectionfile", "vfs/manifest"},
	"rank":                     {"root", "internal/wikilink"},
	"backend":                  {"root"},
	"eval/metric":              {},
	"eval/parity":              {"root"},
	"profile":                  {"root", "rank", "internal/suggest", "internal/yamlfile", "vfs"},
	"backend/backendtest":      {"root", "backend", "analysis", "rank"},
	"backend/memory":           {"root", "backend", "analysis", "internal/distinct", "internal/edits"},
	"backend/embedded":         {"root", "backend", "analysis", "engine", "engine/...", "vfs"},
	"backend/textplan":         {"root", "backend", "analysis", "internal/edits"},
	"rank/runfile":             {"root", "rank"},
	"backend/columnword":       {"root"},
	"backend/httpstore":        {"root", "backend"},
	"backend/transfer":         {"root", "backend"},
	"backend/elastic":          {"root", "backend", "backend/httpstore", "backend/textplan", "analysis", "engine/bm25"}, // which lengths Lucene keeps
	"backend/...":              {"root", "backend", "backend/columnword", "backend/httpstore", "backend/textplan", "analysis"},
	"inference/...":            {"inference"},
	"inference/static/english": {"inference", "inference/static"},
	"inference/static/builtin": {"inference", "inference/static", "inference/static/english"},
	"search":                   {"root", "rank", "profile", "backend", "inference", "catalog", "chunk", "analysis", "eval/calibrate", "query", "internal/attributes", "internal/distinct", "internal/edits", "internal/fold", "internal/suggest", "internal/wikilink"},
	"ingest":                   {"root", "analysis", "chunk", "catalog", "backend", "inference", "internal/distinct", "internal/fold", "vfs"},
	"eval/stats":               {},
	"eval/calibrate":           {},
	"eval/knownitem":           {"root", "catalog", "analysis", "chunk"},
	"eval/dataset":             {"root", "eval/metric", "rank/runfile", "internal/yamlfile"},
	"onyx":                     {"root", "backend", "chunk", "profile", "query", "search", "vfs"},
	"onyx/onyxtest":            {"root", "onyx", "internal/worked"},
	"scan":                     {"root", "analysis", "backend", "backend/memory", "catalog", "chunk", "inference", "ingest", "internal/fold", "internal/yamlfile", "search", "vfs"},
	"eval":                     {"root", "rank", "eval/metric", "eval/stats", "eval/dataset", "search", "ingest", "profile", "catalog", "backend", "inference", "analysis", "query", "chunk", "vfs"},
	"eval/self":                {"root", "backend", "eval", "eval/dataset", "eval/knownitem", "eval/metric", "eval/stats"},
	"eval/tune":                {"root", "eval", "eval/calibrate", "eval/stats"},
	"eval/confidence":          {"root", "eval", "eval/calibrate", "eval/knownitem", "profile", "search"},
	"eval/report":              {"eval", "eval/calibrate"},
	"search/salient":           {"root", "analysis"},
	"serve/access":             {"root", "backend", "query", "internal/jsonname", "vfs"},
	"serve":                    {"root", "analysis", "backend", "catalog", "chunk", "inference", "ingest", "profile", "query", "rank", "rank/runfile", "search", "search/salient", "serve/access", "serve/address", "internal/fold", "vfs"},
	"serve/address":            {"root", "catalog", "chunk", "internal/suggest"},
	"serve/servetest":          {"analysis", "backend", "backend/embedded", "catalog", "eval/calibrate", "inference", "inference/hashed", "ingest", "profile", "search", "serve", "serve/access", "vfs"},
	"serve/web":                {"root", "chunk", "serve", "serve/access", "internal/attributes", "internal/wikilink"},
	"serve/api":                {"root", "serve", "serve/access", "search", "vfs"},
	"serve/...":                {"root", "serve", "serve/...", "internal/jsonname", "internal/suggest"},
	"examples":                 {},
	"internal/lint":            {},
	"internal/attributes":      {},
	"internal/distinct":        {},
	"internal/edits":           {},
	"internal/fold":            {},
	"internal/jsonname":        {},
	"internal/offheap":         {},
	"internal/suggest":         {"internal/edits"},
	"internal/wikilink":        {},
	"internal/worked":          {},
	"internal/yamlfile":        {},
	"internal/touched":         {"vfs"},
	"internal/benchmark":       {"root", "analysis", "backend", "backend/embedded", "chunk", "inference", "internal/offheap", "rank"},
	"cmd/...":                  {"..."},
	"model/...":                {"inference/..."},
}

func TestLayering(t *testing.T) {
	for pkg, imports := range imports(t) {
		rule, ok := ruleFor(pkg)
		if !ok {
			t.Errorf("package %s has no line in the import table: add one here and in ARCHITECTURE.md", pkg)
			continue
		}
		for _, imp := range imports {
			if !slices.ContainsFunc(rule, func(p string) bool { return matches(p, imp) }) {
				t.Errorf("package %s imports %s: it may import only %s", pkg, imp, strings.Join(rule, ", "))
			}
		}
	}
}

func ruleFor(pkg string) ([]string, bool) {
	if rule, ok := allowed[pkg]; ok {
		return rule, true
	}
	for dir := path.Dir(pkg); dir != "."; dir = path.Dir(dir) {
		if rule, ok := allowed[dir+"/..."]; ok {
			return rule, true
		}
	}
	return nil, false
}

func matches(pattern, pkg string) bool {
	prefix, any := strings.CutSuffix(pattern, "...")
	return pattern == pkg || any && strings.HasPrefix(pkg, prefix)
}

// imports lists our own imports of every package of the module, without those
// of tests. The root is called "root".
func imports(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", module+"/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	result := map[string][]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		ours := []string{}
		for _, imp := range p.Imports {
			if imp == module || strings.HasPrefix(imp, module+"/") {
				ours = append(ours, short(imp))
			}
		}
		result[short(p.ImportPath)] = ours
	}
	if len(result) < 2 {
		t.Fatalf("go list found %d packages", len(result))
	}
	return result
}

func short(importPath string) string {
	if importPath == module {
		return "root"
	}
	return strings.TrimPrefix(importPath, module+"/")
}
