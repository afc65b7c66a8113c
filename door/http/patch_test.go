package http_test

import (
	"fmt"
	"strings"
	"testing"

	"sheaf/collection"
)

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
	if got := fmt.Sprint(d.Properties); got != "map[STATUS:[done] access:[] acceſſ:[kept] sets:[] tenant:[] "+
		"ſtatus:[old] λόγος:[1] λόγοσ:[2]]" {
		t.Errorf("the document has %s", got)
	}
	for _, query := range []string{"prop.status:done", "prop.ſtatus:old", "prop.acceſſ:kept"} {
		if ids := found(t, s, query); len(ids) != 1 {
			t.Errorf("%s: found %v", query, ids)
		}
	}
	for _, same := range []string{`"a": 1, "A": 2`, `"caf\u00e9": 1, "Cafe\u0301": 2`} {
		if res, body := s.ask(t, "PUT", path, `{"text": "Alike.\n", "properties": {`+same+`}}`); res.StatusCode != 409 {
			t.Errorf("%s: %d %s", same, res.StatusCode, body)
		}
	}
	s.get(t, "PATCH", path, `{"properties": {"caf\u00e9": "old"}}`, &stored)
	s.get(t, "PATCH", path, `{"properties": {"cafe\u0301": "new"}}`, &stored)
	for query, want := range map[string]int{"prop.caf\u00e9:old": 0, "prop.caf\u00e9:new": 1} {
		if ids := found(t, s, query); len(ids) != want {
			t.Errorf("%s: found %v", query, ids)
		}
	}
}

// TestPatch checks that a patch changes metadata without the text and the vectors, which only the
// caller has.
func TestPatch(t *testing.T) {
	s := start(t, notes, nil)
	const path = "/v1/documents/api:zebra.md"
	v := "[1" + strings.Repeat(",0", 63) + "]"
	var stored, patched collection.Stored
	s.get(t, "PUT", path, `{"title": "Zebra", "chunks": [{"text": "Stripes on savannas.", "vectors": [`+v+`]}], "access": ["user:ann"],
		"properties": {"Status": "draft", "boost": 3, "hidden": false, "kg_entities": ["ANIMAL::zebra", "PLACE::Savanna"]}}`, &stored)
	for _, c := range []struct {
		query string
		found bool
	}{{"prop.status:draft", true}, {"prop.boost:>2", true}, {"prop.boost:>3", false}, {"prop.hidden:false", true},
		{"prop.kg_entities:ANIMAL::zebra", true},
		{"prop.kg_entities:place::*", true}, {"prop.kg_entities:place::sav", false}} {
		if ids := found(t, s, "savannas "+c.query); len(ids) > 0 != c.found {
			t.Errorf("%s: found %v", c.query, ids)
		}
	}
	if res, body := s.ask(t, "PATCH", path, `{"title": "x"}`, "If-Match", `"other"`); res.StatusCode != 412 {
		t.Errorf("another version: %d %s", res.StatusCode, body)
	}
	s.get(t, "PATCH", path, `{"properties": {"status": "done", "boost": []}, "access": ["public"], "sets": ["animals"]}`,
		&patched)
	if patched.Created || patched.Chunks != 1 || patched.ETag == stored.ETag || patched.ETag == "" {
		t.Errorf("%+v after %+v", patched, stored)
	}
	var d collection.Document
	s.get(t, "GET", path, "", &d)
	if got := fmt.Sprintln(d.Title, d.Properties); got != "Zebra map[access:[public] hidden:[false] "+
		"kg_entities:[ANIMAL::zebra PLACE::Savanna] sets:[animals] status:[done] tenant:[]]\n" {
		t.Errorf("the document is %s", got)
	}
	if ids := found(t, s, "savannas prop.status:done"); len(ids) != 1 {
		t.Errorf("found %v", ids)
	}
	if kept := kept(t, s); len(kept) != 1 || !strings.Contains(fmt.Sprint(kept), `"vectors":[[1,0,`) {
		t.Errorf("the vectors are gone: %.200s", kept)
	}
	if res, body := s.ask(t, "PATCH", "/v1/documents/notes:git.md", `{"title": "x"}`); res.StatusCode != 403 {
		t.Errorf("a document of a folder: %d %s", res.StatusCode, body)
	}
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
	if got := document(); got != want || after.ETag != before.ETag || !strings.Contains(got, `"Own":1e+21`) ||
		!strings.Contains(got, `"empty":[]`) {
		t.Errorf("kept as %s, before %s; tags %s and %s", got, want, after.ETag, before.ETag)
	}
	s.get(t, "PATCH", path, `{"date": null, "properties": {"STATUS": "done"}}`, &after)
	if got := document(); strings.Contains(got, "2024") || strings.Contains(got, "draft") ||
		!strings.Contains(got, `"STATUS":"done"`) || !strings.Contains(got, `"Own":1e+21`) {
		t.Errorf("kept as %s", got)
	}
	if ids := found(t, s, "stripes after:2000"); len(ids) != 0 {
		t.Errorf("by its date are found %v", ids)
	}
}
