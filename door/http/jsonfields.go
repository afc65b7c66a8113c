package http

import (
	"reflect"
	"regexp"
	"strings"
	"sync"
)

// numberText matches a number as JSON writes it.
var numberText = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?$`)

const maxNumberText = 68 // bytes

// field is a member of a struct in JSON or in a request.
type field struct {
	index []int
	typ   reflect.Type
	rules *rules
	// omitted means that JSON leaves out the empty value.
	omitted bool
	// in is the part of a request that has the field: "path", "query", "header"; "" is the body.
	in string
	// deflt is the default of a parameter; invalid for none.
	deflt reflect.Value
}

// lists reports whether a field is a list in a header. Several header lines of one name make one
// list (RFC 9110, section 5.3).
func (f *field) lists() bool {
	return f.in == "header" && (f.rules.name == "If-Match" || f.rules.name == "If-None-Match")
}

// fieldSet has the fields of a struct, in order.
type fieldSet struct {
	names  []string
	byName map[string]*field
}

var fieldCache sync.Map // reflect.Type to *fieldSet

// jsonFields returns the JSON fields of a struct, including fields of embedded structs.
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

// parameters returns the fields that come from the path, the query and the headers.
func parameters(t reflect.Type) *fieldSet {
	set := &fieldSet{byName: map[string]*field{}}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			embedded := parameters(f.Type)
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
	return set
}
