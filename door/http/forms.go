package http

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"sheaf/collection"
)

// What a request may say often goes by another part of it: the parameters by the
// profile, the settings by the stage. The OpenAPI document says so form by form.

// profileForms are the forms of a body that names a profile in the member by, and
// sets parameters of it in members: one for each profile, and one without.
func (s *schemas) profileForms(by string, members []string) []any {
	var forms []any
	form := func(p *collection.Profile, name string, required bool) {
		properties := schema{by: schema{"enum": []string{name}}}
		for _, m := range members {
			properties[m] = s.parametersOf(p)
		}
		one := schema{"properties": properties}
		if required {
			one["required"] = []string{by}
		}
		forms = append(forms, one)
	}
	for i := range s.profiles {
		form(&s.profiles[i], s.profiles[i].Name, true)
	}
	if by != "profile" {
		return forms
	}
	if i := slices.IndexFunc(s.profiles, func(p collection.Profile) bool { return p.Default }); i >= 0 {
		form(&s.profiles[i], "", false)
		return forms
	}
	// Which is the default goes by the collection, or is told to no stranger.
	properties := schema{by: schema{"enum": []string{""}}}
	for _, m := range members {
		properties[m] = schema{"type": "object", "additionalProperties": s.plain(settingType, nil, true)}
	}
	return append(forms, schema{"properties": properties})
}

// parametersOf is a link to what may be set of a profile.
func (s *schemas) parametersOf(p *collection.Profile) schema {
	properties := schema{}
	for i := range p.Parameters {
		q := &p.Parameters[i]
		o := settingSchema(collection.StageOption{Number: len(q.OneOf) == 0, Integer: q.Integer, Min: q.Min, Max: q.Max,
			OneOf: q.OneOf})
		o["description"] = q.About + " (" + q.Range + ")"
		if q.Default != "" {
			o["description"] = q.About + " (" + q.Range + "; default " + q.Default + ")"
		}
		properties[q.Name] = o
	}
	name := "ParametersOf_" + p.Name
	s.named[name] = schema{"type": "object", "properties": properties, "additionalProperties": false}
	return schema{"$ref": "#/components/schemas/" + name}
}

// settingForms is what a setting is of which no more is known.
var settingForms = schema{"anyOf": []any{schema{"type": "string", "maxLength": maxSetting}, schema{"type": "number"},
	schema{"type": "boolean"}}}

// settingSchema is what a setting or a parameter may be: a number, true and false may be
// written as a text too.
func settingSchema(o collection.StageOption) schema {
	switch {
	case o.Flag:
		return schema{"anyOf": []any{schema{"type": "boolean"}, schema{"type": "string", "enum": []string{"true", "false"}}}}
	case len(o.OneOf) > 0:
		return schema{"type": "string", "enum": o.OneOf}
	case !o.Number:
		return maps.Clone(settingForms)
	}
	number := schema{"type": "number", "minimum": o.Min, "maximum": o.Max}
	if o.Integer {
		number["type"] = "integer"
	}
	forms := []any{number}
	if p := numerals(o.Min, o.Max, o.Integer); p != "" {
		forms = append(forms, schema{"type": "string", "pattern": p, "maxLength": 40})
	}
	return schema{"anyOf": forms}
}

// stageForms are what the body of one stage is beside what all are: how many
// rankings it takes, and its settings.
func stageForms(name string) (rankings, settings schema, required bool) {
	most := 1
	if name == collection.StageFuse {
		most = maxRankings
	}
	rankings = schema{"minItems": 1, "maxItems": most}
	properties, needed := schema{}, []string{}
	for _, o := range collection.StageOptions(name) {
		p := settingSchema(o)
		p["description"] = o.About + " (" + o.Allowed + ")"
		if special := stageSettings[name+"."+o.Name]; special != nil {
			for k, v := range special {
				p[k] = v
			}
		}
		properties[o.Name] = p
		if o.Default == "" {
			needed = append(needed, o.Name)
		}
	}
	settings = schema{"type": "object", "properties": properties, "additionalProperties": false,
		"description": "The stage's settings, as in a profile. A number may also be an expression over limit, as a text: " +
			"\"3x\" is 3 times the limit."}
	if len(needed) > 0 {
		settings["required"] = needed
	}
	return rankings, settings, len(needed) > 0
}

// stageExample is an example of what a stage is asked: general for the fusion, one
// ranking with what must be set for any other.
func stageExample(name, general string) string {
	if name == collection.StageFuse {
		return general
	}
	set := map[string]any{}
	for _, o := range collection.StageOptions(name) {
		switch {
		case o.Default != "":
		case o.Number:
			set[o.Name] = max(o.Min, 1)
		default:
			set[o.Name] = "tag"
		}
	}
	b, err := json.Marshal(map[string]any{"rankings": [][]collection.Scored{{{ID: "A", Score: 2}, {ID: "B", Score: 1}}},
		"settings": set})
	if err != nil {
		panic("write an example: " + err.Error())
	}
	return string(b)
}

// stageSettings are settings that the table of stages calls texts or numbers, and
// that a stage wants like this.
var stageSettings = map[string]schema{
	"property_boost.name": {"anyOf": []any{schema{"type": "string", "minLength": 1, "maxLength": maxSetting},
		schema{"type": "number"}, schema{"type": "boolean"}}},
	"field_boost.field": {"anyOf": []any{schema{"type": "string",
		"pattern": `^(?:tree|folder|tag|prop\.[^\u0000-\u001f]+)$`, "maxLength": maxSetting}}},
	"folder_boost.max": capForms, "graph_boost.max": capForms, "property_boost.max": capForms,
}

// capForms is the largest factor of a stage: none, or at least 1.
var capForms = schema{"anyOf": []any{schema{"const": 0}, schema{"type": "number", "minimum": 1, "maximum": 1000},
	schema{"type": "string", "pattern": "^(?:0+(?:\\.0*)?|" + positive(1, 1000, false) + ")$", "maxLength": 40}}}

// maxRankings is how many rankings are fused at most.
const maxRankings = 20

// numerals is a pattern of the texts that are numbers within min..max, without an
// exponent; "" where there is none.
func numerals(low, high float64, whole bool) string {
	const largest = 1e15
	if !(low <= high) || math.Abs(low) > largest || math.Abs(high) > largest {
		return ""
	}
	var forms []string
	if high >= 0 {
		forms = append(forms, positive(max(low, 0), high, whole))
	}
	if low < 0 {
		forms = append(forms, "-"+positive(max(-high, 0), -low, whole))
	}
	return "^(?:" + strings.Join(forms, "|") + ")$"
}

// positive matches the numbers within low..high, which are not below 0.
func positive(low, high float64, whole bool) string {
	first, last := uint64(math.Ceil(low)), uint64(math.Floor(high))
	var forms []string
	if whole || float64(last) == high {
		if first <= last {
			forms = append(forms, between(last, last)+`(?:\.0*)?`)
		}
	} else {
		last++ // numbers between the last whole one and high are left out
	}
	if first < last {
		tail := `(?:\.[0-9]*)?`
		if whole {
			tail = `(?:\.0*)?`
		}
		forms = append(forms, between(first, last-1)+tail)
	}
	if len(forms) == 0 {
		return "[^\\s\\S]"
	}
	return "0*(?:" + strings.Join(forms, "|") + ")"
}

// between is a pattern of the whole numbers low..high, without zeros before them.
func between(low, high uint64) string {
	var forms []string
	from := strconv.FormatUint(low, 10)
	to := strconv.FormatUint(high, 10)
	if most := len(to) - 1; len(from) < len(to) && (low == 0 || low == 1) { // all that have fewer digits
		forms = append(forms, "[1-9][0-9]{0,"+strconv.Itoa(most-1)+"}")
		if low == 0 {
			forms = append(forms, "0")
		}
		from = "1" + strings.Repeat("0", most)
	}
	for len(from) < len(to) {
		forms = append(forms, span(from, strings.Repeat("9", len(from))))
		from = "1" + strings.Repeat("0", len(from))
	}
	return "(?:" + strings.Join(append(forms, span(from, to)), "|") + ")"
}

// span is a pattern of the numbers from..to, which have as many digits.
func span(from, to string) string {
	digits := func(a, b byte) string {
		if a == b {
			return string(a)
		}
		return "[" + string(a) + "-" + string(b) + "]"
	}
	rest := len(from) - 1
	switch {
	case from == to:
		return from
	case rest == 0:
		return digits(from[0], to[0])
	case from[0] == to[0]:
		return from[:1] + "(?:" + span(from[1:], to[1:]) + ")"
	}
	var forms []string
	a, b := from[0], to[0]
	if strings.Trim(from[1:], "0") != "" {
		forms = append(forms, from[:1]+"(?:"+span(from[1:], strings.Repeat("9", rest))+")")
		a++
	}
	if strings.Trim(to[1:], "9") != "" {
		forms = append(forms, to[:1]+"(?:"+span(strings.Repeat("0", rest), to[1:])+")")
		b--
	}
	if a <= b {
		forms = append(forms, digits(a, b)+strings.TrimSuffix("[0-9]{"+strconv.Itoa(rest)+"}", "{1}"))
	}
	return "(?:" + strings.Join(forms, "|") + ")"
}
