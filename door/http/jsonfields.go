package http

import (
	"reflect"
	"regexp"
	"strings"
	"sync"
)

var numberText = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?$`)

const maxNumberText = 68 // bytes

// field is a field of a struct that is a member of a JSON object, or a request's parameter.
type field struct {
	index []int
	typ   reflect.Type
	rules *rules
	// omitted means that JSON omits the field if its value is empty.
	omitted bool
	// in is the part of the request that contains the field: "path", "query", "header", or "" for the body.
	in string
	// deflt is the default of a parameter. Without a default, it is the zero reflect.Value.
	deflt reflect.Value
}

// lists reports whether the field is a list in a header. Header lines with the same name form one list (RFC 9110, 5.3).
func (f *field) lists() bool {
	return f.in == "header" && (f.rules.name == "If-Match" || f.rules.name == "If-None-Match")
}

// fieldSet holds the fields of a struct in order, and finds them by name.
type fieldSet struct {
	names  []string
	byName map[string]*field
}

var fieldCache sync.Map // reflect.Type to *fieldSet

// jsonFields returns the fields of a struct that have JSON names, including the fields of embedded structs.
func jsonFields(t reflect.Type) *fieldSet {
	set, ok := fieldCache.Load(t)
	if !ok {
		set, _ = fieldCache.LoadOrStore(t, fieldsOf(t, "json"))
	}
	return set.(*fieldSet)
}

// fieldsOf returns the fields of a struct that have one of these tags, including the fields of embedded structs.
func fieldsOf(t reflect.Type, tags ...string) *fieldSet {
	set := &fieldSet{byName: map[string]*field{}}
	for _, f := range reflect.VisibleFields(t) {
		for _, tag := range tags {
			name, options, _ := strings.Cut(f.Tag.Get(tag), ",")
			if name == "" || name == "-" || !f.IsExported() {
				continue
			}
			one := &field{index: f.Index, typ: f.Type, rules: rulesOf(&f, name), in: tag}
			if tag == "json" {
				one.in, one.omitted = "", strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
			}
			set.names, set.byName[name] = append(set.names, name), one
		}
	}
	return set
}
