package collection

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sheaf"
	"sheaf/index/catalog"
)

// TestKeptIn: of which documents a version is kept is looked up, however many there are: of an
// index that is damaged all are asked for.
func TestKeptIn(t *testing.T) {
	dir := t.TempDir()
	for i := range 500 {
		if err := os.WriteFile(filepath.Join(dir, fileName(sheaf.ID(fmt.Sprint("api:", i)), catalog.Hash{1})), nil,
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := KeptIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	none, err := KeptIn(filepath.Join(dir, "none"))
	if err != nil || !kept("api:499") || kept("api:500") || none("api:1") {
		t.Error("what is kept is not, or what is not")
	}
	if n := testing.AllocsPerRun(10, func() { kept("api:499") }); n > 10 {
		t.Errorf("%v allocations to look one up", n)
	}
}
