package http_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sheaf/collection"
	"sheaf/collection/access"
	httpdoor "sheaf/door/http"
	"sheaf/index/catalog"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// working runs the collection's worker until the test ends.
func working(t *testing.T, c *collection.Collection) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Work(ctx) }()
	t.Cleanup(func() {
		stop()
		check.NoError(t, <-done, "end of the work")
	})
}

func found(t *testing.T, s *server, query string) []string {
	t.Helper()
	var a collection.Answer
	s.get(t, "POST", "/v1/search", fmt.Sprintf(`{"query": %q, "parameters": {"meaning": 0}}`, query), &a)
	var ids []string
	for _, r := range a.Results {
		ids = append(ids, string(r.ID))
	}
	return ids
}

func TestPutGetDelete(t *testing.T) {
	s := start(t, notes, nil)
	const path = "/v1/documents/api:guides/zebra.md"
	res, body := s.ask(t, "PUT", path, `{"text": "# Zebras\n\nStripes on savannas.\n", "properties": {"status": `+
		`"draft"}, "date": "2024-05-01"}`)
	var stored collection.Stored
	err := json.Unmarshal(body, &stored)
	must.That(t, err == nil && res.StatusCode == 201 && stored.Created && stored.Chunks != 0 &&
		stored.ETag == res.Header.Get("ETag") && stored.ETag != "", "put: %d %s", res.StatusCode, body)
	ids := found(t, s, "savannas")
	check.That(t, len(ids) != 0 && strings.HasPrefix(ids[0], "api:guides/zebra.md"), "search: %v", ids)
	ids = found(t, s, "savannas prop.status:draft after:2024")
	check.That(t, len(ids) != 0, "not found by its properties")
	var part collection.Part
	s.get(t, "GET", "/v1/chunks/api:guides/zebra.md", "", &part)
	check.Equal(t, part.Text, "# Zebras\n\nStripes on savannas.\n", "text")
	check.Contains(t, s.want(t, 412, "PUT", path, `{"text": "# B\n"}`, "If-None-Match", "*"), "there is a document")
	for header, status := range map[string]int{`If-Match: "other"`: 412, "If-None-Match: *": 412, "If-Match: " +
		stored.ETag: 200} {
		name, value, _ := strings.Cut(header, ": ")
		s.want(t, status, "PUT", path, `{"text": "Donkeys.\n"}`, name, value)
	}
	check.Equal(t, len(found(t, s, "savannas")), 0, "hits of the old text")
	// Indexing the folder does not change a given document.
	s.fixture.Write(t, "new.md", "# New\n")
	s.fixture.Index(t)
	ids = found(t, s, "donkeys")
	check.That(t, len(ids) != 0, "a run over the folder took it away")
	s.want(t, 412, "DELETE", path, "", "If-Match", stored.ETag)
	check.That(t, strings.Contains(s.want(t, 200, "DELETE", path, ""), `"deleted":true`), "it is not deleted")
	s.want(t, 404, "DELETE", path, "")
	check.Equal(t, len(found(t, s, "donkeys")), 0, "hits of a deleted document")
	check.Equal(t, len(kept(t, s)), 0, "documents after the last was deleted")
}

func TestPutOwnChunksAndVectors(t *testing.T) {
	s := start(t, notes, nil)
	vector := make([]string, 64)
	for i := range vector {
		vector[i] = "0"
	}
	vector[3] = "7"
	v := "[" + strings.Join(vector, ",") + "]"
	body := `{"title": "Animals", "chunks": [{"slug": "zebra", "title": "Zebra", "text": "Stripes."}, {"text": "Long ` +
		`ears.", "vectors": [` + v + `]}]}`
	var stored collection.Stored
	s.get(t, "PUT", "/v1/documents/api:animals", body, &stored)
	check.That(t, stored.Chunks == 2, "%+v", stored)
	var part collection.Part
	s.get(t, "GET", "/v1/chunks/api:animals%23zebra", "", &part)
	check.That(t, part.Text == "Stripes." && part.Breadcrumb == "> Animals › Zebra", "%+v", part)
	ids := found(t, s, "ears")
	check.That(t, len(ids) == 1 && ids[0] == "api:animals#1", "found %v", ids)
}

// keyed starts a server with a key for each grant. It returns the keys by name.
func keyed(t *testing.T, files map[string]string, grants map[string]access.Grant) (*server, map[string]string) {
	t.Helper()
	keys, err := access.OpenKeys(filepath.Join(t.TempDir(), "keys.json"))
	must.Do(t, err)
	secrets := map[string]string{}
	for name, g := range grants {
		g.Name = name
		if _, secrets[name], err = keys.Add(g); err != nil {
			t.Fatal(err)
		}
	}
	return start(t, files, func(o *httpdoor.Options) { o.Keys = keys }), secrets
}

func (s *server) as(t *testing.T, secret, method, path, body string) (int, string) {
	t.Helper()
	res, content := s.ask(t, method, path, body, "Authorization", "Bearer "+secret)
	return res.StatusCode, string(content)
}

func TestTenantsAndScopes(t *testing.T) {
	ingest, search := access.ScopeIngest, access.ScopeSearch
	s, keys := keyed(t, notes, map[string]access.Grant{
		"acme feed":  {Scopes: []access.Scope{ingest}, Tenant: "acme"},
		"acme ann":   {Scopes: []access.Scope{search}, Tenant: "acme", Access: []string{"user:ann"}},
		"acme":       {Scopes: []access.Scope{search}, Tenant: "acme"},
		"umbrella":   {Scopes: []access.Scope{search, ingest}, Tenant: "umbrella", Access: []string{access.All}},
		"nobody":     {Scopes: []access.Scope{search}},
		"everything": {Scopes: []access.Scope{access.ScopeAdmin}, Tenant: access.All, Access: []string{access.All}},
		"finance":    {Scopes: []access.Scope{ingest}, Tenant: "acme", Sets: []string{"finance"}},
		"acme bob":   {Scopes: []access.Scope{search, ingest}, Tenant: "acme", Access: []string{"user:bob"}},
		"called api": {Scopes: []access.Scope{search, ingest}, Tenant: catalog.FreeTree, Access: []string{access.All}},
		"called a:b": {Scopes: []access.Scope{search, ingest}, Tenant: "a:b", Access: []string{access.All}},
	})
	put := func(key, id, body string) int {
		status, _ := s.as(t, keys[key], "PUT", "/v1/documents/"+id, body)
		return status
	}
	for what, status := range map[string]int{
		"own tenant": put("acme feed", "acme:a.md", `{"text": "---\naccess: public\ntenant: umbrella\n---\nBudget `+
			`of Ann.\n", "access": ["user:ann"]}`),
		"a public one":     put("acme feed", "acme:p.md", `{"text": "Budget for all.\n", "access": ["public"]}`),
		"a private one":    put("acme feed", "acme:s.md", `{"text": "Budget of nobody.\n"}`),
		"another one":      put("umbrella", "umbrella:u.md", `{"text": "Budget of umbrella.\n"}`),
		"of no tenant":     put("everything", "api:x.md", `{"text": "Budget of the world.\n", "access": ["public"]}`),
		"of the bound set": put("finance", "acme:f.md", `{"text": "Budget of finance.\n", "access": ["public"]}`),
	} {
		check.Equal(t, status, 201, "%s", what)
	}
	for what, status := range map[string]int{
		"another tenant's tree": put("acme feed", "umbrella:a.md", `{"text": "x"}`),
		"no tenant's tree":      put("acme feed", "api:a.md", `{"text": "x"}`),
		"a folder's tree":       put("acme feed", "notes:a.md", `{"text": "x"}`),
		"without the scope":     put("acme ann", "acme:a.md", `{"text": "x"}`),
		"outside its sets":      put("finance", "acme:g.md", `{"text": "x", "sets": ["sales"]}`),
		"a tenant called api":   put("called api", "api:x.md", `{"text": "x"}`),
	} {
		check.Equal(t, status, 403, "%s", what)
	}
	check.That(t, strings.Contains(s.want(t, 403, "PUT", "/v1/documents/a:b:x.md", `{"text": "x"}`,
		bearer(keys["called a:b"])...), "a tenant of this name cannot write"), "a tenant without a tree")
	// A key cannot change who may read a document that it does not see.
	for _, c := range []struct {
		key, id, body string
		status        int
	}{
		{"acme bob", "acme:a.md", `{"access": ["user:bob"]}`, 404}, {"acme bob", "acme:s.md", `{"access": ["public"]}`, 404},
		{"acme bob", "acme:none.md", `{"access": ["user:bob"]}`, 404},
		{"acme feed", "acme:s.md", `{"access": ["public"]}`, 404},
		{"finance", "acme:p.md", `{"title": "x"}`, 404}, {"umbrella", "acme:p.md", `{"title": "x"}`, 403},
		{"acme ann", "acme:a.md", `{"title": "x"}`, 403},
		{"finance", "acme:f.md", `{"sets": ["sales"]}`, 403}, {"acme bob", "acme:p.md", `{"title": "Budgets"}`, 200},
		{"umbrella", "umbrella:u.md", `{"title": "Budgets"}`, 200},
	} {
		began := time.Now()
		status, body := s.as(t, keys[c.key], "PATCH", "/v1/documents/"+c.id, c.body)
		if status != c.status || status == 404 &&
			(time.Since(began) < 4*time.Millisecond || !strings.Contains(body, fmt.Sprintf(`nothing is called \"%s\"`, c.id))) {
			t.Errorf("%s: PATCH %s %s: %d %s after %v, want %d", c.key, c.id, c.body, status, body, time.Since(began), c.status)
		}
	}
	for key, want := range map[string]string{"acme bob": "acme:f.md acme:p.md",
		"acme ann": "acme:a.md acme:f.md acme:p.md", "acme": "acme:f.md acme:p.md", "umbrella": "umbrella:u.md",
		"nobody":     "api:x.md",
		"everything": "acme:a.md acme:f.md acme:p.md acme:s.md api:x.md umbrella:u.md"} {
		status, body := s.as(t, keys[key], "GET", "/v1/search?query=budget&limit=50", "")
		var a collection.Answer
		err := json.Unmarshal([]byte(body), &a)
		must.That(t, err == nil && status == 200, "%s: %d %s", key, status, body)
		got := map[string]bool{}
		for _, r := range a.Results {
			got[string(r.Doc)] = true
		}
		for _, doc := range strings.Fields("acme:a.md acme:f.md acme:p.md acme:s.md api:x.md umbrella:u.md") {
			if want := strings.Contains(want, doc); got[doc] != want {
				t.Errorf("%s: %s found: %v", key, doc, got[doc])
			}
			status, _ := s.as(t, keys[key], "GET", "/v1/documents/"+doc, "")
			check.That(t, (status == 200) == strings.Contains(want, doc), "%s: %s: %d", key, doc, status)
		}
	}
	s.want(t, 403, "GET", "/metrics", "", bearer(keys["acme"])...)
	res, _ := s.ask(t, "GET", "/v1/search?query=x", "")
	check.That(t, res.StatusCode == 401 && strings.HasPrefix(res.Header.Get("WWW-Authenticate"), "Bearer"),
		"without a key: %d %v", res.StatusCode, res.Header)
	// Only the owner of a task and a key for everything see the task.
	_, body := s.as(t, keys["acme feed"], "POST", "/v1/documents", `{"documents": [{"id": "acme:t.md", "text": "x"}], `+
		`"async": true}`)
	var answer httpdoor.BatchAnswer
	err := json.Unmarshal([]byte(body), &answer)
	must.That(t, err == nil && answer.Task != nil, "%v", body)
	for key, want := range map[string]int{"acme feed": 200, "umbrella": 404, "finance": 404, "everything": 200} {
		_, body := s.as(t, keys[key], "GET", "/v1/tasks", "")
		check.That(t, strings.Contains(body, answer.Task.ID) == (want == 200), "tasks of %s: %s", key, body)
		s.want(t, want, "GET", "/v1/tasks/"+answer.Task.ID, "", bearer(keys[key])...)
	}
}

// TestHidden checks that a key with a filter does not find the documents that its filter hides. A
// key without a filter finds them, and can show them by changing their properties.
func TestHidden(t *testing.T) {
	s, keys := keyed(t, notes, map[string]access.Grant{
		"reader": {Scopes: []access.Scope{access.ScopeSearch}, Access: []string{access.All}, Baked: "-prop.hidden:true"},
		"keeper": {Scopes: []access.Scope{access.ScopeSearch, access.ScopeIngest}, Access: []string{access.All}},
	})
	const path = "/v1/documents/api:zebra.md"
	s.want(t, 201, "PUT", path, `{"text": "Savannas.\n", "properties": {"hidden": true}}`, bearer(keys["keeper"])...)
	seen := func(key string) bool {
		_, body := s.as(t, keys[key], "GET", "/v1/search?query=savannas", "")
		status, _ := s.as(t, keys[key], "GET", "/v1/chunks/api:zebra.md", "")
		found := strings.Contains(body, "api:zebra.md")
		check.That(t, found == (status == 200), "%s: found is %t, and reading it %d", key, found, status)
		return status == 200
	}
	check.That(t, !seen("reader") && seen("keeper"), "a hidden document is not hidden, or from its keeper too")
	s.want(t, 200, "PATCH", path, `{"properties": {"hidden": false}}`, bearer(keys["keeper"])...)
	check.That(t, seen("reader"), "it stays hidden")
}

// TestFilterByVisiblePropertyNames checks that a restricted caller can filter by properties and document sets of
// visible documents. A name that only hidden documents have is unknown.
func TestFilterByVisiblePropertyNames(t *testing.T) {
	all := []access.Scope{access.ScopeSearch, access.ScopeIngest}
	s, keys := keyed(t, notes, map[string]access.Grant{
		"ann":  {Scopes: all, Access: []string{"user:ann"}},
		"acme": {Scopes: all, Tenant: "acme", Access: []string{access.All}},
	})
	for key, put := range map[string]string{
		"ann": `/v1/documents/api:graph.md {"text": "Savannas.\n", "access": ["user:ann"], "sets": ["handbook"], ` +
			`"properties": {"kg_entities": ["PERSON::ann"]}}`,
		"acme": `/v1/documents/acme:graph.md {"text": "Savannas.\n", "access": ["public"], "properties": ` +
			`{"codename": "zebra"}}`,
	} {
		path, body, _ := strings.Cut(put, " ")
		s.want(t, 201, "PUT", path, body, bearer(keys[key])...)
	}
	for _, c := range []struct {
		key, query string
		found      string // the only document found
	}{
		{"ann", "kg_entities:PERSON::ann", "api:graph.md"}, {"ann", "savannas KG_entities:PERSON::*", "api:graph.md"},
		{"ann", "(sets:handbook)", "api:graph.md"},
		{"ann", "codename:zebra", ""}, {"acme", "codename:zebra", "acme:graph.md"}, {"acme", "kg_entities:PERSON::ann", ""},
	} {
		_, body := s.as(t, keys[c.key], "GET", "/v1/search?query="+url.QueryEscape(c.query), "")
		var answer collection.Answer
		must.Do(t, json.Unmarshal([]byte(body), &answer))
		unknown := strings.Contains(strings.Join(answer.Notes, " "), "is no field or property here")
		check.That(t, unknown == (c.found == ""), "%s asks for %s: notes %q", c.key, c.query, answer.Notes)
		for _, r := range answer.Results {
			check.That(t, unknown || string(r.Doc) == c.found, "%s asks for %s: %s", c.key, c.query, r.ID)
		}
		check.That(t, unknown || len(answer.Results) != 0, "%s asks for %s: nothing", c.key, c.query)
	}
	// Each unknown name is looked up in the store, so their number is bounded: further names need prop.
	_, body := s.as(t, keys["ann"], "GET", "/v1/search?query="+url.QueryEscape("a:1 b:1 c:1 d:1 kg_entities:PERSON::ann"),
		"")
	check.Contains(t, body, `\"kg_entities:\" was not looked up`, `did you mean \"prop.kg_entities:\"?`)
	// A repeated name is looked up once.
	_, body = s.as(t, keys["ann"], "GET", "/v1/search?query="+
		url.QueryEscape("a:1 A:2 a:3 a:4 a:5 kg_entities:PERSON::ann"), "")
	check.That(t, !strings.Contains(body, `\"kg_entities:\" `), "%v", body)
}

// TestWritesStayWithinSets checks that a key bound to sets neither replaces nor deletes a document of another set.
func TestWritesStayWithinSets(t *testing.T) {
	ingest := []access.Scope{access.ScopeIngest}
	s, keys := keyed(t, notes, map[string]access.Grant{
		"all":     {Scopes: ingest, Tenant: "acme"},
		"finance": {Scopes: ingest, Tenant: "acme", Access: []string{access.All}, Sets: []string{"finance"}},
	})
	working(t, s.fixture.Collection)
	for _, id := range []string{"sales.md", "finance.md"} {
		set, _, _ := strings.Cut(id, ".")
		s.want(t, 201, "PUT", "/v1/documents/acme:"+id, `{"text": "Budget.\n", "sets": ["`+set+
			`"]}`, bearer(keys["all"])...)
	}
	for _, c := range []struct {
		key, method, path, body string
		status                  int
	}{
		{"finance", "PUT", "/v1/documents/acme:sales.md", `{"text": "x"}`, 403},
		{"finance", "DELETE", "/v1/documents/acme:sales.md", "", 404},
		{"finance", "POST", "/v1/documents", `{"documents": [{"id": "acme:new.md", "text": "x"}, {"id": "acme:sales.md", ` +
			`"text": "x"}]}`, 403},
		{"finance", "POST", "/v1/documents", `{"documents": [{"id": "acme:new.md", "text": "x"}, {"id": ` +
			`"umbrella:new.md", "text": "x"}]}`, 403},
		{"finance", "POST", "/v1/documents", `{"documents": [{"id": "acme:new.md", "text": "x"}, {"id": "acme:other.md", ` +
			`"text": "x", "sets": ["sales"]}]}`, 403},
		{"finance", "DELETE", "/v1/documents/acme:nosuch.md", "", 404},
		{"finance", "POST", "/v1/documents", `{"documents": [{"id": "acme:new.md", "text": "x"}, {"id": "acme:sales.md", ` +
			`"delete": true}]}`, 404},
		{"finance", "PATCH", "/v1/documents/acme:sales.md", `{"title": "x"}`, 404},
		{"finance", "PATCH", "/v1/documents/acme:finance.md", `{"sets": ["sales"]}`, 403},
		{"finance", "PATCH", "/v1/documents/acme:finance.md", `{"sets": []}`, 403},
		{"finance", "PATCH", "/v1/documents/acme:finance.md", `{"title": "x"}`, 200},
		{"finance", "PUT", "/v1/documents/acme:finance.md", `{"text": "x"}`, 200},
		{"finance", "DELETE", "/v1/documents/acme:finance.md", "", 200},
		{"all", "DELETE", "/v1/documents/acme:new.md", "", 404},
		{"finance", "POST", "/v1/documents", `{"documents": [{"id": "acme:sales.md", "delete": true}], "async": true}`, 202},
		{"all", "DELETE", "/v1/documents/acme:sales.md", "", 200},
	} {
		status, body := s.as(t, keys[c.key], c.method, c.path, c.body)
		check.That(t, status == c.status, "%s: %s %s %s: %d %s, want %d", c.key, c.method, c.path, c.body, status, body,
			c.status)
		where := map[string]string{"PUT": `"parameter":"id"`, "PATCH": `"pointer":"#/sets"`,
			"POST": `"pointer":"#/documents/1/`}[c.method]
		check.That(t, status != 403 || strings.Contains(body, where), "%s: %s %s %s: %s, want %s", c.key, c.method, c.path,
			c.body, body, where)
	}
}

// TestHiddenAndMissingAnswerAlike checks that answers about hidden and missing documents differ only in the name.
func TestHiddenAndMissingAnswerAlike(t *testing.T) {
	s, keys := keyed(t, notes, map[string]access.Grant{"public": {Scopes: []access.Scope{access.ScopeSearch}}})
	strip := func(body, id string) string {
		var p map[string]any
		err := json.Unmarshal([]byte(body), &p)
		must.That(t, err == nil, "%v", body)
		delete(p, "instance")
		out, _ := json.Marshal(p)
		return strings.ReplaceAll(string(out), id, "ID")
	}
	hidden, none := "notes:hg.md", "notes:zz.md"
	for _, route := range [][3]string{
		{"GET", "/v1/chunks/%s", ""}, {"GET", "/v1/documents/%s", ""}, {"GET", "/v1/similar?id=%s", ""},
		{"POST", "/v1/similar", `{"id": "%s"}`}, {"POST", "/v1/explain/absence", `{"query": "undo", "id": "%s"}`},
	} {
		var bodies [2]string
		for i, id := range []string{hidden, none} {
			path, body := strings.ReplaceAll(route[1], "%s", id), strings.ReplaceAll(route[2], "%s", id)
			began := time.Now()
			status, got := s.as(t, keys["public"], route[0], path, body)
			check.That(t, status == http.StatusNotFound && time.Since(began) >= 4*time.Millisecond, "%s %s: %d after %v",
				route[0], path, status, time.Since(began))
			bodies[i] = strip(got, id)
		}
		check.That(t, bodies[0] == bodies[1], "%s %s: %s and %s", route[0], route[1], bodies[0], bodies[1])
	}
}

// TestPropertyNamesOfOneColumnAreEqual checks that two property names are equal only where stores use
// one column for both. A long s differs from s, and a final sigma from a sigma.
func TestPropertyNamesOfOneColumnAreEqual(t *testing.T) {
	s := start(t, notes, nil)
	const path = "/v1/documents/api:alike.md"
	var stored collection.Stored
	s.get(t, "PUT", path, `{"text": "Alike.\n", "properties": {"acceſſ": "kept", "status": "draft", "λόγος": 1, `+
		`"λόγοσ": 2}}`, &stored)
	s.get(t, "PATCH", path, `{"properties": {"ſtatus": "old", "STATUS": "done"}}`, &stored)
	var d collection.Document
	s.get(t, "GET", path, "", &d)
	check.Equal(t, fmt.Sprint(d.Properties), "map[STATUS:[done] access:[] acceſſ:[kept] sets:[] tenant:[] "+
		"ſtatus:[old] λόγος:[1] λόγοσ:[2]]", "the document")
	for _, query := range []string{"prop.status:done", "prop.ſtatus:old", "prop.acceſſ:kept"} {
		check.Equal(t, len(found(t, s, query)), 1, "hits of %s", query)
	}
	for _, same := range []string{`"a": 1, "A": 2`, `"caf\u00e9": 1, "Cafe\u0301": 2`} {
		s.want(t, 409, "PUT", path, `{"text": "Alike.\n", "properties": {`+same+`}}`)
	}
	s.get(t, "PATCH", path, `{"properties": {"caf\u00e9": "old"}}`, &stored)
	s.get(t, "PATCH", path, `{"properties": {"cafe\u0301": "new"}}`, &stored)
	for query, want := range map[string]int{"prop.caf\u00e9:old": 0, "prop.caf\u00e9:new": 1} {
		check.Equal(t, len(found(t, s, query)), want, "hits of %s", query)
	}
}

// TestPatch checks that a patch changes metadata without the text and the vectors, which only the
// caller has.
func TestPatch(t *testing.T) {
	s := start(t, notes, nil)
	const path = "/v1/documents/api:zebra.md"
	v := "[1" + strings.Repeat(",0", 63) + "]"
	var stored, patched collection.Stored
	s.get(t, "PUT", path, `{"title": "Zebra", "chunks": [{"text": "Stripes on savannas.", "vectors": [`+v+`]}],
		"access": ["user:ann"], "properties": {"Status": "draft", "boost": 3, "hidden": false,
			"kg_entities": ["ANIMAL::zebra", "PLACE::Savanna"]}}`, &stored)
	for _, c := range []struct {
		query string
		found bool
	}{{"prop.status:draft", true}, {"prop.boost:>2", true}, {"prop.boost:>3", false}, {"prop.hidden:false", true},
		{"prop.kg_entities:ANIMAL::zebra", true},
		{"prop.kg_entities:place::*", true}, {"prop.kg_entities:place::sav", false}} {
		check.Equal(t, len(found(t, s, "savannas "+c.query)) > 0, c.found, "%s finds the document", c.query)
	}
	s.want(t, 412, "PATCH", path, `{"title": "x"}`, "If-Match", `"other"`)
	s.get(t, "PATCH", path, `{"properties": {"status": "done", "boost": []}, "access": ["public"], "sets": ["animals"]}`,
		&patched)
	check.That(t, !patched.Created && patched.Chunks == 1 && patched.ETag != stored.ETag && patched.ETag != "",
		"%+v after %+v", patched, stored)
	var d collection.Document
	s.get(t, "GET", path, "", &d)
	check.Equal(t, fmt.Sprintln(d.Title, d.Properties), "Zebra map[access:[public] hidden:[false] "+
		"kg_entities:[ANIMAL::zebra PLACE::Savanna] sets:[animals] status:[done] tenant:[]]\n", "the document")
	check.Equal(t, len(found(t, s, "savannas prop.status:done")), 1, "hits of the property")
	if kept := kept(t, s); len(kept) != 1 || !strings.Contains(fmt.Sprint(kept), `"vectors":[[1,0,`) {
		t.Errorf("the vectors are gone: %.200s", kept)
	}
	s.want(t, 403, "PATCH", "/v1/documents/notes:git.md", `{"title": "x"}`)
}

// TestPatchKeepsOtherFields checks that a patch keeps all other fields exactly, and can remove a date.
func TestPatchKeepsOtherFields(t *testing.T) {
	s := start(t, notes, nil)
	const path = "/v1/documents/api:zebra.md"
	s.ask(t, "PUT", path, `{"text": "Stripes.", "date": "2024-05-01", "properties": {"Own": 1e21, "empty": [], `+
		`"Status": "draft"}}`)
	document := func() string {
		for _, content := range kept(t, s) {
			return content
		}
		return ""
	}
	var before, after collection.Stored
	s.get(t, "PATCH", path, `{"title": "Zebra"}`, &before)
	want := document()
	s.get(t, "PATCH", path, `{}`, &after)
	got := document()
	check.That(t, got == want && after.ETag == before.ETag && strings.Contains(got, `"Own":1e+21`) &&
		strings.Contains(got, `"empty":[]`), "kept as %s, before %s; tags %s and %s", got, want, after.ETag, before.ETag)
	s.get(t, "PATCH", path, `{"date": null, "properties": {"STATUS": "done"}}`, &after)
	got = document()
	check.That(t, !strings.Contains(got, "2024") && !strings.Contains(got, "draft") &&
		strings.Contains(got, `"STATUS":"done"`) && strings.Contains(got, `"Own":1e+21`), "kept as %s", got)
	check.Equal(t, len(found(t, s, "stripes after:2000")), 0, "hits by date")
}
