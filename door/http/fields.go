package http

import (
	"reflect"
	"regexp"
	"strings"
	"sync"
)

// numberText is a number as JSON writes it.
var numberText = regexp.MustCompile(`^-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,4})?$`)

// field is a member of a struct as JSON or a request shows it.
type field struct {
	index []int
	typ   reflect.Type
	rules *rules
	// omitted says that JSON leaves it out when it is empty.
	omitted bool
	// in is where a request has it: "path", "query", "header"; "" for a member
	// of a body.
	in string
	// deflt is the default of a parameter, as the field holds it; invalid for none.
	deflt reflect.Value
}

// lists reports whether a field is a list as headers have it, which several lines of one
// name are together (RFC 9110, section 5.3).
func (f *field) lists() bool {
	return f.in == "header" && (f.rules.name == "If-Match" || f.rules.name == "If-None-Match")
}

// fieldSet is the fields of a struct, in order.
type fieldSet struct {
	names  []string
	byName map[string]*field
}

var fieldCache sync.Map // reflect.Type to *fieldSet

// jsonFields are the fields of a struct that JSON shows, those of embedded
// structs among them.
func jsonFields(t reflect.Type) *fieldSet {
	if set, ok := fieldCache.Load(t); ok {
		return set.(*fieldSet)
	}
	set := &fieldSet{byName: map[string]*field{}}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case name == "-" || !f.IsExported():
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			embedded := jsonFields(inner)
			for _, n := range embedded.names {
				e := *embedded.byName[n]
				e.index = append([]int{i}, e.index...)
				set.names, set.byName[n] = append(set.names, n), &e
			}
		case name != "":
			omitted := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
			set.names = append(set.names, name)
			set.byName[name] = &field{index: []int{i}, typ: f.Type, rules: rulesOf(&f, name), omitted: omitted}
		}
	}
	fieldCache.Store(t, set)
	return set
}

// parameters are the fields of an input that come from the path, the query and
// the headers, and body the index of the field that is the body; nil for none.
func parameters(t reflect.Type) (set *fieldSet, body []int) {
	set = &fieldSet{byName: map[string]*field{}}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name == "Body" {
			body = []int{i}
			continue
		}
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			embedded, _ := parameters(f.Type)
			for _, n := range embedded.names {
				e := *embedded.byName[n]
				e.index = append([]int{i}, e.index...)
				set.names, set.byName[n] = append(set.names, n), &e
			}
			continue
		}
		for _, in := range []string{"path", "query", "header"} {
			if name := f.Tag.Get(in); name != "" {
				set.names = append(set.names, name)
				set.byName[name] = &field{index: []int{i}, typ: f.Type, rules: rulesOf(&f, name), in: in}
			}
		}
	}
	return set, body
}
