package http

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// codePoint matches an escaped character of a Go regular expression, such as \x{e9}.
var codePoint = regexp.MustCompile(`\\x\{[0-9a-f]{1,4}\}`)

// documentOf returns a function that returns the OpenAPI document. While the server has no API key, the document asks
// for none. After the first key is added, the function returns another document, which asks for a key.
func (a *API) documentOf() func() ([]byte, error) {
	open := sync.OnceValues(func() ([]byte, error) { return a.openAPI(false) })
	keyed := sync.OnceValues(func() ([]byte, error) { return a.openAPI(true) })
	return func() ([]byte, error) {
		switch any, err := a.o.Keys.Any(); {
		case err != nil:
			return nil, keysUnread(err)
		case any:
			return keyed()
		}
		return open()
	}
}

// openAPI makes the OpenAPI 3.1 document of the routes. The parameter keyed means that callers need a key.
func (a *API) openAPI(keyed bool) ([]byte, error) {
	s := newSchemas()
	s.dims = a.dims()
	failure := s.reference(reflect.TypeFor[Problem](), false)
	plain := schema{"type": "object", "properties": schema{"error": schema{"type": "string"}},
		"required": []string{"error"}, "additionalProperties": false}
	paths := map[string]map[string]any{}
	for _, r := range a.routes {
		if paths[r.path] == nil {
			paths[r.path] = map[string]any{}
		}
		paths[r.path][strings.ToLower(r.method)] = a.describe(r, s, failure, plain)
	}
	components := schema{"schemas": s.named, "headers": answerHeaders}
	document := schema{
		"openapi": "3.1.0",
		"info": schema{"title": "Sheaf", "version": a.o.Version,
			"description": "Search in documents by words and by meaning. Errors are problems (RFC 9457); nothing found is " +
				"200 with an empty list. A key, when the server has any, goes into the header Authorization: Bearer KEY."},
		"paths":             paths,
		"components":        components,
		"jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
	}
	if keyed {
		components["securitySchemes"] = schema{"key": schema{"type": "http", "scheme": "bearer"}}
		document["security"] = []any{schema{"key": []string{}}}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", " ")
	err := encoder.Encode(document)
	return b.Bytes(), err
}

// dims returns the dimensions of the vectors of all collections: 0 without vectors, unknownDims if they differ.
func (a *API) dims() int {
	dims := a.o.Collections[0].Dims()
	for _, c := range a.o.Collections[1:] {
		if c.Dims() != dims {
			return unknownDims
		}
	}
	return dims
}

// describe returns the OpenAPI operation of a route. failure and plain are the schemas of its two forms of errors.
func (a *API) describe(r *route, s *schemas, failure, plain schema) schema {
	out := schema{"operationId": r.id, "summary": r.summary}
	about := r.about
	if r.scope == "" {
		out["security"] = []any{}
	}
	var list []any
	for _, n := range r.set.names {
		f := r.set.byName[n]
		if f.rules.unlisted {
			about += " The header " + n + " may give a condition: " + f.rules.doc
			continue
		}
		p := s.schemaOf(f.typ, f.rules, true)
		if f.in == "path" && p["minLength"] == nil {
			p["minLength"] = 1
		}
		parameter := schema{"name": n, "in": f.in, "required": f.in == "path" || f.rules.required, "schema": p}
		if d, ok := p["description"]; ok {
			parameter["description"] = d
			delete(p, "description")
		}
		if f.typ.Kind() == reflect.Slice {
			parameter["style"], parameter["explode"] = "form", false
			p["minItems"] = 1 // see setText
		}
		list = append(list, parameter)
	}
	if list != nil {
		out["parameters"] = list
	}
	if about != "" {
		out["description"] = strings.TrimSpace(about)
	}
	if r.body != nil {
		out["requestBody"] = schema{"required": true,
			"content": schema{"application/json": schema{"schema": s.reference(r.body, true),
				"example": json.RawMessage(r.example)}}}
	}
	responses := schema{strconv.Itoa(r.status): a.success(r, s)}
	for _, status := range r.failures() {
		content := schema{"application/problem+json": schema{"schema": failure}}
		if r.parseBody != nil {
			content["application/json"] = schema{"schema": plain}
		}
		told := schema{"description": http.StatusText(status), "content": content, "headers": headers()}
		if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
			told["headers"] = headers("Retry-After")
		}
		responses[strconv.Itoa(status)] = told
	}
	if f, ok := r.set.byName["If-None-Match"]; ok && !f.rules.unlisted {
		responses["304"] = schema{"description": "The caller has this version.", "headers": headers("ETag", "Server-Timing")}
	}
	for _, status := range r.statuses {
		if status >= http.StatusBadRequest {
			continue
		}
		told := a.success(r, s)
		if status == http.StatusAccepted {
			told["headers"] = headers("Location", "Server-Timing")
		}
		responses[strconv.Itoa(status)] = told
	}
	out["responses"] = responses
	return out
}

// answerHeaders describes the response headers that a client may use, by name.
var answerHeaders = schema{
	"X-Request-Id": schema{"description": "The ID of the request, which the log names too: the ID that the client sent " +
		"(at most 128 letters, digits and . _ : -), or a new one.",
		"schema": schema{"type": "string"}},
	"Server-Timing": schema{"description": "How long each step took, in milliseconds, and all of them.",
		"schema": schema{"type": "string"}},
	"ETag": schema{"description": "The version of the document: for If-Match and If-None-Match.",
		"schema": schema{"type": "string"}},
	"Location": schema{"description": "Where the task is.", "schema": schema{"type": "string"}},
	"Retry-After": schema{"description": "After how many seconds to ask again.",
		"schema": schema{"type": "integer", "minimum": 1}},
}

// headers describes the headers of an answer: X-Request-Id, which every answer has, and the headers in others.
func headers(others ...string) schema {
	out := schema{}
	for _, name := range append(others, "X-Request-Id") {
		out[name] = schema{"$ref": "#/components/headers/" + name}
	}
	return out
}

func (a *API) success(r *route, s *schemas) schema {
	out := schema{"description": r.summary, "headers": headers("Server-Timing")}
	if r.set.byName["If-None-Match"] != nil && r.method != http.MethodDelete {
		out["headers"] = headers("ETag", "Server-Timing")
	}
	switch {
	case r.status == http.StatusNoContent:
	case r.media == "":
		out["content"] = schema{"application/json": schema{"schema": s.reference(r.output, false)}}
	case r.media == "application/json":
		out["content"] = schema{r.media: schema{"schema": schema{"type": "object"}}}
	default:
		out["content"] = schema{r.media: schema{"schema": schema{"type": "string"}}}
	}
	return out
}

// failures returns the HTTP statuses of the errors that a route may answer.
func (r *route) failures() []int {
	list := []int{http.StatusBadRequest, http.StatusForbidden, http.StatusInternalServerError,
		http.StatusServiceUnavailable}
	if r.scope != "" {
		list = append(list, http.StatusUnauthorized, http.StatusNotFound, http.StatusTooManyRequests)
	}
	if r.body != nil {
		list = append(list, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if slices.Contains(r.statuses, http.StatusUnprocessableEntity) {
		list = append(list, http.StatusConflict) // a valid part may contradict another
	}
	for _, status := range r.statuses {
		if status >= http.StatusBadRequest {
			list = append(list, status)
		}
	}
	return list
}

//go:embed docs.html
var docsTemplate string

// documentTable is a table of fields of a route, on the page for people.
type documentTable struct {
	Title  string
	Fields []documentField
}

type documentField struct {
	Name, Kind, Doc, Rule string
	Required              bool
}

// documentPage makes the page that describes the routes to people. It is one page without scripts or other files.
func (a *API) documentPage() []byte {
	var list []map[string]any
	for _, r := range a.routes {
		tables := []documentTable{tableOf("Parameters", r.set)}
		if r.body != nil {
			tables = append(tables, tableOf("Body", jsonFields(r.body)))
		}
		if r.media == "" {
			tables = append(tables, tableOf("Answer", jsonFields(r.output)))
		}
		list = append(list, map[string]any{"Method": r.method, "Path": r.path, "Summary": r.summary, "About": r.about,
			"Scope": r.scope, "Tables": tables})
	}
	var b bytes.Buffer
	page := template.Must(template.New("docs").Parse(docsTemplate))
	if err := page.Execute(&b, map[string]any{"Version": a.o.Version, "Routes": list}); err != nil {
		panic("write the page of the document: " + err.Error())
	}
	return b.Bytes()
}

func tableOf(title string, set *fieldSet) documentTable {
	table := documentTable{Title: title}
	for _, n := range set.names {
		f := set.byName[n]
		var rules []string
		if f.rules.min != nil || f.rules.max != nil {
			rules = append(rules, f.rules.bounds())
		}
		if f.rules.hasDeflt {
			rules = append(rules, "default "+f.rules.deflt)
		}
		if f.rules.enum != nil {
			rules = append(rules, "one of "+strings.Join(f.rules.enum, ", "))
		}
		table.Fields = append(table.Fields, documentField{Name: n, Kind: kindText(newSchemas().plain(f.typ, f.rules, true)),
			Doc: f.rules.doc, Rule: strings.Join(rules, "; "), Required: f.rules.required})
	}
	return table
}

// kindText describes, for people, the kind of value that a schema accepts.
func kindText(p schema) string {
	if ref, ok := p["$ref"].(string); ok {
		return strings.TrimSuffix(ref[strings.LastIndexByte(ref, '/')+1:], "Input")
	}
	if items, ok := p["items"].(schema); ok {
		return "list of " + kindText(items)
	}
	if kind, ok := p["type"].(string); ok {
		return kind
	}
	return "value"
}
