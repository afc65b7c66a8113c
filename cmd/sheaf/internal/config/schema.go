package config

import "strings"

// Schema returns a JSON Schema (draft 2020-12) of configuration files, for editors. It gives the type, range, default
// and help of each key, and allows no other keys.
func Schema() map[string]any {
	top := object("Settings of Sheaf: .sheaf.yaml, sheaf.yaml, or the user's config.yaml.")
	top["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	for i := range keys {
		k := &keys[i]
		in := top
		group, name, nested := strings.Cut(k.Name, ".")
		if !nested {
			name = group
		} else {
			groups := top["properties"].(map[string]any)
			if groups[group] == nil {
				groups[group] = object("")
			}
			in = groups[group].(map[string]any)
		}
		in["properties"].(map[string]any)[name] = k.schema()
	}
	return top
}

func object(about string) map[string]any {
	o := map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{}}
	if about != "" {
		o["description"] = about
	}
	return o
}

func (k *Key) schema() map[string]any {
	s := map[string]any{"description": k.Help}
	parsed, err := k.parse(k.Default)
	if err == nil {
		s["default"] = parsed
	}
	switch k.Kind {
	case KindBool:
		s["type"] = "boolean"
	case KindNumber:
		s["type"], s["minimum"], s["maximum"] = "integer", k.Min, k.Max
	case KindSize:
		s["type"] = []string{"integer", "string"}
		s["pattern"] = `^[0-9.]+ *(KiB|MiB|GiB|kB|KB|MB|GB|K|M|G|B)?$`
		s["default"] = k.Default
	case KindList:
		s["type"] = []string{"array", "string"}
		s["items"] = map[string]any{"type": "string"}
	default:
		s["type"] = "string"
		if k.Allowed != nil {
			s["enum"] = k.Allowed
		}
		if k.pattern != nil {
			s["pattern"] = k.pattern.String()
		}
	}
	return s
}
