package ingest

import (
	"testing"

	"sheaf/text/chunk"
)

// TestAccessProperties: what fills a column of access is never text.
func TestAccessProperties(t *testing.T) {
	for _, name := range []string{PropertyTenant, PropertyAccess, PropertySets, "Access", "title", "author"} {
		if chunk.IsAccessProperty(name) != (accessColumn(name) != "") {
			t.Errorf("%s: %v, column %q", name, chunk.IsAccessProperty(name), accessColumn(name))
		}
	}
}
