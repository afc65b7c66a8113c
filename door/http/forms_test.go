package http_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
)

type form struct {
	Properties map[string]json.RawMessage `json:"properties"`
}

// forms are those of a body of the document, by the name of the profile.
func forms(t *testing.T, s *server, body, by string, member string) map[string]map[string]json.RawMessage {
	t.Helper()
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				form
				AllOf []struct {
					AnyOf []form `json:"anyOf"`
				} `json:"allOf"`
			} `json:"schemas"`
		} `json:"components"`
	}
	s.get(t, "GET", "/openapi.json", "", &doc)
	out := map[string]map[string]json.RawMessage{}
	var list []form
	for _, all := range doc.Components.Schemas[body].AllOf {
		list = append(list, all.AnyOf...)
	}
	for _, f := range list {
		var name struct{ Enum []string }
		var link struct {
			Ref string `json:"$ref"`
		}
		if json.Unmarshal(f.Properties[by], &name) != nil || json.Unmarshal(f.Properties[member], &link) != nil ||
			len(name.Enum) != 1 {
			t.Fatalf("the forms of %s: %s", body, f.Properties)
		}
		out[name.Enum[0]] = doc.Components.Schemas[strings.TrimPrefix(link.Ref, "#/components/schemas/")].Properties
	}
	return out
}

// TestChoicesAreOfOneType: what a list of values mixes, programs that make clients of the
// document make no type of, and leave the operation out.
func TestChoicesAreOfOneType(t *testing.T) {
	s := start(t, notes, nil)
	var doc any
	s.get(t, "GET", "/openapi.json", "", &doc)
	values := 0
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			choices, _ := v["enum"].([]any)
			for _, c := range choices {
				values++
				if fmt.Sprintf("%T", c) != fmt.Sprintf("%T", choices[0]) {
					t.Errorf("%s: %v", at, choices)
					break
				}
			}
			for name, inner := range v {
				walk(at+"/"+name, inner)
			}
		case []any:
			for i, inner := range v {
				walk(at+"/"+strconv.Itoa(i), inner)
			}
		}
	}
	walk("#", doc)
	if values == 0 {
		t.Error("there are no lists of values")
	}
}

// TestFormsGoByProfiles: the document says which parameters each profile has, and
// says it of a profile as soon as it is saved.
func TestFormsGoByProfiles(t *testing.T) {
	s := start(t, notes, func(o *httpdoor.Options) { o.Open = access.Unrestricted() })
	for body, member := range map[string]string{"SearchBodyInput": "parameters", "ExplainBodyInput": "parameters",
		"ChangesBodyInput": "change"} {
		got := forms(t, s, body, "profile", member)
		if got[""]["meaning"] == nil || got["sheaf"]["meaning"] == nil || got["rrf"]["rrf_k"] == nil ||
			got["rrf"]["meaning"] != nil || got["mine"] != nil {
			t.Errorf("%s: %v", body, got)
		}
	}
	if got := forms(t, s, "ProfileBodyInput", "extends", "parameters"); got["rrf"]["rrf_k"] == nil {
		t.Errorf("a saved profile: %v", got)
	}
	if res, body := s.ask(t, "PUT", "/v1/profiles/mine",
		`{"extends": "rrf", "parameters": {"rrf_k": 7}}`); res.StatusCode != 201 {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	if got := forms(t, s, "SearchBodyInput", "profile", "parameters"); got["mine"]["rrf_k"] == nil {
		t.Errorf("after a profile was saved: %v", got)
	}
}

// TestParametersThatTheDocumentAllows: what the document allows of the parameters of
// a profile is carried out, or refused as a conflict of two of them.
func TestParametersThatTheDocumentAllows(t *testing.T) {
	s := start(t, notes, nil)
	type allowed struct {
		Enum             []string
		Type, Pattern    string
		Minimum, Maximum float64
		AnyOf            []allowed
	}
	draw := rand.New(rand.NewPCG(1, 2))
	conflicts := 0
	for name, parameters := range forms(t, s, "SearchBodyInput", "profile", "parameters") {
		for range 20 {
			set := map[string]any{}
			for p, raw := range parameters {
				var a allowed
				if err := json.Unmarshal(raw, &a); err != nil {
					t.Fatal(err)
				}
				switch {
				case draw.IntN(2) == 0:
				case a.Enum != nil:
					set[p] = a.Enum[draw.IntN(len(a.Enum))]
				default:
					n := a.AnyOf[0]
					x := []float64{n.Minimum, n.Maximum, n.Minimum + draw.Float64()*(n.Maximum-n.Minimum)}[draw.IntN(3)]
					if n.Type == "integer" {
						x = float64(int(x))
					}
					set[p] = x
					if text := strconv.FormatFloat(x, 'f', -1, 64); draw.IntN(2) == 0 && len(a.AnyOf) > 1 &&
						regexp.MustCompile(a.AnyOf[1].Pattern).MatchString(text) {
						set[p] = text
					}
				}
			}
			body, err := json.Marshal(map[string]any{"query": "undo a commit", "profile": name, "parameters": set})
			if err != nil {
				t.Fatal(err)
			}
			res, answer := s.ask(t, "POST", "/v1/search", string(body))
			switch {
			case res.StatusCode == 409 && strings.Contains(string(answer), `"pointer":"#/parameters`) &&
				!strings.Contains(string(answer), "invalid: "):
				conflicts++
			case res.StatusCode != 200:
				t.Errorf("%s: %d %s", body, res.StatusCode, answer)
			}
		}
	}
	if conflicts == 0 {
		t.Error("no two parameters were in conflict: the test draws too few")
	}
}

// TestFiltersThatTheDocumentAllows: filters match the pattern of the document, and
// what matches it is a filter.
func TestFiltersThatTheDocumentAllows(t *testing.T) {
	s := start(t, notes, nil)
	pattern := filterPattern(t, s)
	for _, c := range []struct {
		filter string
		allows bool
	}{
		{"", true}, {" ", true}, {"tag:howto", true}, {"-tag:howto path:guides/", true}, {"tag:a OR tag:b ext:md", true},
		{"-(tag:a OR tag:b)", true}, {"tag:日本", true},
		{"after:2024-05 before:7d", true}, {"date:>=2024-02-28", true}, {"on:yesterday", true}, {"prop.rating:>3.5", true},
		{"prop.status:be*", true}, {"prop.x:*", true}, {`tag:"two words"`, true},
		{"path:git.md", true}, {"path:/a/b.md", true}, {"#a/b", true}, {"tag:—", true}, {"tag:*", true},
		{"-tags:* ext:*", true},
		{"prop.kg:PERSON::ann", true}, {"prop.a1:x", true}, {"prop.größe:1", true}, {"#größe", true}, {"#1a*", true},
		{"ext:md,txt", true}, {"after:2024-02-29", true}, {"after:2000-02-29", true},
		{"(tag:a tag:b)", true}, {"tag:a OR (tag:b tag:c)", true}, {"-( tag:a -tag:b OR ext:md )", true},
		{"prop.date:>2024-01-05", true}, {"+tag:a", true}, {"tag:a\text:md\nprop.x:!", true},
		{"after:2023-02-29", false}, {"after:1900-02-29", false}, {"#12", false}, {"prop.x:>word", false}, {"tag:a,b", false},
		{"()", false}, {"tag:a OR", false}, {"tag:a OR words", false},
		{"howto", false}, {"tag:", false}, {"path:guides", false}, {"after:2024-13", false}, {"on:2024-02-31", false},
		{"tag:a words", false}, {"(tag:a", false}, {"tag:**", false}, {"a*b", false}, {"OR", false},
	} {
		if pattern.MatchString(c.filter) != c.allows {
			t.Errorf("%q: the document allows it: %v", c.filter, !c.allows)
		}
		body, _ := json.Marshal(map[string]string{"query": "undo", "filter": c.filter})
		if res, answer := s.ask(t, "POST", "/v1/search", string(body)); res.StatusCode == 200 != c.allows {
			t.Errorf("%q: %d %s", c.filter, res.StatusCode, answer)
		}
	}
}

// TestFiltersDrawnFromThePattern: every text that the pattern of the document lets
// through is a filter.
func TestFiltersDrawnFromThePattern(t *testing.T) {
	s := start(t, notes, nil)
	parsed, err := syntax.Parse(filterPattern(t, s).String(), syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 20_000 {
		var b strings.Builder
		drawn(&b, parsed, rng)
		if _, err := access.Filter(b.String()); err != nil {
			t.Fatalf("%q: %v", b.String(), err)
		}
		if i%20 > 0 || utf8.RuneCountInString(b.String()) > 1000 {
			continue
		}
		if res, body := s.ask(t, "GET", "/v1/search?query=undo&filter="+url.QueryEscape(b.String()),
			""); res.StatusCode != 200 {
			t.Fatalf("%q: %d %s", b.String(), res.StatusCode, body)
		}
	}
}

// drawn writes a text that e matches.
func drawn(b *strings.Builder, e *syntax.Regexp, rng *rand.Rand) {
	times := func(low, high int) {
		if high < 0 {
			high = low + 4
		}
		for range low + rng.IntN(high-low+1) {
			drawn(b, e.Sub[0], rng)
		}
	}
	switch e.Op {
	case syntax.OpLiteral:
		b.WriteString(string(e.Rune))
	case syntax.OpCharClass:
		at := 2 * rng.IntN(len(e.Rune)/2)
		low, high := e.Rune[at], e.Rune[at+1]
		c := low + rng.Int32N(high-low+1)
		if rng.IntN(3) == 0 { // the ends are where it may be wrong
			c = []rune{low, high}[rng.IntN(2)]
		}
		if c >= 0xd800 && c <= 0xdfff { // no character
			c = high
		}
		b.WriteRune(c)
	case syntax.OpStar:
		times(0, -1)
	case syntax.OpPlus:
		times(1, -1)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpRepeat:
		times(e.Min, e.Max)
	case syntax.OpConcat, syntax.OpCapture:
		for _, part := range e.Sub {
			drawn(b, part, rng)
		}
	case syntax.OpAlternate:
		drawn(b, e.Sub[rng.IntN(len(e.Sub))], rng)
	case syntax.OpBeginText, syntax.OpEndText, syntax.OpEmptyMatch:
	default:
		panic("the pattern has " + e.Op.String())
	}
}

// filterPattern is the pattern of filters in the document.
func filterPattern(t *testing.T, s *server) *regexp.Regexp {
	t.Helper()
	var doc struct {
		Components struct {
			Schemas map[string]struct{ Pattern string } `json:"schemas"`
		} `json:"components"`
	}
	s.get(t, "GET", "/openapi.json", "", &doc)
	return regexp.MustCompile(regexp.MustCompile(`\\u([0-9a-f]{4})`).ReplaceAllString(
		doc.Components.Schemas["Filter"].Pattern, `\x{$1}`))
}

// TestFormsOfSeveralCollections: collections with one list of profiles and another
// default let searches without a profile through; where their lists differ, the document
// says nothing of profiles.
func TestFormsOfSeveralCollections(t *testing.T) {
	var other *collectiontest.Fixture
	s := start(t, notes, func(o *httpdoor.Options) {
		other = collectiontest.Open(t, notes, func(o *collection.Options) { o.Name, o.Profile = "other", "rrf" })
		o.Collections = append(o.Collections, other.Collection)
	})
	got := forms(t, s, "SearchBodyInput", "profile", "parameters")
	if without, ok := got[""]; !ok || without != nil || got["sheaf"]["meaning"] == nil || got["rrf"]["rrf_k"] == nil {
		t.Errorf("one list, two defaults: %v", got)
	}
	if res, body := s.ask(t, "PUT", "/v1/profiles/mine", `{"extends": "rrf"}`); res.StatusCode != 201 {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	if got := forms(t, s, "SearchBodyInput", "profile", "parameters"); len(got) != 0 {
		t.Errorf("two lists: %v", got)
	}
	if _, text := s.ask(t, "GET", "/openapi.json", ""); strings.Contains(string(text), "ParametersOf_") {
		t.Error("two lists: the document names profiles")
	}
}

// TestStrangersAndProfiles: who has no key that may search is told of no saved profile
// and of no default of a parameter.
func TestStrangersAndProfiles(t *testing.T) {
	s, keys := keyed(t, notes, map[string]access.Grant{"admin": {Scopes: []access.Scope{access.ScopeAdmin,
		access.ScopeSearch}}, "feed": {Scopes: []access.Scope{access.ScopeIngest}}})
	if status, body := s.as(t, keys["admin"], "PUT", "/v1/profiles/merger", `{"extends": "rrf", "about": "For the `+
		`merger.", "parameters": {"rrf_k": 7}}`); status != 201 {
		t.Fatal(status, body)
	}
	for _, c := range []struct {
		key   string
		knows bool
	}{{"feed", false}, {"admin", true}, {"none", false}, {"admin", true}} {
		_, text := s.as(t, keys[c.key], "GET", "/openapi.json", "")
		if strings.Contains(text, "merger") != c.knows || strings.Contains(text, "default 7)") != c.knows ||
			strings.Contains(text, "; default ") != c.knows || !strings.Contains(text, `"ParametersOf_rrf"`) {
			t.Errorf("%s: the document tells of the saved profile: %v", c.key, !c.knows)
		}
	}
}

// TestProfilesAreAskedForOnceASecond: the document tells of a profile that was written by
// hand when it has asked for them again.
func TestProfilesAreAskedForOnceASecond(t *testing.T) {
	f := collectiontest.Open(t, notes, nil)
	synctest.Test(t, func(t *testing.T) {
		a, err := httpdoor.New(httpdoor.Options{Collections: []*collection.Collection{f.Collection},
			Open: access.Unrestricted()})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = a.Close() }()
		knows := func() bool {
			w := httptest.NewRecorder()
			a.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/openapi.json", nil))
			return strings.Contains(w.Body.String(), "ParametersOf_byhand")
		}
		before := knows()
		dir := f.Options.ProfileDirs[0]
		if err := errors.Join(os.MkdirAll(dir, 0o755),
			os.WriteFile(filepath.Join(dir, "byhand.yaml"), []byte("name: byhand\nextends: rrf\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(900 * time.Millisecond)
		soon := knows()
		time.Sleep(100 * time.Millisecond)
		if then := knows(); before || soon || !then {
			t.Errorf("before %v, soon %v, a second later %v", before, soon, then)
		}
	})
}

// TestTakenOrContradictory: a name that is taken is a conflict of the name, by which the
// lab knows what it may offer to replace; parameters that contradict each other are others.
func TestTakenOrContradictory(t *testing.T) {
	s := start(t, notes, nil)
	const mine = `{"extends": "rrf"}`
	if res, body := s.ask(t, "PUT", "/v1/profiles/mine", mine); res.StatusCode != 201 {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	if p := s.wrong(t, 409, "PUT", "/v1/profiles/mine", mine); len(p.Errors) != 1 || p.Errors[0].Parameter != "name" {
		t.Errorf("a name that is taken: %+v", p)
	}
	if p := s.wrong(t, 409, "PUT", "/v1/profiles/new",
		`{"extends": "onyx-vespa", "parameters": {"target_hits": 1}}`); len(p.Errors) == 0 ||
		p.Errors[0].Parameter == "name" {
		t.Errorf("parameters that contradict each other: %+v", p)
	}
}

// TestStagesOfTheDocument: every stage that can be run has an operation with its
// settings, and values at the ends of what it allows are carried out.
func TestStagesOfTheDocument(t *testing.T) {
	s := start(t, notes, nil)
	for _, name := range collection.Stages() {
		for _, o := range collection.StageOptions(name) {
			if !o.Number {
				continue
			}
			for _, x := range []float64{o.Min, o.Max} {
				set := map[string]any{o.Name: x}
				for _, other := range collection.StageOptions(name) {
					switch {
					case other.Default != "" || other.Name == o.Name:
					case other.Number:
						set[other.Name] = max(1, other.Min)
					case len(other.OneOf) > 0:
						set[other.Name] = other.OneOf[0]
					default:
						set[other.Name] = "tag"
					}
				}
				body, err := json.Marshal(map[string]any{"rankings": [][]collection.Scored{{{ID: "notes:git.md", Score: 1}}},
					"settings": set})
				if err != nil {
					t.Fatal(err)
				}
				// which bound each other
				pair := slices.Contains([]string{"normalize.low", "normalize.high", "adaptive.floor", "adaptive.ceiling"}, name+"."+
					o.Name)
				if res, answer := s.ask(t, "POST", "/v1/stages/"+name, string(body)); res.StatusCode != 200 &&
					!(pair && res.StatusCode == 409) {
					t.Errorf("%s %s: %d %s", name, body, res.StatusCode, answer)
				}
			}
		}
	}
	var doc struct{ Paths map[string]any }
	s.get(t, "GET", "/openapi.json", "", &doc)
	for _, name := range collection.Stages() {
		if doc.Paths["/v1/stages/"+name] == nil {
			t.Errorf("the document has no stage %s", name)
		}
	}
	if doc.Paths["/v1/stages/{name}"] != nil {
		t.Error("the document has a stage of any name")
	}
	for weights, status := range map[string]int{`[2, 1]`: 200, `[0, 1]`: 200, `[1]`: 409, `[0, 0]`: 409, `[-1, 1]`: 400,
		`["1", 1]`: 400, `1`: 400} {
		if res, body := s.ask(t, "POST", "/v1/stages/fuse", `{"rankings": [[{"id": "a", "score": 2}], [{"id": "b", `+
			`"score": 1}]], "settings": {"method": "rrf"}, "weights": `+weights+`}`); res.StatusCode != status ||
			status == 200 == strings.Contains(string(body), "#/weights") {
			t.Errorf("weights %s: %d %s", weights, res.StatusCode, body)
		}
	}
	for unit, status := range map[string]int{`true`: 200, `"true"`: 200, `false`: 200, `1`: 422, `null`: 400} {
		if res, body := s.ask(t, "POST", "/v1/stages/fuse", `{"rankings": [[{"id": "a", "score": 2}]], "settings": `+
			`{"method": "rrf", "unit": `+unit+`}}`); res.StatusCode != status ||
			strings.Contains(string(body), `"score":1`) != strings.Contains(unit, "true") {
			t.Errorf("unit %s: %d %s", unit, res.StatusCode, body)
		}
	}
	if p := s.wrong(t, 422, "POST", "/v1/stages/top", `{"rankings": [[{"id": "a", "score": 2}]], "settings": {"n": 1}, `+
		`"weights": [1]}`); len(p.Errors) != 1 || p.Errors[0].Pointer != "#/weights" {
		t.Errorf("weights of one ranking: %+v", p)
	}
	if p := s.wrong(t, 400, "POST", "/v1/stages/top", `{"rankings": [[{"score": 1}]]}`); len(p.Errors) != 1 ||
		p.Errors[0].Pointer != "#/rankings/0/0/id" {
		t.Errorf("a hit without an identifier: %+v", p)
	}
	if res, body := s.ask(t, "POST", "/v1/stages/top", `{"rankings": [[{"id": "a", "score": 2}, {"id": "b", "score": `+
		`1}]], "settings": {"n": 1, "when": 0}}`); res.StatusCode != 200 || !strings.Contains(string(body), `"id":"b"`) {
		t.Errorf("a stage that is left out: %d %s", res.StatusCode, body)
	}
	if res, body := s.ask(t, "POST", "/v1/stages/rerank", `{"rankings": [[]]}`); res.StatusCode != 404 {
		t.Errorf("a stage that calls a model: %d %s", res.StatusCode, fmt.Sprintf("%.200s", body))
	}
}

// TestCursorOfAnotherQuery: it is a conflict, and says which query the cursor
// belongs to.
func TestCursorOfAnotherQuery(t *testing.T) {
	s := start(t, notes, nil)
	var a collection.Answer
	s.get(t, "GET", "/v1/search?query=commit&limit=1", "", &a)
	if a.Next == "" {
		t.Fatal("there is no next page")
	}
	if p := s.wrong(t, 409, "GET", "/v1/search?query=other&cursor="+a.Next, ""); len(p.Errors) != 1 ||
		p.Errors[0].Parameter != "cursor" || !strings.Contains(p.Errors[0].Detail, `"commit"`) {
		t.Errorf("%+v", p)
	}
}
