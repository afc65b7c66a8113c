package http

import (
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sheaf/collection"
)

// schema is a JSON Schema (2020-12) in the form that OpenAPI 3.1 uses.
type schema = map[string]any

// schemas collects the schemas of an OpenAPI document by name.
type schemas struct {
	named map[string]schema
	types map[string]reflect.Type // the type of each named schema
	// dims is the number of dimensions that vectors in requests have: 0 if there are no vectors, or unknownDims.
	dims int
}

func newSchemas() *schemas {
	return &schemas{named: map[string]schema{}, types: map[string]reflect.Type{}}
}

// schemaOf returns the schema of a field. input means a request, in which objects may not have unknown members.
func (s *schemas) schemaOf(t reflect.Type, r *rules, input bool) schema {
	out := s.plain(t, r, input)
	if r.name == "vectors" && input {
		one := out["items"].(schema)
		one["not"] = schema{"items": schema{"exclusiveMinimum": -collection.LeastPart,
			"exclusiveMaximum": collection.LeastPart}}
		switch {
		case s.dims > 0:
			one["minItems"], one["maxItems"] = s.dims, s.dims
		case s.dims == 0:
			out["maxItems"] = 0
		}
	}
	if r.doc != "" {
		out["description"] = r.doc
	}
	if r.example != "" {
		out["examples"] = []any{exampleOf(r.example, t)}
	}
	if r.hasDeflt {
		out["default"] = exampleOf(r.deflt, t)
	}
	return out
}

func (s *schemas) plain(t reflect.Type, r *rules, input bool) schema {
	switch t {
	case settingType:
		return settingForms
	case propertyType:
		one := []any{textSchema(r), schema{"type": "number"}, schema{"type": "boolean"}}
		list := schema{"type": "array", "items": schema{"anyOf": one}, "maxItems": collection.MaxListed}
		return schema{"anyOf": append(slices.Clone(one), list)}
	case timeType:
		return schema{"type": "string", "format": "date-time"}
	case valueType:
		return schema{"type": []any{"string", "number", "boolean", "null"}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		if input && t.Elem().Kind() == reflect.Pointer {
			return nullable(s.plain(t.Elem(), r, input))
		}
		return s.plain(t.Elem(), r, input)
	case reflect.String:
		return textSchema(r)
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return numberSchema("integer", r)
	case reflect.Float32, reflect.Float64:
		return numberSchema("number", r)
	case reflect.Slice, reflect.Array:
		out := schema{"type": "array", "items": s.plain(t.Elem(), r.ofItems(), input)}
		setLimit(out, "minItems", r.items.least)
		setLimit(out, "maxItems", r.items.most)
		if r.unique {
			out["uniqueItems"] = true
		}
		return out
	case reflect.Map:
		out := schema{"type": "object", "additionalProperties": s.plain(t.Elem(), r.ofItems(), input)}
		if input {
			out["propertyNames"] = schema{"pattern": portable(memberName.String()), "minLength": 1, "maxLength": maxMemberName}
		}
		setLimit(out, "maxProperties", r.items.most)
		return out
	case reflect.Struct:
		return s.reference(t, input)
	case reflect.Interface:
		return schema{"type": []any{"string", "number", "boolean", "null"}}
	}
	panic("no schema for type " + t.String())
}

// setLimit sets the member called name of a schema to the limit n. If n is 0, which means no limit, it does nothing.
func setLimit(out schema, name string, n int) {
	if n > 0 {
		out[name] = n
	}
}

func textSchema(r *rules) schema {
	out := schema{"type": "string"}
	setLimit(out, "minLength", r.length.least)
	setLimit(out, "maxLength", r.length.most)
	if r.enum != nil {
		out["enum"] = r.enum
	}
	if r.pattern != nil {
		out["pattern"] = portable(r.pattern.String())
	}
	return out
}

// portable translates a Go pattern to the syntax of ECMA 262, which OpenAPI uses. For example, \x{7f} becomes \u007f.
func portable(pattern string) string {
	return codePoint.ReplaceAllStringFunc(pattern, func(c string) string {
		n, _ := strconv.ParseInt(strings.Trim(c, `\x{}`), 16, 32) // the expression matches nothing else
		return fmt.Sprintf(`\u%04x`, n)
	})
}

func numberSchema(kind string, r *rules) schema {
	out := schema{"type": kind}
	if r.min != nil {
		out["minimum"] = *r.min
	}
	if r.max != nil {
		out["maximum"] = *r.max
	}
	return out
}

// reference returns a reference to the schema of a struct. The first call for a struct adds the schema.
func (s *schemas) reference(t reflect.Type, input bool) schema {
	name := t.Name()
	if input {
		name += "Input"
	}
	name = strings.ToUpper(name[:1]) + name[1:]
	if other, ok := s.types[name]; ok && other != t {
		pkg := path.Base(t.PkgPath())
		name = strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
	s.types[name] = t
	link := schema{"$ref": "#/components/schemas/" + name}
	if _, ok := s.named[name]; ok {
		return link
	}
	s.named[name] = nil // ends recursion
	fields := jsonFields(t)
	properties, required := schema{}, []string{}
	for _, n := range fields.names {
		f := fields.byName[n]
		p := s.schemaOf(f.typ, f.rules, input)
		if f.typ.Kind() == reflect.Pointer && !f.omitted && !input {
			p = nullable(p)
		}
		properties[n] = p
		if input && f.rules.required || !input && !f.omitted {
			required = append(required, n)
		}
	}
	out := schema{"type": "object", "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	if input {
		out["additionalProperties"] = false
		if forms := formsOf[t]; forms != nil {
			// Generators of clients ignore the properties beside an anyOf, but not beside an allOf.
			out["allOf"] = []any{schema{"anyOf": forms}}
		}
	}
	s.named[name] = out
	return link
}

// settingForms is the schema of a setting. Only the profile or the stage says which values are right.
var settingForms = schema{"anyOf": []any{schema{"type": "string", "maxLength": maxSetting}, schema{"type": "number"},
	schema{"type": "boolean"}}}

// formsOf lists the allowed combinations of members of a struct. Structs that allow all combinations are missing.
var formsOf = map[reflect.Type][]any{
	reflect.TypeFor[collection.DocumentInput](): documentForms,
	reflect.TypeFor[BatchChange](): append(documentForms[:len(documentForms):len(documentForms)],
		schema{"required": []string{"delete"}, "properties": schema{"delete": schema{"const": true}}}),
}

// unknownDims is the value of dims if the vectors of the collections have different dimensions.
const unknownDims = -1

// documentForms is a schema that says that a document has either a text or chunks. [together] checks this rule.
var documentForms = []any{
	schema{"required": []string{"text"}, "properties": schema{"text": schema{"minLength": 1},
		"chunks": schema{"maxItems": 0}}},
	schema{"required": []string{"chunks"}, "properties": schema{"chunks": schema{"minItems": 1},
		"text": schema{"maxLength": 0}}},
}

// together adds a fault to out if a document has both text and chunks, or neither. Other values and deletions pass.
func together(in any, at fault, out *faults) {
	var d *collection.DocumentInput
	switch in := in.(type) {
	case *collection.DocumentInput:
		d = in
	case *BatchChange:
		if d = &in.DocumentInput; in.Delete { // call.batch refuses the other members
			return
		}
	default:
		return
	}
	switch hasChunks := len(d.Chunks) > 0; {
	case d.Text != "" && hasChunks:
		out.add(fault{Pointer: pointer(at.Pointer, "chunks")}, "give text or chunks, not both")
	case d.Text == "" && !hasChunks:
		out.add(fault{Pointer: pointer(at.Pointer, "text")}, "give text or chunks")
	}
}

// nullable returns the schema of a value that may also be null.
func nullable(p schema) schema {
	if kind, ok := p["type"].(string); ok {
		p["type"] = []any{kind, "null"}
		return p
	}
	out := schema{"anyOf": []any{schema{"$ref": p["$ref"]}, schema{"type": "null"}}}
	if d, ok := p["description"]; ok {
		out["description"] = d
	}
	return out
}

// exampleOf converts the text in a tag to a value of the field's type, for the example in a schema.
func exampleOf(text string, t reflect.Type) any {
	switch {
	case t.Kind() == reflect.Pointer:
		return exampleOf(text, t.Elem())
	case t.Kind() == reflect.Bool:
		return text == "true"
	case t.Kind() == reflect.Int || t.Kind() == reflect.Float64:
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			return x
		}
	case t.Kind() == reflect.Slice:
		return strings.Split(text, ",")
	}
	return text
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
