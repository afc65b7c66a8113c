package mcp

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// schemas are those of the tools as the SDK works with them, byType as they are shown. They
// are the same for every caller, and writing them takes longer than most requests: over HTTP
// every request has a server of its own.
var (
	schemas = sdk.NewSchemaCache()
	byType  sync.Map // reflect.Type to *jsonschema.Schema
)

// schemaOf is the schema of T, in which every value has one type. The SDK's own says of lists
// and pointers that they may be null too, which nothing here is: Gemini takes no tool of a
// server that has such a parameter, and other clients send it as a text.
func schemaOf[T any]() *jsonschema.Schema {
	t := reflect.TypeFor[T]()
	if known, ok := byType.Load(t); ok {
		return known.(*jsonschema.Schema)
	}
	schema, err := jsonschema.ForType(t, nil)
	if err != nil {
		panic(fmt.Sprintf("mcp: %v has no schema: %v", t, err)) // the SDK panics too
	}
	withoutNull(schema)
	known, _ := byType.LoadOrStore(t, schema)
	return known.(*jsonschema.Schema)
}

func withoutNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if rest := slices.DeleteFunc(slices.Clone(s.Types), func(name string) bool { return name == "null" }); len(rest) == 1 {
		s.Type, s.Types = rest[0], nil
	}
	withoutNull(s.Items)
	withoutNull(s.AdditionalProperties)
	for _, property := range s.Properties {
		withoutNull(property)
	}
}
