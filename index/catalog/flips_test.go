package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// readAll returns the content of a file.
func readAll(t testing.TB, fsys vfs.FS, name string) []byte {
	t.Helper()
	f := must.Get(fsys.Open(name))
	defer f.Close()
	data := must.Get(io.ReadAll(f))
	return data
}

func writeAll(t testing.TB, fsys vfs.FS, name string, data []byte) {
	t.Helper()
	f := must.Get(fsys.Create(name))
	must.Do(t, must.Err(f.Write(data)))
	must.Do(t, errors.Join(f.Sync(), f.Close()))
}

// folder returns the content of each file of the catalog in /c.
func folder(t testing.TB, fsys vfs.FS) map[string][]byte {
	t.Helper()
	names := must.Get(fsys.List("/c"))
	files := map[string][]byte{}
	for _, name := range names {
		files[name] = readAll(t, fsys, "/c/"+name)
	}
	return files
}

// smallCatalog has all kinds of data: segments, a deleted document, a stored text, links, aliases, tags, properties,
// and lists.
func smallCatalog(t *testing.T) map[string][]byte {
	t.Helper()
	mem := vfs.NewMem()
	c := openIn(t, mem, "/c")
	var many []catalog.Record
	for i := range 5 {
		many = append(many, record(t, fmt.Sprintf("f/n%d.md", i), fmt.Sprintf("# N %d\n\nx [[a]] [[Other name]]\n", i)))
	}
	put(t, c, append(many, record(t, "a.md", sample), record(t, "gone.md", "# G\n"))...)
	stored := record(t, "b.md", "# B\n\ny [[a#last]] #tag\n")
	stored.Text, stored.HasText = []byte("# B\n\ny [[a#last]] #tag\n"), true
	must.Do(t, c.Update(context.Background(),
		catalog.Update{Put: []catalog.Record{stored}, Delete: []sheaf.ID{"notes:gone.md"},
			Skipped:  &[]catalog.Skip{{Path: "p", Reason: "r"}},
			Pending:  &map[sheaf.ID]string{"notes:a.md": "later"},
			Settings: &catalog.Settings{Analyzer: "an analyzer", Trees: []catalog.Tree{{Name: "notes"}}}}))
	return folder(t, mem)
}

func restore(t testing.TB, files map[string][]byte) vfs.FS {
	t.Helper()
	mem := vfs.NewMem()
	must.Do(t, mem.MkdirAll("/c"))
	for name, data := range files {
		writeAll(t, mem, "/c/"+name, data)
	}
	return mem
}

// answers calls every query of a catalog and returns one line for each answer. A query that fails
// adds its error to faults and no line.
func answers(fsys vfs.FS) (lines []string, faults []error) {
	c, err := catalog.Open(fsys, "/c", catalog.Options{Source: fsys})
	if err != nil {
		return nil, []error{err}
	}
	defer c.Close()
	// Each query gets its own view, which keeps its faults apart from others.
	ask := func(name string, question func(v *catalog.View) (any, error)) {
		fresh, err := catalog.Open(fsys, "/c", catalog.Options{Source: fsys})
		if err != nil {
			faults = append(faults, err)
			return
		}
		defer fresh.Close()
		v := fresh.View()
		defer v.Close()
		answer, err := question(v)
		if err = errors.Join(err, v.Err()); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
			return
		}
		lines = append(lines, fmt.Sprintf("%s: %+v", name, answer))
	}
	ask("files", func(v *catalog.View) (any, error) {
		var list []string
		for id, state := range v.Files() {
			list = append(list, fmt.Sprint(id, state))
		}
		return list, nil
	})
	ask("totals", func(v *catalog.View) (any, error) {
		return []any{v.Docs(), v.Chunks(), v.SourceBytes(), v.Settings(), v.FolderSize("notes", ""),
			v.FolderSize("notes", "f")}, nil
	})
	ask("properties", func(v *catalog.View) (any, error) { return v.Properties() })
	ask("skipped", func(v *catalog.View) (any, error) { return v.Skipped() })
	ask("pending", func(v *catalog.View) (any, error) { return v.Pending(), nil })
	ask("text", func(v *catalog.View) (any, error) { return v.Text("notes:b.md") })
	for _, id := range []sheaf.ID{"notes:a.md", "notes:b.md", "notes:f/n3.md", "notes:gone.md"} {
		ask("record "+string(id), func(v *catalog.View) (any, error) {
			r, err := v.Record(id)
			if errors.Is(err, sheaf.ErrNotFound) {
				return "none", nil
			}
			if err != nil {
				return nil, err
			}
			return *r, nil
		})
		ask("back-links "+string(id), func(v *catalog.View) (any, error) { return v.Backlinks(id), nil })
		ask("links "+string(id), func(v *catalog.View) (any, error) { return v.Links(id), nil })
		ask("alias from "+string(id), func(v *catalog.View) (any, error) {
			to, _ := v.Resolve(id, sheaf.Link{Kind: sheaf.LinkWiki, Target: "Other name", Fragment: "Last"})
			return to, nil
		})
	}
	return lines, faults
}

// atPlace matches the position of a fault in a file.
var atPlace = regexp.MustCompile(`at byte \d+`)

// told fails the test unless every fault is ErrCorrupt and names the file and the position.
func told(t *testing.T, where, file string, faults []error) {
	t.Helper()
	for _, err := range faults {
		must.That(t, errors.Is(err, sheaf.ErrCorrupt) && strings.Contains(err.Error(), file) &&
			atPlace.MatchString(err.Error()), "%s: the error names no corruption of %s at a place: %v", where, file, err)
		must.That(t, strings.Count(err.Error(), "corrupt") <= strings.Count(err.Error(), "\n")+1,
			"%s: the error repeats itself: %v", where, err)
	}
}

// TestFlippedBytes flips each byte of each file of a small catalog. Each query must return the same answer
// as before, or an error with the file and the position. Check must find each flip, and a merge
// must never hide a fault.
func TestFlippedBytes(t *testing.T) {
	must.Whole(t, "no goroutine runs beside it")
	files := smallCatalog(t)
	want, faults := answers(restore(t, files))
	must.That(t, len(want) == 22 && len(faults) == 0, "%d answers of the sound catalog, %v", len(want), faults)
	flips, refused := 0, 0
	for name, data := range files {
		for i := 0; i < len(data); i++ {
			flips++
			where := fmt.Sprintf("%s, byte %d", name, i)
			flipped := slices.Clone(data)
			flipped[i] ^= 1 << (i % 8)
			fsys := restore(t, files)
			writeAll(t, fsys, "/c/"+name, flipped)
			got, faults := answers(fsys)
			told(t, where, name, faults)
			for _, line := range got {
				must.That(t, slices.Contains(want, line), "%s: another answer: %s", where, line)
			}
			must.That(t, len(got) >= len(want) || len(faults) != 0, "%s: %d answers, and nothing is said", where, len(got))
			if len(faults) > 0 {
				refused++
			}
			checkFlip(t, fsys, name, where)
			mergeFlip(t, fsys, name, where, want)
		}
	}
	t.Logf("%d flips, %d refused", flips, refused)
	check.That(t, flips >= 3500 && refused*2 >= flips,
		"%d flips, of which %d were noticed by a question", flips, refused)
}

// checkFlip checks that Check reports the fault once. A flip in LOCK may stay unreported: only people read that file.
func checkFlip(t *testing.T, fsys vfs.FS, name, where string) {
	t.Helper()
	c, err := catalog.Open(fsys, "/c", catalog.Options{})
	if err != nil {
		return // answers reports this error
	}
	defer c.Close()
	v := c.View()
	defer v.Close()
	found := v.Check()
	told(t, where, name, found)
	must.That(t, len(found) == 1 || name == "LOCK", "%s: Check finds %d faults: %v", where, len(found), found)
}

// mergeFlip writes all segments into a new one. It checks that this fails or that all answers stay the same.
func mergeFlip(t *testing.T, fsys vfs.FS, name, where string, want []string) {
	t.Helper()
	c, err := catalog.Open(fsys, "/c", catalog.Options{Source: fsys})
	if err != nil {
		return
	}
	defer c.Close()
	again := []sheaf.ID{"notes:none-0", "notes:none-1", "notes:none-2", "notes:none-3", "notes:none-4"}
	if err := c.Update(context.Background(), catalog.Update{Delete: again}); err != nil {
		told(t, where, name, []error{err})
		return
	}
	got, faults := answers(fsys)
	told(t, where, name, faults)
	for _, line := range got {
		must.That(t, slices.Contains(want, line), "%s: after a merge another answer: %s", where, line)
	}
}
