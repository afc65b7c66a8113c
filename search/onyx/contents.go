package onyx

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"sync"

	"sheaf"
	"sheaf/index/vfs"
)

// Contents keep the indexed documents. Implementations are safe for concurrent use.
type Contents interface {
	// Load returns a document; ok is false when there is none.
	Load(id sheaf.ID) (d Document, ok bool, err error)
	// Save keeps documents. A document replaces one with the same ID.
	Save(docs []Document) error
	// Delete drops a document. It returns no error when there is none.
	Delete(id sheaf.ID) error
	// Settings returns the saved settings; ok is false when none were saved.
	Settings() (s Settings, ok bool, err error)
	SaveSettings(Settings) error
}

// Memory implements [Contents] in memory. It copies what callers pass and get, because the lists of a document
// decide who may see it.
type Memory struct {
	mu       sync.RWMutex
	docs     map[sheaf.ID]Document
	settings *Settings
}

// Load implements [Contents].
func (m *Memory) Load(id sheaf.ID) (Document, bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	d, ok := m.docs[id]
	return d.clone(), ok, nil
}

// Save implements [Contents].
func (m *Memory) Save(docs []Document) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.docs == nil {
		m.docs = map[sheaf.ID]Document{}
	}
	for _, d := range docs {
		m.docs[d.ID] = d.clone()
	}
	return nil
}

// Delete implements [Contents].
func (m *Memory) Delete(id sheaf.ID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.docs, id)
	return nil
}

// Settings implements [Contents].
func (m *Memory) Settings() (Settings, bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.settings == nil {
		return Settings{}, false, nil
	}
	return *m.settings, true, nil
}

// SaveSettings implements [Contents].
func (m *Memory) SaveSettings(s Settings) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settings = &s
	return nil
}

// Folder implements [Contents] in a folder. Each document is a file with a checksum at its end, named by the hash
// of the ID. A write makes a temporary file and renames it.
type Folder struct {
	FS  vfs.FS
	Dir string

	mu sync.Mutex // one writer
}

const settingsName = "settings"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (f *Folder) name(id sheaf.ID) string {
	sum := sha256.Sum256([]byte(id))
	return "doc-" + hex.EncodeToString(sum[:])
}

// Load implements [Contents]. It returns sheaf.ErrCorrupt for a damaged file.
func (f *Folder) Load(id sheaf.ID) (d Document, ok bool, err error) {
	ok, err = f.read(f.name(id), &d)
	if err == nil && ok && d.ID != id {
		return d, false, fmt.Errorf("%s: %w: it holds document %q", f.name(id), sheaf.ErrCorrupt, d.ID)
	}
	return d, ok, err
}

// Save implements [Contents].
func (f *Folder) Save(docs []Document) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range docs {
		if err := f.write(f.name(docs[i].ID), &docs[i]); err != nil {
			return err
		}
	}
	return f.FS.SyncDir(f.Dir)
}

// Delete implements [Contents].
func (f *Folder) Delete(id sheaf.ID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.FS.Remove(filepath.Join(f.Dir, f.name(id)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, f.FS.SyncDir(f.Dir))
}

// Settings implements [Contents].
func (f *Folder) Settings() (s Settings, ok bool, err error) {
	ok, err = f.read(settingsName, &s)
	return s, ok, err
}

// SaveSettings implements [Contents].
func (f *Folder) SaveSettings(s Settings) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.write(settingsName, &s); err != nil {
		return err
	}
	return f.FS.SyncDir(f.Dir)
}

// maxFile bounds how many bytes of a file are read.
const maxFile = 1 << 30

func (f *Folder) read(name string, to any) (bool, error) {
	file, err := f.FS.Open(filepath.Join(f.Dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return false, err
	}
	n := len(data) - crc32.Size
	if n < 0 || len(data) > maxFile || !bytes.Equal(data[n:], checksum(data[:n])) {
		return false, fmt.Errorf("%s: %w: checksum", name, sheaf.ErrCorrupt)
	}
	if err := gob.NewDecoder(bytes.NewReader(data[:n])).Decode(to); err != nil {
		return false, fmt.Errorf("%s: %w: %w", name, sheaf.ErrCorrupt, err)
	}
	return true, nil
}

func checksum(data []byte) []byte {
	sum := crc32.Checksum(data, castagnoli)
	return []byte{byte(sum), byte(sum >> 8), byte(sum >> 16), byte(sum >> 24)}
}

// The caller of write holds f.mu.
func (f *Folder) write(name string, from any) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(from); err != nil {
		return err
	}
	b.Write(checksum(b.Bytes()))
	if err := f.FS.MkdirAll(f.Dir); err != nil {
		return err
	}
	full := filepath.Join(f.Dir, name)
	file, err := f.FS.Create(full + ".tmp")
	if err != nil {
		return err
	}
	_, err = file.Write(b.Bytes())
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return f.FS.Rename(full+".tmp", full)
}
