package catalog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestStoredTexts checks that stored texts of all sizes come back, also after a merge.
// SHEAF_TEST_LONG adds one larger than a decoder accepts at once.
func TestStoredTexts(t *testing.T) {
	must.Whole(t, "no goroutine runs beside it")
	const piece = 1 << 20
	sizes := []int{0, 1, piece - 1, piece, piece + 1, 3*piece + 17}
	if os.Getenv("SHEAF_TEST_LONG") != "" {
		sizes = append(sizes, 1100<<20)
	}
	c := openIn(t, vfs.NewMem(), "/c")
	at := func(i int) byte { return byte(i>>10 ^ i>>3) }
	for k, size := range sizes {
		text := make([]byte, size)
		for i := range text {
			text[i] = at(i)
		}
		id := sheaf.DocumentID("given", fmt.Sprint(k))
		put(t, c, catalog.Record{Document: sheaf.Document{ID: id, Tree: "given", Path: fmt.Sprint(k)}, Text: text,
			HasText: true})
	}
	put(t, c, record(t, "x.md", "x")) // each update merges the segments before it
	v := c.View()
	defer v.Close()
	for k, size := range sizes {
		id := sheaf.DocumentID("given", fmt.Sprint(k))
		text := must.Get(v.Text(id))
		must.Equal(t, len(text), size, "bytes of the text")
		for i, b := range text {
			must.Equal(t, b, at(i), "byte %d of %d", i, size)
		}
	}
	if raw := 6*piece + 18; v.DiskBytes() > int64(raw/20) && len(sizes) == 6 {
		t.Errorf("%d bytes of repeating text take %d", raw, v.DiskBytes())
	}
}

// TestTruncatedFiles checks that truncating open files causes a corruption error and does not crash the
// program.
func TestTruncatedFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not let files be cut short that are mapped")
	}
	dir := t.TempDir()
	var records []catalog.Record
	for i := range 300 {
		records = append(records, record(t, fmt.Sprintf("d%03d.md", i), "# "+strings.Repeat(fmt.Sprint(i, " "), 100)+
			"\n\n[[d001]]\n"))
	}
	put(t, open(t, dir), records...)
	files, err := filepath.Glob(filepath.Join(dir, "catalog-*"))
	must.That(t, err == nil && len(files) != 0, "%v, %v", files, err)
	c := open(t, dir)
	for _, file := range files {
		must.Do(t, os.Truncate(file, 0))
	}
	v := c.View()
	defer v.Close()
	check.Is(t, must.Err(v.Record("notes:d123.md")), sheaf.ErrCorrupt, "a record")
	v.Backlinks("notes:d001.md")
	check.Is(t, v.Err(), sheaf.ErrCorrupt, "back-links")
	faults := v.Check()
	check.That(t, len(faults) != 0 && errors.Is(errors.Join(faults...), sheaf.ErrCorrupt), "check: %v", faults)
}
