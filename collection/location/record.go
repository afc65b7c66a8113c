package location

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"sheaf"
	"sheaf/index/vfs"
)

// These are the names of files and folders of an index.
const (
	recordName  = "collection.json"
	storesName  = "stores" // a folder for each server
	catalogName = "catalog"
	engineName  = "engine"
	lockName    = "lock"

	// DamagedName is the folder with copies of damaged files.
	DamagedName = "damaged"
	// EmbeddingsName is the cache of passage vectors.
	EmbeddingsName = "embeddings"
	// ConfidenceName is the file with the learned calibration of confidence.
	ConfidenceName = "confidence.json"

	// KeysName is the file of a server's keys. Remaking the index does not remove this file.
	KeysName = "keys.json"

	// JudgedName is the folder of judgements that people save on the web page, in the ranking lab.
	JudgedName = "judged"
)

var ours = map[string]bool{recordName: true, catalogName: true, engineName: true, lockName: true, EmbeddingsName: true,
	ConfidenceName: true, DamagedName: true, KeysName: true, KeysName + ".lock": true,
	JudgedName: true, "tuned": true, "documents.lock": true, "intake.db": true, "intake.db.new": true,
	// Older versions stored words, given documents and tasks here.
	"words.json": true, "documents": true, "tasks": true, "answers.jsonl": true, "answers.jsonl.lock": true,
	"moved-1": true}

// RecordFormat is the version of the record and the layout of an index folder. An index of another version is remade.
const RecordFormat = 1

// Record says what an index covers. It is a small JSON file. Each write replaces the whole file.
type Record struct {
	Format int `json:"format"`
	// Root is the folder for which the index was made. The settings in the catalog list folders that were added later.
	Root string `json:"root"`
	// Store is the address of the server that has the chunks, without user and options. It is "" for the engine.
	Store string `json:"store,omitempty"`
}

// recordFile is the record in the form of its file. Sum is the CRC-32C of format and root; earlier versions had none.
type recordFile struct {
	Record
	Sum string `json:"sum,omitempty"`
}

func (r Record) sum() string {
	return fmt.Sprintf("%08x", crc32.Checksum(fmt.Appendf(nil, "%d\n%s", r.Format, r.Root),
		crc32.MakeTable(crc32.Castagnoli)))
}

// ReadRecord reads the record in dir. If the record is unusable, the error is sheaf.ErrCorrupt. If it has another
// format, the error is [ErrFormat].
func ReadRecord(dir string) (Record, error) {
	path := filepath.Join(dir, recordName)
	content, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", sheaf.ErrNotFound, err)
		}
		return Record{}, fmt.Errorf("open index: %w", err)
	}
	var kept recordFile
	if err := json.Unmarshal(content, &kept); err != nil {
		return Record{}, fmt.Errorf("open index: %w: %s: %w", sheaf.ErrCorrupt, path, err)
	}
	r := kept.Record
	if kept.Sum != "" && kept.Sum != r.sum() {
		return Record{}, fmt.Errorf("open index: %w: %s: its checksum does not match", sheaf.ErrCorrupt, path)
	}
	if r.Format != RecordFormat {
		return Record{}, fmt.Errorf("open index: %s: %w: it has format %d, this program writes %d", path, ErrFormat, r.Format,
			RecordFormat)
	}
	if !filepath.IsAbs(r.Root) {
		return Record{}, fmt.Errorf("open index: %w: %s: its root is %q", sheaf.ErrCorrupt, path, r.Root)
	}
	return r, nil
}

// ErrFormat means that another version of the program made the index, with another layout. The index can be remade from
// the files. ErrFormat wraps sheaf.ErrUnsupported.
var ErrFormat = fmt.Errorf("%w: made by another version", sheaf.ErrUnsupported)

// Write writes the record into the folder dir. The caller must make dir first.
func (r Record) Write(dir string) error {
	content, err := json.MarshalIndent(recordFile{r, r.sum()}, "", "  ")
	if err != nil {
		return err
	}
	if err := vfs.WriteFile(filepath.Join(dir, recordName), append(content, '\n'), 0); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}

// All lists the indexes in the data folder, by folder name. It skips unreadable indexes.
func (f Finder) All() ([]Location, error) {
	entries, err := os.ReadDir(f.data())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list indexes: %w", err)
	}
	var locations []Location
	for _, e := range entries {
		dir := filepath.Join(f.data(), e.Name())
		if r, err := ReadRecord(dir); err == nil {
			locations = append(locations, Location{Root: r.Root, Dir: dir, Exists: true})
		}
	}
	return locations, nil
}

// Bytes returns the size of an index on disk: the sum of its files. It skips files that disappear while it counts.
func Bytes(dir string) int64 {
	var total int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}

// CatalogDir returns the folder of the catalog in the index at dir.
func CatalogDir(dir string) string { return filepath.Join(dir, catalogName) }

// EngineDir returns the folder of the engine in the index at dir.
func EngineDir(dir string) string { return filepath.Join(dir, engineName) }

// Lock takes the lock of the index at dir. While a process holds it, no other process can empty the index. If another
// process holds the lock, Lock fails at once with sheaf.ErrUnavailable and names the process. release unlocks.
func Lock(dir string) (release func() error, err error) {
	lock, err := vfs.Disk{}.Lock(filepath.Join(dir, lockName))
	switch {
	case errors.Is(err, vfs.ErrLocked):
		return nil, fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err)
	case err != nil:
		return nil, err
	}
	return lock.Close, nil
}
