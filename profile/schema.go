package profile

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"sheaf"
)

// Schema returns the JSON Schema (2020-12) of profile files, for editors.
func Schema() ([]byte, error) {
	steps := make([]any, 0, 2*len(stages))
	for i := range stages {
		k := &stages[i]
		steps = append(steps, object{"type": "object", "description": k.name + " " + k.about, "additionalProperties": false,
			"required": []string{k.name}, "properties": object{k.name: k.schema()}})
		if !slices.ContainsFunc(k.options, func(o *Option) bool { return o.Default == "" }) {
			steps = append(steps, object{"const": k.name, "description": k.name + " " + k.about})
		}
	}
	fields := object{}
	for _, f := range sheaf.Fields {
		fields[f] = fieldWeight.schema()
	}
	phase := func(more object) object {
		props := object{
			"branches": object{"description": "what is retrieved; with extends, a mapping changes branches by name",
				"anyOf": []any{object{"type": "array", "minItems": 1, "maxItems": 16, "items": object{"$ref": "#/$defs/branch"}},
					object{"type": "object"}}},
			"fuse": fusion.schema(),
			"then": object{"type": "array", "maxItems": 64, "items": object{"$ref": "#/$defs/stage"}},
		}
		maps.Copy(props, more)
		return object{"type": "object", "additionalProperties": false, "properties": props}
	}
	name := object{"type": "string", "pattern": validName().String()}
	top := phase(object{
		"name": name, "about": object{"type": "string"}, "extends": name,
		"parameters": object{"type": "object", "propertyNames": name, "additionalProperties": object{"anyOf": []any{
			object{"type": []string{"number", "string"}}, object{"type": "object", "additionalProperties": false,
				"required": []string{"default"},
				"properties": object{"default": object{"type": []string{"number", "string"}}, "min": object{"type": "number"},
					"max": object{"type": "number"},
					"at_least": object{"type": []string{"number", "string"}, "description": "what the value must not be less than, " +
						"as a number or an expression"},
					"integer": object{"type": "boolean"}, "one_of": object{"type": "array", "items": object{"type": "string"}},
					"about": object{"type": "string"}}}}}},
		"limits": limitOptions.schema(), "expand": expand.schema(),
		"candidates": object{"anyOf": []any{phase(object{"limit": phaseLimit.schema()}),
			object{"type": "object", "additionalProperties": false, "required": []string{scan.name},
				"properties": object{scan.name: scan.schema()}}}},
	})
	top["required"] = []string{"name"}
	top["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	top["title"] = "Sheaf ranking profile"
	top["$defs"] = object{"stage": object{"anyOf": steps}, "branch": object{"anyOf": []any{
		branchSchema(RetrieveText, textOptions, object{"fields": object{"type": "object", "additionalProperties": false,
			"minProperties": 1, "properties": fields}}),
		branchSchema(RetrieveVector, vectorOptions, nil)}}}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(top)
	return out.Bytes(), err
}

// object is a JSON object. encoding/json sorts its keys.
type object map[string]any

func branchSchema(how Retrieve, options []*Option, more object) object {
	props := object{"name": object{"type": "string", "pattern": validName().String()},
		"then": object{"type": "array", "items": object{"$ref": "#/$defs/stage"}}}
	for _, o := range slices.Concat(branchOptions, options) {
		props[o.Name] = o.schema()
	}
	props["retrieve"] = object{"const": string(how), "description": branchOptions[0].About}
	maps.Copy(props, more)
	required := []string{"retrieve"}
	for k := range more {
		required = append(required, k)
	}
	return object{"type": "object", "additionalProperties": false, "required": required, "properties": props}
}

func (k *kind) schema() object {
	props, required := object{}, []string{}
	for _, o := range k.allOptions() {
		props[o.Name] = o.schema()
		if o.Default == "" {
			required = append(required, o.Name)
		}
	}
	settings := object{"type": "object", "additionalProperties": false, "properties": props}
	if len(required) > 0 {
		settings["required"] = required
	}
	settings["description"] = k.name + " " + k.about
	if k.short == "" {
		return settings
	}
	short := k.options[slices.Index(namesOf(k.options), k.short)]
	return object{"anyOf": []any{settings, short.schema()}}
}

func (o *Option) schema() object {
	s := object{"description": o.About}
	if o.Default != "" {
		s["description"] = o.About + " (default " + o.Default + ")"
	}
	switch o.kind {
	case typeNumber, typeInteger:
		n := object{"type": "number", "minimum": o.Min, "maximum": o.Max}
		if o.kind == typeInteger {
			n["type"] = "integer"
		}
		s["anyOf"] = []any{n, object{"type": "string", "description": "an expression"}}
	case typeChoice:
		s["anyOf"] = []any{object{"enum": o.OneOf}, object{"type": "string", "pattern": `^\$`}}
	case typeBool:
		s["type"] = "boolean"
	case typeTexts:
		s["anyOf"] = []any{object{"type": "string"}, object{"type": "array", "items": object{"type": "string"}}}
	default:
		s["type"] = "string"
	}
	return s
}
