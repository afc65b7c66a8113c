package http

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sheaf/collection"
	"sheaf/collection/access"
)

// codePoint is a character by its code in a Go expression.
var codePoint = regexp.MustCompile(`\\x\{[0-9a-f]{1,4}\}`)

// known is what the OpenAPI document is written from beside the routes.
type known struct {
	// keyed says that callers need keys.
	keyed    bool
	profiles []collection.Profile
}

// writtenDocument is an OpenAPI document and what it was written from.
type writtenDocument struct {
	of   known
	text []byte
}

// profilesAge is how long profiles are as they were when they were asked for.
const profilesAge = time.Second

// documentOf gives the OpenAPI document, and writes it anew only when the server
// begins to want keys, or when profiles have changed. A stranger, who may not search,
// is told of built-in profiles only, and of none of their defaults, which may be tuned.
func (a *API) documentOf() func(stranger bool) ([]byte, error) {
	var mu sync.Mutex
	var documents [2]writtenDocument // of those who may search, and of strangers
	var profiles []collection.Profile
	var asked time.Time // when profiles were; zero for never
	var saves uint64    // how many had been saved then
	return func(stranger bool) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		now := known{}
		var err error
		if now.keyed, err = a.o.Keys.Any(); err != nil {
			return nil, keysUnread(err)
		}
		if saved := a.saved.Load(); asked.IsZero() || saved != saves || time.Since(asked) >= profilesAge {
			if profiles, err = a.profiles(); err != nil {
				return nil, err
			}
			asked, saves = time.Now(), saved
		}
		now.profiles = profiles
		document := &documents[0]
		if stranger {
			document, now.profiles = &documents[1], builtins(profiles)
		}
		if document.text == nil || !reflect.DeepEqual(document.of, now) {
			text, err := a.openAPI(now)
			if err != nil {
				return nil, err
			}
			*document = writtenDocument{now, text}
		}
		return document.text, nil
	}
}

// stranger reports whether who sends a request may not search.
func (a *API) stranger(req *http.Request) bool {
	grant, _, err := a.signedOn(req)
	return err != nil || !grant.May(access.ScopeSearch)
}

// openAPI writes the OpenAPI 3.1 document of the routes.
func (a *API) openAPI(of known) ([]byte, error) {
	s := newSchemas()
	s.profiles, s.dims = of.profiles, a.dims()
	failure := s.reference(reflect.TypeFor[Problem](), false)
	plain := schema{"type": "object", "properties": schema{"error": schema{"type": "string"}},
		"required": []string{"error"}, "additionalProperties": false}
	paths := map[string]map[string]any{}
	for _, r := range a.routes {
		if r.id == "stage" {
			a.describeStages(r, s, paths, failure, plain)
			continue
		}
		if paths[r.path] == nil {
			paths[r.path] = map[string]any{}
		}
		paths[r.path][strings.ToLower(r.method)] = a.describe(r, s, failure, plain)
	}
	components := schema{"schemas": s.named, "headers": answerHeaders}
	document := schema{
		"openapi": "3.1.0",
		"info": schema{"title": "Sheaf", "version": versionText(a.o.Version),
			"description": "Search in documents by words and by meaning. Errors are problems (RFC 9457); nothing found is " +
				"200 with an empty list. A key, when the server has any, goes into the header Authorization: Bearer KEY."},
		"paths":             paths,
		"components":        components,
		"jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
	}
	if of.keyed {
		components["securitySchemes"] = schema{"key": schema{"type": "http", "scheme": "bearer"}}
		document["security"] = []any{schema{"key": []string{}}}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", " ")
	err := encoder.Encode(document)
	return b.Bytes(), err
}

// profiles are those of all collections; none when one has others, or allows other
// parameters. Where they differ in what is the default, of profiles or of a
// parameter, none is said to be.
func (a *API) profiles() ([]collection.Profile, error) {
	var shared []collection.Profile
	for i, c := range a.o.Collections {
		list, err := c.Profiles()
		if err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(p collection.Profile) bool { return p.Error != "" })
		if i == 0 {
			shared = list
			continue
		}
		if !slices.EqualFunc(shared, list, sameForms) {
			return nil, nil
		}
		if !slices.EqualFunc(shared, list, func(p, q collection.Profile) bool { return p.Default == q.Default }) {
			for k := range shared {
				shared[k].Default = false
			}
		}
		for k := range shared {
			p, q := &shared[k], &list[k]
			p.Builtin = p.Builtin && q.Builtin
			for n := range p.Parameters {
				if p.Parameters[n].Default != q.Parameters[n].Default {
					p.Parameters[n].Default = ""
				}
			}
		}
	}
	return shared, nil
}

// sameForms reports whether two profiles have one name and allow the same.
func sameForms(p, q collection.Profile) bool {
	return p.Name == q.Name && slices.EqualFunc(p.Parameters, q.Parameters, func(a, b collection.Parameter) bool {
		return a.Name == b.Name && a.Min == b.Min && a.Max == b.Max && a.Integer == b.Integer &&
			slices.Equal(a.OneOf, b.OneOf)
	})
}

// builtins are the built-in ones of profiles, without the defaults of parameters.
func builtins(profiles []collection.Profile) []collection.Profile {
	var out []collection.Profile
	for _, p := range profiles {
		if !p.Builtin {
			continue
		}
		p.Parameters = slices.Clone(p.Parameters)
		for i := range p.Parameters {
			p.Parameters[i].Default = ""
		}
		out = append(out, p)
	}
	return out
}

// dims is how many dimensions the vectors of every collection have; 0 when they
// have none, unknownDims when they have different ones.
func (a *API) dims() int {
	dims := a.o.Collections[0].Dims()
	for _, c := range a.o.Collections[1:] {
		if c.Dims() != dims {
			return unknownDims
		}
	}
	return dims
}

// describeStages describes the route that runs a stage, once for each stage: what
// settings there are goes by the stage.
func (a *API) describeStages(r *route, s *schemas, paths map[string]map[string]any, failure, plain schema) {
	body := r.input.FieldByIndex(r.body).Type
	s.reference(body, true)
	whole := s.named[body.Name()+"Input"]
	delete(s.named, body.Name()+"Input")
	for _, name := range collection.Stages() {
		o := a.describe(r, s, failure, plain)
		o["operationId"], o["summary"] = "stage_"+name, "Run the stage "+name+" on given rankings"
		o["parameters"] = slices.DeleteFunc(o["parameters"].([]any), func(p any) bool { return p.(schema)["name"] == "name" })
		own, properties := maps.Clone(whole), maps.Clone(whole["properties"].(schema))
		rankings, settings, required := stageForms(name)
		all := maps.Clone(properties["rankings"].(schema))
		maps.Copy(all, rankings)
		properties["rankings"], properties["settings"], own["properties"] = all, settings, properties
		if name != collection.StageFuse {
			delete(properties, "weights")
		}
		if required {
			own["required"] = append(slices.Clone(own["required"].([]string)), "settings")
		}
		o["requestBody"] = schema{"required": true,
			"content": schema{"application/json": schema{"schema": own,
				"example": json.RawMessage(stageExample(name, r.example))}}}
		paths[strings.Replace(r.path, "{name}", name, 1)] = map[string]any{strings.ToLower(r.method): o}
	}
	delete(s.named, body.Name()+"Input")
}

func versionText(v string) string {
	if v == "" {
		return "dev"
	}
	return v
}

// describe is the operation object of a route.
func (a *API) describe(r *route, s *schemas, failure, plain schema) schema {
	out := schema{"operationId": r.id, "summary": r.summary}
	about := []string{}
	if r.about != "" {
		about = append(about, r.about)
	}
	if r.scope == "" {
		out["security"] = []any{}
	}
	var list []any
	for _, n := range r.set.names {
		f := r.set.byName[n]
		if f.rules.unlisted {
			about = append(about, "The header "+n+" may give a condition: "+f.rules.doc)
			continue
		}
		p := s.of(f.typ, f.rules, true)
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
	if len(about) > 0 {
		out["description"] = strings.Join(about, " ")
	}
	if r.body != nil {
		body := r.input.FieldByIndex(r.body).Type
		out["requestBody"] = schema{"required": true,
			"content": schema{"application/json": schema{"schema": s.reference(body, true),
				"example": json.RawMessage(r.example)}}}
	}
	responses := schema{strconv.Itoa(r.status): a.success(r, s)}
	for _, status := range r.failures() {
		content := schema{"application/problem+json": schema{"schema": failure}}
		if r.plainErrors {
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
	for _, status := range r.also {
		told := a.success(r, s)
		if status == http.StatusAccepted {
			told["headers"] = headers("Location", "Server-Timing")
		}
		responses[strconv.Itoa(status)] = told
	}
	out["responses"] = responses
	return out
}

// answerHeaders are the headers of answers that a client may act on.
var answerHeaders = schema{
	"X-Request-Id": schema{"description": "The request's own, as it was sent when it is sensible: the log names it.",
		"schema": schema{"type": "string"}},
	"Server-Timing": schema{"description": "How long each step took, in milliseconds, and all of them.",
		"schema": schema{"type": "string"}},
	"ETag": schema{"description": "The version of the document: for If-Match and If-None-Match.",
		"schema": schema{"type": "string"}},
	"Location": schema{"description": "Where the task is.", "schema": schema{"type": "string"}},
	"Retry-After": schema{"description": "After how many seconds to ask again.",
		"schema": schema{"type": "integer", "minimum": 1}},
}

// headers are the headers of an answer: X-Request-Id, which all have, and others.
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
	case r.output != nil:
		out["content"] = schema{"application/json": schema{"schema": s.reference(r.output, false)}}
	case r.media == "application/json":
		out["content"] = schema{r.media: schema{"schema": schema{"type": "object"}}}
	default:
		out["content"] = schema{r.media: schema{"schema": schema{"type": "string"}}}
	}
	return out
}

// failures are the statuses with which a route may fail.
func (r *route) failures() []int {
	list := []int{http.StatusBadRequest, http.StatusForbidden, http.StatusInternalServerError,
		http.StatusServiceUnavailable}
	if r.scope != "" {
		list = append(list, http.StatusUnauthorized, http.StatusNotFound, http.StatusTooManyRequests)
	}
	if r.body != nil {
		list = append(list, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if slices.Contains(r.fails, http.StatusUnprocessableEntity) && !slices.Contains(r.fails, http.StatusConflict) {
		list = append(list, http.StatusConflict) // what is right by itself may contradict another part
	}
	return append(list, r.fails...)
}

//go:embed docs.html
var docsTemplate string

var docs = template.Must(template.New("docs").Funcs(template.FuncMap{
	"titled": func(title string, fields []documentField) map[string]any {
		return map[string]any{"Title": title, "Fields": fields}
	},
}).Parse(docsTemplate))

type documentField struct {
	Name, Kind, Doc, Rule string
	Required              bool
}

type documentRoute struct {
	Method, Path, Summary, About, Scope string
	Parameters, Body, Output            []documentField
}

// documentPage writes the routes for people: a page without scripts, which needs
// nothing but itself.
func (a *API) documentPage() []byte {
	var list []documentRoute
	for _, r := range a.routes {
		d := documentRoute{Method: r.method, Path: r.path, Summary: r.summary, About: r.about, Scope: string(r.scope)}
		for _, n := range r.set.names {
			d.Parameters = append(d.Parameters, documentFieldOf(n, r.set.byName[n]))
		}
		if r.body != nil {
			d.Body = documentFields(r.input.FieldByIndex(r.body).Type)
		}
		if r.output != nil {
			d.Output = documentFields(r.output)
		}
		list = append(list, d)
	}
	var b bytes.Buffer
	if err := docs.Execute(&b, map[string]any{"Version": versionText(a.o.Version), "Routes": list}); err != nil {
		panic("write the page of the document: " + err.Error())
	}
	return b.Bytes()
}

func documentFields(t reflect.Type) []documentField {
	set := jsonFields(t)
	var out []documentField
	for _, n := range set.names {
		out = append(out, documentFieldOf(n, set.byName[n]))
	}
	return out
}

func documentFieldOf(name string, f *field) documentField {
	s := newSchemas()
	p := s.plain(f.typ, f.rules, true)
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
	return documentField{Name: name, Kind: kindText(p), Doc: f.rules.doc, Rule: strings.Join(rules, "; "),
		Required: f.rules.required}
}

// kindText names the kind of value that a schema lets through.
func kindText(p schema) string {
	if ref, ok := p["$ref"].(string); ok {
		return strings.TrimSuffix(ref[strings.LastIndexByte(ref, '/')+1:], "Input")
	}
	switch kind := p["type"].(type) {
	case string:
		if kind == "array" {
			if items, ok := p["items"].(schema); ok {
				return "list of " + kindText(items)
			}
		}
		return kind
	}
	return "value"
}
