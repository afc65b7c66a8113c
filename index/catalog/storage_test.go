package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/index/vfs/sectionfile"
)

// TestStoredTexts checks that stored texts of all sizes come back, also after a merge.
// SHEAF_TEST_LONG adds one larger than a decoder accepts at once.
func TestStoredTexts(t *testing.T) {
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
		text, err := v.Text(id)
		if err != nil || len(text) != size {
			t.Fatalf("of %d bytes: %d bytes, %v", size, len(text), err)
		}
		for i, b := range text {
			if b != at(i) {
				t.Fatalf("of %d bytes: byte %d is another", size, i)
			}
		}
	}
	if raw := 6*piece + 18; v.DiskBytes() > int64(raw/20) && len(sizes) == 6 {
		t.Errorf("%d bytes of repeating text take %d", raw, v.DiskBytes())
	}
}

// TestMerges runs updates of all sizes over documents that fill many blocks. Merges then copy,
// repack or drop blocks. The test checks that the content is correct and that blocks keep a good
// size.
func TestMerges(t *testing.T) {
	histories := uint64(6)
	if testing.Short() {
		histories = 2
	}
	for seed := range histories {
		fsys, r := vfs.NewMem(), rand.New(rand.NewPCG(seed, 9))
		c := openIn(t, fsys, "/c")
		model := map[sheaf.ID]catalog.Record{}
		for step := range 30 {
			var u catalog.Update
			for range []int{1, 2, 30, 200}[r.IntN(4)] {
				path := fmt.Sprintf("f%d/d%d.md", r.IntN(3), r.IntN(300))
				rec := record(t, path, "# "+strings.Repeat(fmt.Sprintf("word%d ", r.IntN(100)), 1+r.IntN(300))+"\n\ntext\n")
				if r.IntN(5) == 0 {
					rec.Text, rec.HasText = []byte(path), true
				}
				u.Put = append(u.Put, rec)
			}
			for id := range model {
				if r.IntN(40) == 0 {
					u.Delete = append(u.Delete, id)
					delete(model, id)
				}
			}
			for _, rec := range u.Put {
				model[rec.Document.ID] = rec
			}
			if err := c.Update(context.Background(), u); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
		}
		compare(t, c, model, fmt.Sprintf("seed %d", seed))
		v := c.View()
		defer v.Close()
		for id, rec := range model {
			if !rec.HasText {
				continue
			}
			if text, err := v.Text(id); err != nil || string(text) != rec.Document.Path {
				t.Fatalf("seed %d: the text of %s is %q, %v", seed, id, text, err)
			}
		}
		if faults := v.Check(); len(faults) > 0 {
			t.Fatalf("seed %d: %v", seed, faults)
		}
		fresh := openIn(t, fsys, "/fresh")
		put(t, fresh, slices.Collect(maps.Values(model))...)
		w := fresh.View()
		defer w.Close()
		if is, could := v.DiskBytes(), w.DiskBytes(); is > 2*could {
			t.Errorf("seed %d: %d bytes after its history, %d when made at once", seed, is, could)
		}
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
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	c := open(t, dir)
	for _, file := range files {
		must(t, os.Truncate(file, 0))
	}
	v := c.View()
	defer v.Close()
	if _, err := v.Record("notes:d123.md"); !errors.Is(err, sheaf.ErrCorrupt) {
		t.Errorf("a record: %v", err)
	}
	v.Backlinks("notes:d001.md")
	if err := v.Err(); !errors.Is(err, sheaf.ErrCorrupt) {
		t.Errorf("back-links: %v", err)
	}
	if faults := v.Check(); len(faults) == 0 || !errors.Is(errors.Join(faults...), sheaf.ErrCorrupt) {
		t.Errorf("check: %v", faults)
	}
}

// TestContainer1 checks a catalog in files of container version 1. It opens with all content,
// including a text that no other file holds. Check finds damage. The next update writes a file of
// the current version.
func TestContainer1(t *testing.T) {
	dir := filepath.Join("testdata", "container1")
	entries, err := os.ReadDir(dir)
	must(t, err)
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	fsys := restore(t, files)
	holds := func(c *catalog.Catalog) error {
		v := c.View()
		defer v.Close()
		text, err := v.Text("notes:given.md")
		if err == nil && string(text) != sample {
			err = fmt.Errorf("the text that was given is %q", text)
		}
		return errors.Join(append(v.Check(), err)...)
	}
	c := openIn(t, fsys, "/c")
	if err := holds(c); err != nil {
		t.Error(err)
	}
	for name, data := range files {
		for i := 0; i < len(data); i += 7 {
			flipped := slices.Clone(data)
			flipped[i] ^= 16
			writeAll(t, fsys, "/c/"+name, flipped)
			c, err := catalog.Open(fsys, "/c", catalog.Options{ReadOnly: true})
			if err == nil {
				err = holds(c)
				c.Close()
			}
			switch where := fmt.Sprintf("%s, byte %d", name, i); {
			case err != nil:
				told(t, where, name, []error{err})
			case data[i] != 0:
				t.Errorf("%s flipped: nobody noticed", where)
			}
		}
		writeAll(t, fsys, "/c/"+name, data)
	}
	put(t, c, record(t, "new.md", "# N\n"))
	if err := holds(openIn(t, fsys, "/c")); err != nil {
		t.Error(err)
	}
	written := 0
	for name, data := range folder(t, fsys) {
		if files[name] == nil && strings.HasPrefix(name, "catalog-") {
			if written++; data[8] != sectionfile.Version {
				t.Errorf("%s is written in version %d of the container", name, data[8])
			}
		}
	}
	if written == 0 {
		t.Error("no file is written")
	}
}
