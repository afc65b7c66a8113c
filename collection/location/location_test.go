package location_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/collection/location"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

func made(t *testing.T, loc location.Location) location.Location {
	t.Helper()
	must.Do(t, os.MkdirAll(loc.Dir, 0o755))
	must.Do(t, (location.Record{Format: location.RecordFormat, Root: loc.Root}).Write(loc.Dir))
	return loc
}

func find(t *testing.T, f location.Finder, folder string) (location.Location, []string) {
	t.Helper()
	loc, notices, err := f.Find(folder)
	must.Do(t, err)
	return loc, notices
}

func TestNearestIndexIsUsed(t *testing.T) {
	top := t.TempDir()
	f := location.Finder{Data: filepath.Join(top, "data")}
	notes := filepath.Join(top, "notes")
	deep := filepath.Join(notes, "a", "b")
	must.Do(t, os.MkdirAll(deep, 0o755))
	loc, _ := find(t, f, deep)
	check.That(t, !loc.Exists && loc.Root == deep && strings.HasPrefix(loc.Dir, f.Data), "with no index: %+v", loc)
	made(t, f.Own(notes))
	loc, _ = find(t, f, deep)
	check.That(t, loc.Exists && loc.Root == notes, "with one above: %+v", loc)
	made(t, f.Own(filepath.Join(notes, "a")))
	loc, _ = find(t, f, deep)
	check.That(t, loc.Root == filepath.Join(notes, "a"), "with a nearer one: %+v", loc)
	loc, _ = find(t, f, notes)
	check.That(t, loc.Root == notes, "the upper one itself: %+v", loc)
	other := filepath.Join(top, "notes2", "notes")
	a, b := f.Own(notes).Dir, f.Own(other).Dir
	check.That(t, a != b, "two folders share %s", a)
}

func TestUnapprovedIndexIsNotUsed(t *testing.T) {
	top := t.TempDir()
	approved := false
	f := location.Finder{Data: filepath.Join(top, "data"), Approved: func(string) bool { return approved }}
	notes := filepath.Join(top, "notes")
	made(t, f.Inside(notes))
	loc, notices := find(t, f, notes)
	check.That(t, !loc.Here && len(notices) == 1 && strings.Contains(notices[0], "sheaf init --here"),
		"%+v, %q", loc, notices)
	approved = true
	loc, notices = find(t, f, notes)
	check.That(t, loc.Here && len(notices) == 0, "after approval: %+v, %q", loc, notices)
}

func TestNamedIndexMustCoverFolder(t *testing.T) {
	top := t.TempDir()
	notes, other := filepath.Join(top, "notes"), filepath.Join(top, "other")
	f := location.Finder{Index: filepath.Join(top, "index")}
	made(t, location.Location{Root: notes, Dir: f.Index})
	loc, _ := find(t, f, filepath.Join(notes, "a"))
	check.That(t, loc.Root == notes && loc.Dir == f.Index, "%+v", loc)
	if _, _, err := f.Find(other); !errors.Is(err, sheaf.ErrInvalid) {
		t.Errorf("a folder that it does not cover: %v", err)
	}
	f.Index = other
	must.Do(t, os.MkdirAll(filepath.Join(other, "photos"), 0o755))
	if _, _, err := f.Find(notes); !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(err.Error(), "photos") {
		t.Errorf("a folder with other files: %v", err)
	}
	// Keys and their lock stay if the record of an index is lost.
	f.Index = filepath.Join(top, "lost")
	keys, err := access.OpenKeys(filepath.Join(f.Index, location.KeysName))
	if err == nil {
		err = os.MkdirAll(f.Index, 0o755)
	}
	if err == nil {
		_, _, err = keys.Add(access.Grant{Scopes: []access.Scope{access.ScopeSearch}})
	}
	must.Do(t, err)
	loc, _, err = f.Find(notes)
	check.That(t, err == nil && !loc.Exists, "an index that lost its record and has keys: %+v, %v", loc, err)
	// The folder may also hold the file that the removed command `sheaf adapt` wrote.
	must.Do(t, os.WriteFile(filepath.Join(f.Index, "words.json"), []byte("{}\n"), 0o600))
	loc, _, err = f.Find(notes)
	check.That(t, err == nil && !loc.Exists, "an index that lost its record and has words.json: %+v, %v", loc, err)
}

// TestStoreHasKeysOfFolder checks that a folder that moves to a store keeps its keys, unless the store has keys.
func TestStoreHasKeysOfFolder(t *testing.T) {
	top := t.TempDir()
	base := location.Location{Root: filepath.Join(top, "notes"), Dir: filepath.Join(top, "index"), Exists: true}
	moved := base.Store("postgres://me@host/database")
	check.Equal(t, moved.Keys(), base.Keys(), "place of the keys of the store")
	own := filepath.Join(moved.Dir, location.KeysName)
	must.Do(t, os.MkdirAll(moved.Dir, 0o755))
	must.Do(t, os.WriteFile(own, []byte("{}"), 0o600))
	check.Equal(t, moved.Keys(), own, "place of the keys of a store with keys")
	base.Exists = false
	if only := base.Store("postgres://me@other/database"); only.Keys() != filepath.Join(only.Dir, location.KeysName) {
		t.Errorf("without another index the keys are in %s", only.Keys())
	}
}

func TestRecord(t *testing.T) {
	dir := t.TempDir()
	r := location.Record{Format: location.RecordFormat, Root: filepath.Join(dir, "notes")}
	must.Do(t, r.Write(dir))
	got := must.Get(location.ReadRecord(dir))
	check.Equal(t, got, r, "record")
	cases := map[string]error{
		"":                               sheaf.ErrCorrupt,
		"{":                              sheaf.ErrCorrupt,
		"null":                           location.ErrFormat,
		`{"format": 99}`:                 location.ErrFormat,
		`{"format": 1}`:                  sheaf.ErrCorrupt,
		`{"format": 1, "root": "notes"}`: sheaf.ErrCorrupt,
		`{"format": 1, "root": "/motes", "sum": "2ced09b5"}`: sheaf.ErrCorrupt,
	}
	if filepath.IsAbs("/notes") { // the example of doc/formats/collection.md, and a record of an earlier version
		cases["{\n  \"format\": 1,\n  \"root\": \"/notes\",\n  \"sum\": \"2ced09b5\"\n}\n"] = nil
		cases[`{"format": 1, "root": "/notes"}`] = nil
	}
	for text, want := range cases {
		must.Do(t, os.WriteFile(filepath.Join(dir, "collection.json"), []byte(text), 0o644))
		check.Is(t, must.Err(location.ReadRecord(dir)), want, "%q", text)
	}
	check.Is(t, must.Err(location.ReadRecord(filepath.Join(dir, "none"))), sheaf.ErrNotFound, "no record")
}

// TestRecordFlips checks that a record with a flipped bit is reported or keeps its meaning.
func TestRecordFlips(t *testing.T) {
	dir := t.TempDir()
	want := location.Record{Format: location.RecordFormat, Root: filepath.Join(dir, "notes")}
	must.Do(t, want.Write(dir))
	file := filepath.Join(dir, "collection.json")
	content := must.Get(os.ReadFile(file))
	for i := range content {
		for bit := range 8 {
			flipped := slices.Clone(content)
			flipped[i] ^= 1 << bit
			must.Do(t, os.WriteFile(file, flipped, 0o644))
			got, err := location.ReadRecord(dir)
			reported := errors.Is(err, sheaf.ErrCorrupt) ||
				errors.Is(err, location.ErrFormat)
			check.That(t, reported || err == nil && got == want, "byte %d, bit %d: %+v, %v", i, bit, got, err)
		}
	}
}
