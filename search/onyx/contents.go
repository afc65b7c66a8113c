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

// Contents stores the indexed documents in a folder, one file for each document, with a checksum at its end. The
// file's name is the hash of the document's ID. A write creates a temporary file and renames it. Contents is safe
// for concurrent use.
type Contents struct {
	// FS is the file system: vfs.Disk, or vfs.NewMem for contents in memory.
	FS  vfs.FS
	Dir string

	mu sync.Mutex // one writer
}

const settingsName = "settings"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (c *Contents) name(id sheaf.ID) string {
	sum := sha256.Sum256([]byte(id))
	return "doc-" + hex.EncodeToString(sum[:])
}

// Load returns the document called id. ok is false without such a document. For a damaged file, the error is
// sheaf.ErrCorrupt.
func (c *Contents) Load(id sheaf.ID) (d Document, ok bool, err error) {
	ok, err = c.read(c.name(id), &d)
	if err == nil && ok && d.ID != id {
		return d, false, fmt.Errorf("%s: %w: it holds document %q", c.name(id), sheaf.ErrCorrupt, d.ID)
	}
	return d, ok, err
}

// Save stores documents. Each replaces an earlier document with the same ID.
func (c *Contents) Save(docs []Document) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range docs {
		if err := c.write(c.name(docs[i].ID), &docs[i]); err != nil {
			return err
		}
	}
	return c.FS.SyncDir(c.Dir)
}

// Delete drops a document. It returns no error for an unknown document.
func (c *Contents) Delete(id sheaf.ID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.FS.Remove(filepath.Join(c.Dir, c.name(id)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, c.FS.SyncDir(c.Dir))
}

// Settings returns the saved settings. ok is false if none were saved.
func (c *Contents) Settings() (s Settings, ok bool, err error) {
	ok, err = c.read(settingsName, &s)
	return s, ok, err
}

// SaveSettings stores settings and replaces earlier ones.
func (c *Contents) SaveSettings(s Settings) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.write(settingsName, &s); err != nil {
		return err
	}
	return c.FS.SyncDir(c.Dir)
}

// maxFile is the largest size in bytes of a file that is read. A larger file counts as damaged.
const maxFile = 1 << 30

func (c *Contents) read(name string, to any) (bool, error) {
	file, err := c.FS.Open(filepath.Join(c.Dir, name))
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

// write writes value to a file, with a checksum at its end. The caller holds c.mu.
func (c *Contents) write(name string, value any) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(value); err != nil {
		return err
	}
	b.Write(checksum(b.Bytes()))
	if err := c.FS.MkdirAll(c.Dir); err != nil {
		return err
	}
	full := filepath.Join(c.Dir, name)
	file, err := c.FS.Create(full + ".tmp")
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
	return c.FS.Rename(full+".tmp", full)
}
