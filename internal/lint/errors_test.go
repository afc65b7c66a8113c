package lint_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

var updateErrors = flag.Bool("update-errors", false, "write doc/errors.md")

// errorGroups are the parts of doc/errors.md. An error belongs to the first group that its file and
// text match. Help is the page or command that helps with the whole group.
var errorGroups = []struct{ title, match, help string }{
	{"Damage", `Corrupt|corrupt|index/vfs|index/engine/(segment|postings|vector)`,
		"`sheaf check --repair`; [backup](running.md)"},
	{"Stores: PostgreSQL", `^store/postgres`, "`sheaf doctor`; [when a store is wrong](store-faults.md)"},
	{"Stores: OpenSearch, Elasticsearch", `^store/opensearch`, "`sheaf doctor`; [when a store is wrong](store-faults.md)"},
	{"Stores: Weaviate", `^store/weaviate`, "`sheaf doctor`; [when a store is wrong](store-faults.md)"},
	{"Stores: Vespa", `^store/vespa|export\.go`, "`sheaf doctor`; [when a store is wrong](store-faults.md)"},
	{"Stores: all", `^store|storeurl|/(copy|parity|index_store|lostdocuments)\.go`,
		"[addresses of stores](stores.md), [what each can do](store-servers.md)"},
	{"Keys and access", `^collection/(access|audit)|cmd/sheaf/key\.go|\b(this key|the key|the keys|tenant)\b`,
		"`sheaf key list`; [keys and access](keys-and-access.md)"},
	{"Server: page and protocol of assistants", `^door/(mcp|web)|cmd/sheaf/mcp\.go`, "[MCP](mcp.md), [the page](page.md)"},
	{"Server: HTTP", `^door/http|(serve|service|cursor|idempotency)\.go`, "`/docs` of the server; [HTTP API](http.md)"},
	{"Server: given documents", `^collection/(intake|document|given|migration|pending|rejected|stored|task|owner)`,
		"[giving documents](giving-documents.md)"},
	{"Assistants", `assistant|mcpinstall`, "`sheaf mcp install`; [for assistants](assistants.md)"},
	{"Settings", `internal/config|cmd/sheaf/(config|store|root|main|completion|version)\.go`,
		"`sheaf config show --origin`, `sheaf help COMMAND`; [settings](settings.md), [commands](commands.md)"},
	{"Models", `^model|^search/(model|expand|rerank)|^ingest/passages|collection/models`,
		"`sheaf doctor`; [a model of your own](languages.md#a-model-of-your-own)"},
	{"Evaluation", `^eval|^rank/runfile|^profile/single|/(eval|evalself|tune|confidence|bench|fuse|stage|metric)\.go`,
		"[judging and tuning](judging-and-tuning.md), [runs](stages.md)"},
	{"Profiles", `^profile|^rank|cmd/sheaf/profile|saveprofile`, "`sheaf profile list`; [ranking profiles](profiles.md)"},
	{"Files", `^ingest/(read|walk|ignore)|^text/chunk|chunks\.go|folders\.go`,
		"`sheaf status --all`; [files and formats](files-and-formats.md)"},
	{"Reading", `/(get|context|similar|ls|address|text|explain|whynot)\.go`,
		"`sheaf ls`; [addresses](reading-and-links.md#addresses), [understanding a ranking](understanding-a-ranking.md)"},
	{"Searching", `^search|^text|^collection/(request|facet|search)|/(search|session)\.go|^[a-z]+\.go`,
		"`sheaf help search`; [searching](searching.md)"},
	{"Index", ``, "`sheaf status`, `sheaf check`; [running](running.md)"},
}

// errorCalls are the functions that make an error of a text and its values. faults.add of door/http
// is the only add that does.
var errorCalls = regexp.MustCompile(`^(Errorf|Invalidf|New|errorf|corruptf?|Corrupt|fault|fail|lineError|` +
	`conflictError|fieldError|forbidden|unmet|problem|wrongParameter|add)$`)

// TestErrorsOfDocument checks that doc/errors.md lists every error that a user can see.
// go test ./internal/lint -run TestErrorsOfDocument -update-errors writes it.
func TestErrorsOfDocument(t *testing.T) {
	listed := make([][]string, len(errorGroups))
	program(t, func(path string, n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || strings.HasPrefix(path, "search/onyx/") || strings.HasPrefix(path, "store/memory/") {
			return
		}
		name := types.ExprString(call.Fun)
		name = name[strings.LastIndex(name, ".")+1:]
		if !errorCalls.MatchString(name) || name == "add" && !strings.HasPrefix(path, "door/http/") {
			return
		}
		for _, arg := range call.Args {
			text := visible(constant(arg))
			if words.MatchString(text) && strings.Contains(text, " ") {
				i := slices.IndexFunc(errorGroups, func(g struct{ title, match, help string }) bool {
					return regexp.MustCompile(g.match).MatchString(path + " " + name + " " + text)
				})
				listed[i] = append(listed[i], "- `"+text+"`")
				return
			}
		}
	})
	const before = "-` …:\"'("
	var page strings.Builder
	page.WriteString("# Errors\n\nA test writes this page from the program (`go test ./internal/lint -run " +
		"TestErrorsOfDocument -update-errors`). It lists\nevery error; `…` stands for a name or a number. " +
		"Search the page for the fixed words of your error. A word of a category,\nsuch as `invalid:`, comes " +
		"before the text: [what it means](troubleshooting.md). An error may begin with what was done and\n" +
		"on what. Flags that a command lacks: `sheaf help COMMAND`.\n")
	for i, list := range listed {
		slices.SortFunc(list, func(a, b string) int {
			return strings.Compare(strings.ToLower(strings.TrimLeft(a, before)), strings.ToLower(strings.TrimLeft(b, before)))
		})
		fmt.Fprintf(&page, "\n## %s\n\nHelp: %s.\n\n%s\n", errorGroups[i].title, errorGroups[i].help,
			strings.Join(slices.Compact(list), "\n"))
	}
	name := filepath.Join("..", "..", "doc", "errors.md")
	if *updateErrors {
		_ = os.WriteFile(name, []byte(page.String()), 0o644) // the next lines report an error
	}
	text, err := os.ReadFile(name)
	check.That(t, err == nil && string(text) == page.String(), "doc/errors.md is not what -update-errors writes: %v", err)
}

var (
	category = regexp.MustCompile(`^(%w: )+`)
	verb     = regexp.MustCompile(`%[-+# 0-9.*\[\]]*[a-zA-Z]`)
	repeat   = regexp.MustCompile(`(…: )+`)
	words    = regexp.MustCompile(`\pL{2}.*[^\pL]\pL{2}`)
)

// visible returns the text of an error as a user sees it, with … for each value.
func visible(format string) string {
	text := repeat.ReplaceAllString(verb.ReplaceAllString(category.ReplaceAllString(format, ""), "…"), "…: ")
	return strings.NewReplacer("%%", "%", "`", "'", "\n", " ").Replace(text)
}

// constant returns the text of a constant expression, with … for each part that is not a literal.
func constant(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.BinaryExpr:
		return constant(e.X) + constant(e.Y)
	}
	return "…"
}

// program calls visit for each node of the files of the program.
func program(t *testing.T, visit func(path string, n ast.Node)) {
	t.Helper()
	root := filepath.Join("..", "..")
	skipped := regexp.MustCompile(`^(lab|bench|examples|cmd/release|internal/(check|lint))$|test$|testdata$|_test\.go$`)
	must.Do(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil || relErr != nil:
			return err
		case d.IsDir() && skipped.MatchString(rel):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || skipped.MatchString(rel):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool { visit(rel, n); return true })
		return nil
	}))
}

// TestLinksOfDocumentsToErrors checks that the errors in doc/troubleshooting.md exist in the program.
func TestLinksOfDocumentsToErrors(t *testing.T) {
	var texts strings.Builder
	program(t, func(_ string, n ast.Node) {
		if e, ok := n.(ast.Expr); ok {
			texts.WriteString(constant(e) + "\n")
		}
	})
	text := must.Get(os.ReadFile(filepath.Join("..", "..", "doc", "troubleshooting.md")))
	_, tables, _ := strings.Cut(string(text), "\n## ")
	for line := range strings.Lines(tables) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(strings.Split(line, " | ")[0], -1) {
			for part := range strings.SplitSeq(m[1], "…") {
				check.That(t, strings.Contains(texts.String(), part),
					"doc/troubleshooting.md lists %q, and no message of the program has %q", m[1], part)
			}
		}
	}
}
