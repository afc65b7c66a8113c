package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/index/vfs/manifest"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// given reports whether the tree of a document has no folder.
func given(doc sheaf.ID, s *catalog.Settings) bool { return s.Root(doc.Tree()) == "" }

// mixed returns a catalog in two segments, with files and with texts that only the catalog holds.
// One text is replaced and one is deleted.
func mixed(t *testing.T) map[string][]byte {
	t.Helper()
	mem := vfs.NewMem()
	c := openIn(t, mem, "/c")
	text := func(path, body string) catalog.Record {
		r := record(t, path, body)
		r.Document.Tree, r.Document.ID = "texts", sheaf.DocumentID("texts", path)
		r.Document.Chunks = nil
		r.Text, r.HasText = []byte(body), true
		return r
	}
	settings := &catalog.Settings{Trees: []catalog.Tree{{Name: "notes", Root: "/notes"}, {Name: "texts"}},
		Chunker: "window", Language: "de", Extra: map[string]string{"x": "y"}}
	records := []catalog.Record{text("old", "replaced"), text("gone", "deleted")}
	for i := range 40 {
		records = append(records, record(t, fmt.Sprintf("n%02d.md", i), "# N\n\nx\n"),
			text(fmt.Sprintf("t%02d", i), fmt.Sprintf("text %d [[t01]]", i)))
	}
	must.Do(t, c.Update(context.Background(), catalog.Update{Put: records, Settings: settings}))
	must.Do(t, c.Update(context.Background(),
		catalog.Update{Put: []catalog.Record{text("old", "newer")}, Delete: []sheaf.ID{"texts:gone"}}))
	return folder(t, mem)
}

// rescue makes a sound catalog from the files in fsys and returns what was lost.
func rescue(fsys vfs.FS) (w *catalog.Wreck, err error) {
	if w, err = catalog.Examine(fsys, "/c", given); err != nil {
		return nil, err
	}
	err = w.Replace(func(s *catalog.Settings) { s.Extra = map[string]string{"rescued": "yes"} })
	if closeErr := w.Close(); err == nil {
		err = closeErr
	}
	return w, err
}

// sound opens a catalog, checks that it has no faults, and returns its texts.
func sound(t *testing.T, where string, fsys vfs.FS) (map[string]string, catalog.Settings) {
	t.Helper()
	c := openIn(t, fsys, "/c")
	v := c.View()
	defer v.Close()
	faults := v.Check()
	must.That(t, len(faults) <= 0, "%s: %v", where, faults)
	texts := map[string]string{}
	for id := range v.Files() {
		text, err := v.Text(id)
		must.That(t, err == nil, "%s: %s: %v", where, id, err)
		texts[id.Path()] = string(text)
	}
	must.Equal(t, v.Docs(), len(texts), "%s: counted documents", where)
	return texts, v.Settings()
}

// TestSalvage damages each file of a catalog in turn. It checks that the salvaged catalog is sound, and keeps the
// settings and all readable texts. It names the lost texts.
func TestSalvage(t *testing.T) {
	files := mixed(t)
	want := map[string]string{"old": "newer"}
	for i := range 40 {
		want[fmt.Sprintf("t%02d", i)] = fmt.Sprintf("text %d [[t01]]", i)
	}
	for name := range files {
		for _, damage := range []string{"none", "first", "middle", "end", "empty", "missing"} {
			where := name + ", " + damage
			data := slices.Clone(files[name])
			fsys := restore(t, files)
			switch at := len(data) * strings.Index("fme", damage[:1]) / 3; damage {
			case "none":
			case "empty":
				data = nil
			case "missing":
				must.Do(t, fsys.Remove("/c/"+name))
			default:
				for i := at; i < min(at+40, len(data)); i++ {
					data[i] ^= 0x55
				}
			}
			if damage != "missing" {
				writeAll(t, fsys, "/c/"+name, data)
			}
			w, err := rescue(fsys)
			must.That(t, err == nil, "%s: %v", where, err)
			texts, settings := sound(t, where, fsys)
			unknown := w.Unread > 0 || damage == "missing"
			for path, text := range texts {
				must.That(t, want[path] == text || unknown && (path == "old" || path == "gone"),
					"%s: %s became %q", where, path, text)
			}
			check.That(t, len(texts) == w.Kept && (len(texts)+len(w.Lost) >= len(want) || unknown),
				"%s: of %d documents %d are kept, %d lost, %d unread", where, len(want), len(texts), len(w.Lost), w.Unread)
			check.That(t, damage != "none" || len(texts) == len(want) && len(w.Lost) <= 0 && w.Unread <= 0,
				"%s: %d documents, %v lost", where, len(texts), w.Lost)
			check.That(t, w.SettingsFound && len(settings.Trees) == 2 && settings.Chunker == "window" &&
				settings.Extra["rescued"] == "yes", "%s: the settings are %+v", where, settings)
		}
	}
}

// TestMissingFile checks that Open reports damage when the manifest or a segment is missing. If it
// made a new catalog, the first change would remove the texts in the other files.
func TestMissingFile(t *testing.T) {
	files := mixed(t)
	for name := range files {
		if !strings.HasPrefix(name, "catalog-0") && name != manifest.Name {
			continue
		}
		fsys := restore(t, files)
		must.Do(t, fsys.Remove("/c/"+name))
		_, err := catalog.Open(fsys, "/c", catalog.Options{})
		check.That(t, errors.Is(err, sheaf.ErrCorrupt) && !errors.Is(err, sheaf.ErrNotFound) &&
			strings.Contains(err.Error(), name), "without %s: %v", name, err)
	}
}

// TestSalvageCrashes cuts the power at each call that changes the disk while Replace replaces a
// damaged catalog. It checks that a second try works and loses nothing more.
func TestSalvageCrashes(t *testing.T) {
	files := mixed(t)
	files["MANIFEST"][20] ^= 1
	for stop := 0; ; stop++ {
		mem := restore(t, files).(*vfs.Mem)
		must.Do(t, mem.SyncDir("/c"))
		calls := 0
		_, err := rescue(&vfs.Faulty{FS: mem, Fail: func(op vfs.Op, _ string) error {
			switch op {
			case vfs.OpCreate, vfs.OpWrite, vfs.OpSync, vfs.OpRename, vfs.OpRemove, vfs.OpSyncDir:
				if calls++; calls > stop {
					return syscall.EIO
				}
			}
			return nil
		}})
		crashed := mem.Crash(uint64(stop))
		if _, err := rescue(crashed); err != nil {
			t.Fatalf("call %d: %v", stop, err)
		}
		texts, settings := sound(t, fmt.Sprintf("call %d", stop), crashed)
		delete(texts, "gone") // no manifest says which of two segments counts
		must.That(t, len(texts) == 41 && len(settings.Trees) == 2, "call %d: %d documents, %+v", stop, len(texts), settings)
		if calls <= stop {
			must.That(t, stop >= 8 && err == nil, "%d calls, %v", stop, err)
			return
		}
	}
}
