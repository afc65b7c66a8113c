package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model/hashed"
	"sheaf/search/scan"
)

// TestScanResultsNameLines checks that results of a profile without an index are named by a line.
// Their section numbers exist only in that scan, and tools would not accept them.
func TestScanResultsNameLines(t *testing.T) {
	files := map[string]string{
		"a.md": "# Alpha\n\nNothing.\n\n## Cranes\n\nThe harbor and its cranes.\n\n## Boats\n\nBoats.\n",
		"years.md": "# Years\n\nOf the harbor.\n\n## 0\n\nThe harbor in the first year.\n\n## 1\n\nNothing.\n\n## " +
			"2\n\nNothing else.\n",
	}
	s := connectScanning(t, files)
	for _, arguments := range []map[string]any{{"details": true}, {"bodies": true}, {"budget": 2000, "links": true}} {
		arguments["query"], arguments["profile"] = "harbor", "tiered"
		var found answer
		text := call(t, s, "search", arguments, &found)
		must.That(t, len(found.Results) >= 2, "%v: %+v", arguments, found)
		for _, r := range found.Results {
			check.That(t, r.Text != "" || arguments["details"] != nil, "%v: %s has no text", arguments, r.ID)
			check.That(t, strings.Contains(text, "id "+r.ID+","), "%v: %s is not in the text:\n%s", arguments, r.ID, text)
			for _, id := range []string{r.ID, r.URI} {
				got := call(t, s, "get", map[string]any{"id": id}, nil)
				check.That(t, strings.Contains(got, "harbor"), "get %s:\n%s", id, got)
				call(t, s, "similar", map[string]any{"id": id}, nil)
				var why struct{ Absence struct{ ID string } }
				got = call(t, s, "explain", map[string]any{"query": "harbor", "profile": "tiered", "id": id},
					&why)
				check.That(t, strings.Contains(got, " has rank "), "explain %s: %s", id, got)
				call(t, s, "get", map[string]any{"id": why.Absence.ID}, nil)
			}
			read, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: r.URI})
			check.That(t, err == nil && strings.Contains(read.Contents[0].Text, "harbor"), "resource %s: %v, %v", r.URI, read,
				err)
		}
	}
	var explained struct{ Results []struct{ ID string } }
	call(t, s, "explain", map[string]any{"query": "harbor", "profile": "tiered"}, &explained)
	for _, r := range explained.Results {
		got := call(t, s, "get", map[string]any{"id": r.ID}, nil)
		check.That(t, strings.Contains(got, "harbor"), "get %s:\n%s", r.ID, got)
	}
}

// connectScanning connects to a collection of files that has profiles without an index.
func connectScanning(t *testing.T, files map[string]string) *sdk.ClientSession {
	t.Helper()
	return connectOver(t, collectiontest.Open(t, files, func(o *collection.Options) {
		scanner, err := scan.New(scan.Options{Root: o.Ingest.Trees[0].Root, Tree: collectiontest.Tree, Analyzer: o.Analyzer,
			Embedder: hashed.New(64)})
		must.Do(t, err)
		o.Scanner = scanner
	}), access.Unrestricted())
}

// TestSchemasOfOneType checks that every value in the tools' schemas has one type and is never null. Gemini refuses a
// server with an array that may be null, and the protocol's inspector sends it as text. Answers must fit the schemas.
func TestSchemasOfOneType(t *testing.T) {
	s := connect(t, access.Unrestricted())
	listed := must.Get(s.ListTools(t.Context(), nil))
	types := 0
	var look func(at string, schema any)
	look = func(at string, schema any) {
		switch v := schema.(type) {
		case map[string]any:
			for name, value := range v {
				if _, one := value.(string); name == "type" && !strings.HasSuffix(at, "properties") {
					if types++; !one {
						t.Errorf("%s: type %v", at, value)
					}
					continue
				}
				look(at+"/"+name, value)
			}
		case []any:
			for i, value := range v {
				look(fmt.Sprint(at, "/", i), value)
			}
		}
	}
	for _, tool := range listed.Tools {
		look(tool.Name+" takes, by its schema", tool.InputSchema)
		look(tool.Name+" gives, by its schema", tool.OutputSchema)
	}
	check.That(t, types >= 100, "%d types: the schemas have more", types)
	for _, tool := range listed.Tools {
		for _, arguments := range [][]byte{[]byte(everyTool[tool.Name]), otherArguments[tool.Name]} {
			if arguments != nil {
				fitsSchema(t, s, tool, arguments)
			}
		}
	}
}

// TestArgumentsOfOtherTypes checks numbers, lists and other values that models and clients send as texts.
func TestArgumentsOfOtherTypes(t *testing.T) {
	s := connect(t, access.Unrestricted())
	answer := func(tool, arguments string) (string, bool) {
		r := must.Get(s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}))
		return textOf(r), r.IsError
	}
	for _, c := range []struct{ tool, sent, meant string }{
		{"search", `{"query":"undo commit","limit":"1"}`, `{"query":"undo commit","limit":1}`},
		{"search", `{"query":"undo","details":"true"}`, `{"query":"undo","details":true}`},
		{"search", `{"query":"undo","set":"{\"meaning\":0}"}`, `{"query":"undo","set":{"meaning":0}}`},
		{"multi_get", `{"ids":" [\"git.md\", \"deep/far.md\"]"}`, `{"ids":["git.md","deep/far.md"]}`},
		{"search", `{"query":"[1]"}`, `{"query":"\u005b1]"}`},
	} {
		got, failed := answer(c.tool, c.sent)
		want, _ := answer(c.tool, c.meant)
		check.That(t, !failed && got == want, "%s %s: %s\nwant %s", c.tool, c.sent, got, want)
	}
	for _, arguments := range []string{`{"query":"undo","limit":"x"}`, `{"query":"undo","limit":"1.5"}`,
		`{"query":"undo","limit":"0"}`, `{"query":"undo","limit":""}`, `{"query":true}`, `{"query":2024}`,
		`{"query":"undo","details":"yes"}`, `{"query":"undo","limit":"99999999999999999999"}`} {
		text, failed := answer("search", arguments)
		check.That(t, failed, "%s: %s", arguments, text)
	}
}

// otherArguments are arguments whose answers have more members.
var otherArguments = map[string][]byte{
	"search":  []byte(`{"query":"undo commit","details":true}`),
	"similar": []byte(`{"id":"git.md","budget":2000,"links":true}`),
	"explain": []byte(`{"query":"undo commit","id":"deep/far.md"}`),
	"get":     []byte(`{"id":"git.md","budget":60}`),
}

// fitsSchema checks that the answer of a call is as the schema of its tool says. The server does not check it.
func fitsSchema(t *testing.T, s *sdk.ClientSession, tool *sdk.Tool, arguments json.RawMessage) {
	t.Helper()
	text := must.Get(json.Marshal(tool.OutputSchema))
	var schema jsonschema.Schema
	must.Do(t, json.Unmarshal(text, &schema))
	resolved := must.Get(schema.Resolve(nil))
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool.Name, Arguments: arguments})
	must.That(t, err == nil && !r.IsError, "%s %s: %v %+v", tool.Name, arguments, err, r)
	check.NoError(t, resolved.Validate(r.StructuredContent), "%s %s", tool.Name, arguments)
}

// TestCallBeforeFirstScan checks that a call before the first scan for changes finds documents saved while no
// server ran.
func TestCallBeforeFirstScan(t *testing.T) {
	before := collectiontest.Open(t, notes, nil)
	before.Write(t, "new.md", "# Walrus\n\nA walrus at the door.\n")
	f := before.Beside(t)
	f.WillWatch()
	s := connectOver(t, f, access.Unrestricted())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		time.Sleep(100 * time.Millisecond)
		ended <- f.Watch(ctx, nil)
	}()
	check.Contains(t, call(t, s, "search", map[string]any{"query": "walrus"}, nil), "1. notes:new.md")
	stop()
	must.Do(t, <-ended)
}
