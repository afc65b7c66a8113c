// Package lint checks rules of the code that no standard tool checks. For example, it checks which
// packages a package may import, and that every exported name has a comment.
package lint_test

import (
	"encoding/json"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"sheaf/internal/must"
)

const module = "sheaf"

// allowed is the import table of ARCHITECTURE.md: for each package, the Sheaf packages that it may import. "/..."
// means every package below a folder without its own entry. "root" is the package sheaf.
var allowed = map[string][]string{
	"root":                  {},
	"text/analysis":         {},
	"index/vfs":             {},
	"model":                 {},
	"index/engine/postings": {},
	"index/engine/vector":   {"internal/offheap"},
	"index/engine/bm25":     {},
	"index/vfs/sectionfile": {"index/vfs"},
	"index/vfs/manifest":    {"index/vfs"},
	"index/engine/segment": {"index/vfs", "index/vfs/sectionfile", "index/engine/postings", "index/engine/vector",
		"index/engine/bm25", "internal/offheap"},
	"index/engine": {"root", "index/vfs", "index/vfs/manifest", "text/analysis", "index/engine/...",
		"internal/lru", "internal/offheap"},
	"text/query": {"root", "internal/fold", "internal/number", "internal/suggest", "internal/wikilink"},
	"text/chunk": {"root", "internal/attributes", "internal/number", "internal/pattern", "internal/wikilink",
		"internal/yamlfile"},
	"index/catalog": {"root", "internal/arena", "internal/fold", "internal/lru", "internal/wikilink", "index/vfs",
		"index/vfs/sectionfile", "index/vfs/manifest"},
	"rank":            {"root", "internal/wikilink"},
	"store":           {"root", "text/analysis"},
	"eval/metric":     {},
	"profile":         {"root", "rank", "internal/suggest", "internal/yamlfile", "index/vfs", "internal/pattern"},
	"store/storetest": {"root", "store", "text/analysis", "rank", "internal/check", "internal/must"},
	"store/memory":    {"root", "store", "store/storekit", "text/analysis", "internal/distinct"},
	"store/embedded":  {"root", "store", "text/analysis", "index/engine", "index/engine/...", "index/vfs"},
	"store/storekit":  {"root", "store", "text/analysis", "internal/edits"},
	"rank/runfile":    {"root", "rank"},
	"store/transfer":  {"root", "store"},
	// bm25 has the lengths that Lucene stores.
	"store/opensearch": {"root", "store", "store/storekit", "text/analysis", "index/engine/bm25",
		"internal/pattern"},
	"store/...":            {"root", "store", "store/storekit", "text/analysis", "internal/pattern"},
	"model/...":            {"model"},
	"model/static/english": {"model", "model/static"},
	"model/static/builtin": {"model", "model/static", "model/static/english"},
	"search": {"root", "rank", "profile", "store", "model", "index/catalog", "text/chunk",
		"text/analysis", "eval/calibrate", "text/query", "search/snippet", "internal/distinct", "internal/fold",
		"internal/lru", "internal/suggest"},
	"ingest": {"root", "text/analysis", "text/chunk", "index/catalog", "store", "model",
		"internal/distinct", "internal/fold", "internal/wikilink", "index/vfs"},
	"eval/parity":          {"root", "search"},
	"eval/stats":           {},
	"eval/calibrate":       {},
	"eval/dataset":         {"root", "eval/metric", "rank/runfile", "internal/yamlfile"},
	"search/onyx":          {"root", "store", "text/chunk", "profile", "text/query", "search", "index/vfs"},
	"search/onyx/onyxtest": {"root", "search/onyx", "internal/worked"},
	"search/scan": {"root", "text/analysis", "store", "store/memory", "index/catalog", "text/chunk", "model",
		"ingest", "internal/fold", "internal/lru", "internal/yamlfile", "search", "index/vfs"},
	"eval": {"root", "eval/metric", "eval/stats", "eval/dataset", "search", "profile", "index/catalog", "store",
		"text/query"},
	"eval/indexing": {"root", "eval", "eval/dataset", "eval/metric", "search", "ingest", "index/catalog", "store/memory",
		"model", "text/analysis", "text/chunk", "collection", "collection/access", "collection/location",
		"internal/wikilink"},
	"eval/self":       {"root", "store", "eval", "eval/dataset", "eval/metric", "eval/stats", "search", "text/chunk"},
	"eval/tune":       {"root", "eval", "eval/calibrate", "eval/stats"},
	"eval/confidence": {"root", "eval", "eval/calibrate", "eval/self", "profile", "search"},
	"eval/report":     {"eval", "eval/calibrate", "internal/wording"},
	"search/salient":  {"root", "text/analysis"},
	"search/snippet": {"root", "text/analysis", "text/chunk", "internal/attributes", "internal/edits",
		"internal/wikilink"},
	"collection/access": {"root", "store", "text/query", "internal/jsonname", "index/vfs"},
	"collection/intake": {"root", "index/catalog", "index/vfs"},
	"collection": {"root", "text/analysis", "store", "store/embedded", "index/catalog", "text/chunk",
		"model", "model/remember", "model/static", "model/static/builtin", "model/static/english", "ingest", "profile",
		"text/query", "rank", "rank/runfile", "search", "search/salient", "search/scan", "search/snippet",
		"collection/access", "collection/address", "collection/intake", "collection/location", "internal/fold",
		"internal/arena", "internal/lru", "internal/suggest",
		"internal/wording", "index/vfs"},
	"collection/location": {"root", "index/vfs", "internal/wording"},
	"collection/address":  {"root", "index/catalog", "text/chunk", "internal/suggest"},
	"collection/collectiontest": {"root", "text/analysis", "store", "store/embedded", "index/catalog", "eval/calibrate",
		"internal/check", "internal/must", "model", "model/hashed", "ingest", "profile", "search", "collection",
		"collection/access", "index/vfs"},
	"door/web": {"root", "text/chunk", "collection", "collection/access", "internal/attributes",
		"internal/wikilink"},
	"door/http": {"root", "collection", "collection/access", "search", "index/vfs"},
	"door/...": {"root", "collection", "collection/...", "internal/jsonname", "internal/suggest",
		"internal/wording"},
	"examples":            {},
	"internal/lint":       {},
	"internal/arena":      {},
	"internal/attributes": {},
	"internal/check":      {},
	"internal/distinct":   {},
	"internal/edits":      {},
	"internal/fold":       {},
	"internal/jsonname":   {},
	"internal/lru":        {},
	"internal/must":       {},
	"internal/number":     {},
	"internal/offheap":    {},
	"internal/pattern":    {},
	"internal/suggest":    {"internal/edits"},
	"internal/wikilink":   {},
	"internal/wording":    {},
	"internal/worked":     {},
	"internal/yamlfile":   {},
	"eval/benchmark": {"root", "text/analysis", "store", "store/embedded", "text/chunk", "model", "internal/offheap",
		"rank"},
	"cmd/...":       {"..."},
	"lab/model/...": {"model/..."},
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

// imports returns the Sheaf imports of every package of the module, without imports of tests. The
// root is called "root".
func imports(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", module+"/...")
	out, err := cmd.Output()
	must.That(t, err == nil, "go list: %v", err)
	result := map[string][]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct {
			ImportPath string
			Imports    []string
		}
		must.Do(t, dec.Decode(&p))
		ours := []string{}
		for _, imp := range p.Imports {
			if imp == module || strings.HasPrefix(imp, module+"/") {
				ours = append(ours, short(imp))
			}
		}
		result[short(p.ImportPath)] = ours
	}
	must.That(t, len(result) >= 2, "go list found %d packages", len(result))
	return result
}

func short(importPath string) string {
	if importPath == module {
		return "root"
	}
	return strings.TrimPrefix(importPath, module+"/")
}
