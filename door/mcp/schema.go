package mcp

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// schemas holds the schemas of the tools for the SDK, and byType the schemas for clients. All callers share these
// schemas, because each HTTP request has its own server and making schemas takes long.
var (
	schemas = sdk.NewSchemaCache()
	byType  sync.Map // reflect.Type to *jsonschema.Schema
)

// schemaOf returns a schema of T in which each value has one type. The SDK's schemas also allow null for lists and
// pointers, but no parameter here accepts null. If a schema allows null, Gemini rejects it, and other clients send
// texts instead of lists.
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
