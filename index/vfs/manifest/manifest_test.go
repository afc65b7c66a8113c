package manifest_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sheaf/index/vfs"
	"sheaf/index/vfs/manifest"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

func publish(t testing.TB, dir string, m manifest.Manifest) {
	t.Helper()
	must.Do(t, manifest.Publish(vfs.Disk{}, dir, m))
}

// TestWorkedExample checks the example of doc/formats/manifest.md.
func TestWorkedExample(t *testing.T) {
	dir := t.TempDir()
	publish(t, dir, manifest.Manifest{Generation: 3, Files: []string{"a"}, Payload: []byte("{}")})
	data := must.Get(os.ReadFile(filepath.Join(dir, manifest.Name)))
	want := append([]byte("SHEAFMAN"), 1, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0,
		0, 0, 0, 0, 'a', 0, '{', '}')
	check.That(t, len(data) == 48 && bytes.Equal(data[:44], want), "% x", data)
}

func TestPublishAndRead(t *testing.T) {
	dir := t.TempDir()
	check.Is(t, must.Err(manifest.Read(vfs.Disk{}, dir)), fs.ErrNotExist, "an empty folder")
	for generation := range uint64(3) {
		m := manifest.Manifest{Generation: generation + 1, Files: []string{"x", "é y"}, Payload: []byte{0, 1, 2}}
		publish(t, dir, m)
		got, err := manifest.Read(vfs.Disk{}, dir)
		check.That(t, err == nil && reflect.DeepEqual(got, m), "%+v, %v", got, err)
	}
	for _, name := range []string{"", ".", "..", "a/b", "MANIFEST", "a\x00"} {
		check.That(t, manifest.Publish(vfs.Disk{}, dir, manifest.Manifest{Files: []string{name}}) != nil,
			"file name %q is no error", name)
	}
}

func TestEveryFlipAndCut(t *testing.T) {
	dir := t.TempDir()
	publish(t, dir, manifest.Manifest{Generation: 9, Files: []string{"one", "two"}, Payload: []byte("payload")})
	path := filepath.Join(dir, manifest.Name)
	data := must.Get(os.ReadFile(path))
	for i := range data {
		flipped := bytes.Clone(data)
		flipped[i] ^= 1 << (i % 8)
		for _, content := range [][]byte{flipped, data[:i]} {
			must.Do(t, os.WriteFile(path, content, 0o600))
			if _, err := manifest.Read(vfs.Disk{}, dir); !errors.Is(err, vfs.ErrCorrupt) &&
				!errors.Is(err, vfs.ErrVersion) {
				t.Errorf("byte %d: %v", i, err)
			}
			g, err := manifest.Generation(vfs.Disk{}, dir)
			check.That(t, (err != nil || len(content) >= 24) && (err == nil || errors.Is(err, vfs.ErrCorrupt)),
				"byte %d: generation %d, %v", i, g, err)
		}
	}
}

// TestOpenWhileNewerIsPublished checks that Open follows a newer generation that replaced a missing
// file. A file missing in the newest generation is an error.
func TestOpenWhileNewerIsPublished(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	must.Do(t, os.WriteFile(file("new"), nil, 0o600))
	publish(t, dir, manifest.Manifest{Generation: 1, Files: []string{"old"}})
	tries := 0
	open := func(m manifest.Manifest) (string, error) {
		tries++
		if tries == 1 { // the writer is faster than the reader
			publish(t, dir, manifest.Manifest{Generation: 2, Files: []string{"new"}})
		}
		_, err := os.Stat(file(m.Files[0]))
		return m.Files[0], err
	}
	got, m, err := manifest.Open(vfs.Disk{}, dir, open)
	check.That(t, err == nil && got == "new" && m.Generation == 2, "%q, %+v, %v", got, m, err)
	publish(t, dir, manifest.Manifest{Generation: 3, Files: []string{"gone"}})
	if _, _, err := manifest.Open(vfs.Disk{}, dir, open); !errors.Is(err, vfs.ErrCorrupt) ||
		errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "generation 3") {
		t.Errorf("a missing file: %v", err)
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	m := manifest.Manifest{Generation: 1, Files: []string{"seg-1"}}
	publish(t, dir, m)
	for _, name := range []string{"seg-1", "seg-2", "seg-3.tmp", "MANIFEST.tmp", "notes.md"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	must.Do(t, manifest.Sweep(vfs.Disk{}, dir, m, func(name string) bool { return strings.HasPrefix(name, "seg-") }))
	left, _ := vfs.Disk{}.List(dir)
	check.List(t, left, []string{"MANIFEST", "notes.md", "seg-1"}, "files that are left")
}

func FuzzRead(f *testing.F) {
	dir := f.TempDir()
	publish(f, dir, manifest.Manifest{Generation: 9, Files: []string{"one"}, Payload: []byte("payload")})
	data := must.Get(os.ReadFile(filepath.Join(dir, manifest.Name)))
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, manifest.Name), data, 0o600))
		m, err := manifest.Read(vfs.Disk{}, dir)
		if err == nil {
			again := manifest.Publish(vfs.Disk{}, dir, m)
			must.That(t, again == nil, "%v", again)
		}
	})
}
