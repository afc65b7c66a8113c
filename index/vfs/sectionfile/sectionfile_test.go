package sectionfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheaf/index/vfs"
	"sheaf/index/vfs/sectionfile"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

func write(t testing.TB, path string, sections map[string][]byte, names ...string) {
	t.Helper()
	w := must.Get(sectionfile.Create(vfs.Disk{}, path, "example", 7))
	for _, name := range names {
		w.Section(name, sections[name])
	}
	must.Do(t, must.Err(w.Close()))
}

// TestWorkedExample checks the example of doc/formats/sectionfile.md.
func TestWorkedExample(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, map[string][]byte{"words": []byte("hello")}, "words")
	data := must.Get(os.ReadFile(path))
	le := binary.LittleEndian
	if len(data) != 130 || string(data[:8]) != "SHEAFSEC" || le.Uint32(data[8:]) != 2 || le.Uint32(data[12:]) != 7 ||
		string(data[16:24]) != "example\x00" {
		t.Errorf("%d bytes, header % x", len(data), data[:64])
	}
	if string(data[64:69]) != "hello" || le.Uint64(data[69:]) != 64 || le.Uint64(data[77:]) != 5 ||
		le.Uint32(data[85:]) != 0x9a71bb4c || string(data[93:98]) != "words" {
		t.Errorf("section and table % x", data[64:98])
	}
	if le.Uint64(data[98:]) != 69 || le.Uint32(data[106:]) != 1 || string(data[118:126]) != "SHEAFSEC" {
		t.Errorf("footer % x", data[98:])
	}
}

// TestWorkedLists checks the second example of doc/formats/sectionfile.md.
func TestWorkedLists(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, map[string][]byte{"words": bytes.Repeat([]byte("x"), 2049)}, "words")
	data := must.Get(os.ReadFile(path))
	le := binary.LittleEndian
	if len(data) != 64+2049+8+29+32 || le.Uint32(data[2113:]) != 0xe8ee8c91 || le.Uint32(data[2117:]) != 0xa93c5f93 ||
		le.Uint64(data[2129:]) != 2049 || le.Uint32(data[2137:]) != 0x19d29a6d {
		t.Errorf("%d bytes, list % x, table % x", len(data), data[2113:2121], data[2121:2150])
	}
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	sections := map[string][]byte{"a": bytes.Repeat([]byte("x"), 1000), "empty": nil, "b": {1, 2, 3}}
	write(t, path, sections, "a", "empty", "b")
	r := must.Get(sectionfile.Open(vfs.Disk{}, path, "example", 7))
	defer r.Close()
	for name, want := range sections {
		p := must.Get(r.Paged(name))
		all, err := p.All()
		if got, ok := r.Section(name); !ok || !bytes.Equal(got, want) || err != nil || !bytes.Equal(all, want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	_, ok := r.Section("none")
	check.That(t, !ok, "a section that is not there")
	faults := r.Check()
	check.That(t, len(faults) == 0 && strings.Join(r.Names(), " ") == "a empty b", "%v %v", faults, r.Names())
	check.Is(t, must.Err(sectionfile.Open(vfs.Disk{}, path, "other", 7)), vfs.ErrCorrupt, "another kind")
	check.Fails(t, must.Err(sectionfile.Open(vfs.Disk{}, path, "example", 8)), vfs.ErrVersion,
		"version 7, this program reads 8", "another version")
}

// TestEveryFlipAndCut checks that Open or Check finds each flipped bit and each cut.
func TestEveryFlipAndCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, map[string][]byte{"a": []byte("some bytes"), "b": []byte("others")}, "a", "b")
	data := must.Get(os.ReadFile(path))
	find := func(content []byte) bool {
		must.Do(t, os.WriteFile(path, content, 0o600))
		r, err := sectionfile.Open(vfs.Disk{}, path, "example", 7)
		if err != nil {
			return errors.Is(err, vfs.ErrCorrupt) || errors.Is(err, vfs.ErrVersion)
		}
		defer r.Close()
		return len(r.Check()) > 0
	}
	for i := range data {
		flipped := bytes.Clone(data)
		flipped[i] ^= 1 << (i % 8)
		check.That(t, find(flipped), "byte %d flipped: nobody noticed", i)
		check.That(t, find(data[:i]), "cut to %d bytes: nobody noticed", i)
	}
}

func TestWriterErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := sectionfile.Create(vfs.Disk{}, filepath.Join(dir, "k"), "a kind that is too long", 1)
	check.That(t, err != nil, "a long kind is no error")
	for name, use := range map[string]func(*sectionfile.Writer){
		"twice": func(w *sectionfile.Writer) { w.Section("a", nil); w.Section("a", nil) },
		"name":  func(w *sectionfile.Writer) { w.Section("", nil) },
		"begin": func(w *sectionfile.Writer) { _, _ = w.Write([]byte("x")) },
	} {
		path := filepath.Join(dir, name)
		w := must.Get(sectionfile.Create(vfs.Disk{}, path, "example", 1))
		use(w)
		_, err := w.Close()
		check.That(t, err != nil, "%s: no error", name)
		_, err = os.Stat(path)
		check.That(t, err != nil, "%s: the file is still there", name)
	}
}

func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "f")
	write(f, path, map[string][]byte{"a": []byte("some bytes")}, "a")
	data := must.Get(os.ReadFile(path))
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "f")
		must.Do(t, os.WriteFile(path, data, 0o600))
		r, err := sectionfile.Open(vfs.Disk{}, path, "example", 7)
		if err != nil {
			return
		}
		defer r.Close()
		for _, name := range r.Names() {
			_, _ = r.Section(name)
		}
		_ = r.Check()
	})
}
