package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"sheaf/collection/access"
)

// TestSchemasOfOneType: every value has one type in the schemas of the tools, and none is null,
// which is refused. Gemini takes no tool of a server with an array that may be null, and the
// inspector of the protocol sends such a parameter as a text.
func TestSchemasOfOneType(t *testing.T) {
	listed, err := connect(t, access.Unrestricted()).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	types := 0
	var look func(at string, schema any)
	look = func(at string, schema any) {
		switch v := schema.(type) {
		case map[string]any:
			for name, value := range v {
				if _, one := value.(string); name == "type" && !strings.HasSuffix(at, "properties") {
					if types++; !one {
						t.Errorf("%s: type %v", at, value)
					}
					continue
				}
				look(at+"/"+name, value)
			}
		case []any:
			for i, value := range v {
				look(fmt.Sprint(at, "/", i), value)
			}
		}
	}
	for _, tool := range listed.Tools {
		look(tool.Name+" takes, by its schema", tool.InputSchema)
		look(tool.Name+" gives, by its schema", tool.OutputSchema)
	}
	if types < 100 {
		t.Errorf("%d types: the schemas have more", types)
	}
}
