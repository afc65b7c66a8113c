package ingest

import (
	"testing"

	"sheaf/text/chunk"
)

// TestAccessProperties checks that a property which fills an access column is never part of a text.
func TestAccessProperties(t *testing.T) {
	for _, name := range []string{PropertyTenant, PropertyAccess, PropertySets, "Access", "title", "author"} {
		if chunk.IsAccessProperty(name) != (accessColumn(name) != "") {
			t.Errorf("%s: %v, column %q", name, chunk.IsAccessProperty(name), accessColumn(name))
		}
	}
}
