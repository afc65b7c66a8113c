package memory_test

import (
	"testing"

	"sheaf/analysis"
	"sheaf/backend"
	"sheaf/backend/backendtest"
	"sheaf/backend/memory"
)

func open(t testing.TB) backend.Backend {
	t.Helper()
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	return memory.New(a)
}

func TestConformance(t *testing.T) { backendtest.Run(t, backendtest.Options{Open: open}) }
