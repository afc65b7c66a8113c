// Package manifest publishes the content of a folder of immutable files. One small file, the manifest, names the files
// of the current generation. Readers see a change only when the manifest is replaced. So a crash at any moment leaves
// either the whole old generation or the whole new one.
//
// The format is documented in doc/formats/manifest.md.
package manifest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"sheaf/index/vfs"
)

const (
	magic = "SHEAFMAN"
	// Version is the version of the manifest's own format. The payload has its own version.
	Version = 1

	// Name is the name of the manifest file.
	Name      = "MANIFEST"
	temporary = Name + TemporarySuffix
	// TemporarySuffix ends the name of every file that is not complete yet.
	TemporarySuffix = ".tmp"

	headerBytes = 40
	maxFiles    = 1 << 20
	maxBytes    = 1 << 28
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Manifest is one generation of a folder.
type Manifest struct {
	// Generation is the number of the generation, at least 1. The number grows with every publication.
	Generation uint64
	// Files are the names of the generation's files, inside the folder.
	Files []string
	// Payload is data for the caller, which this package does not read.
	Payload []byte
}

// Read returns the current generation of a folder. If the folder has none, Read fails with fs.ErrNotExist. It fails
// with vfs.ErrCorrupt for a damaged manifest, and with vfs.ErrVersion for another format.
func Read(fsys vfs.FS, dir string) (Manifest, error) {
	path := filepath.Join(dir, Name)
	f, err := fsys.Open(path)
	if err != nil {
		return Manifest{}, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return Manifest{}, err
	}
	m, err := decode(data)
	if err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", Name, err)
	}
	return m, nil
}

// decode reads a manifest. It has these parts, with little-endian numbers:
//   - the magic (8 bytes), the version (4), the number of files (4) and the generation (8)
//   - the length of all names (8) and the length of the payload (8)
//   - the names, each with a zero byte
//   - the payload
//   - the CRC-32C of all bytes above (4)
func decode(data []byte) (Manifest, error) {
	le := binary.LittleEndian
	if len(data) < headerBytes+4 || len(data) > maxBytes || string(data[:len(magic)]) != magic {
		return Manifest{}, fmt.Errorf("%w: at byte 0: %d bytes that are not a manifest", vfs.ErrCorrupt, len(data))
	}
	body := data[:len(data)-4]
	if got, want := crc32.Checksum(body, castagnoli), le.Uint32(data[len(body):]); got != want {
		return Manifest{}, fmt.Errorf("%w: at byte %d: checksum is %08x, its bytes have %08x", vfs.ErrCorrupt, len(body),
			want, got)
	}
	if v := le.Uint32(data[8:]); v != Version {
		return Manifest{}, fmt.Errorf("%w %d, this program reads %d", vfs.ErrVersion, v, Version)
	}
	count, names, payload := le.Uint32(data[12:]), le.Uint64(data[24:]), le.Uint64(data[32:])
	rest := body[headerBytes:]
	if count > maxFiles || names > uint64(len(rest)) || payload != uint64(len(rest))-names {
		return Manifest{}, fmt.Errorf("%w: at byte 12: %d files, %d bytes of names, %d of payload in %d bytes",
			vfs.ErrCorrupt, count, names, payload, len(data))
	}
	m := Manifest{Generation: le.Uint64(data[16:]), Payload: rest[names:]}
	list := string(rest[:names])
	for i := range count {
		name, after, ok := strings.Cut(list, "\x00")
		if !ok || !valid(name) {
			return Manifest{}, fmt.Errorf("%w: at byte %d: name %d of %d", vfs.ErrCorrupt, headerBytes, i, count)
		}
		m.Files = append(m.Files, name)
		list = after
	}
	if list != "" {
		return Manifest{}, fmt.Errorf("%w: at byte %d: more names than files", vfs.ErrCorrupt, headerBytes)
	}
	return m, nil
}

// valid reports whether a name leads to a file inside the folder.
func valid(name string) bool {
	return name != "" && name != "." && name != ".." && name != Name && !strings.ContainsAny(name, "/\\\x00")
}

func encode(m Manifest) []byte {
	le := binary.LittleEndian
	names := 0
	for _, name := range m.Files {
		names += len(name) + 1
	}
	b := append(make([]byte, 0, headerBytes+names+len(m.Payload)+4), magic...)
	b = le.AppendUint32(b, Version)
	b = le.AppendUint32(b, uint32(len(m.Files)))
	b = le.AppendUint64(b, m.Generation)
	b = le.AppendUint64(b, uint64(names))
	b = le.AppendUint64(b, uint64(len(m.Payload)))
	for _, name := range m.Files {
		b = append(append(b, name...), 0)
	}
	b = append(b, m.Payload...)
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// Publish makes m the current generation of the folder, durably. The caller must have written and synced the files that
// m names. Publish first makes their entries in the folder durable. Only the holder of the folder's lock may publish.
func Publish(fsys vfs.FS, dir string, m Manifest) error {
	for _, name := range m.Files {
		if !valid(name) {
			return fmt.Errorf("publish %s: file name %q", dir, name)
		}
	}
	if err := fsys.SyncDir(dir); err != nil {
		return err
	}
	path := filepath.Join(dir, temporary)
	if err := write(fsys, path, encode(m)); err != nil {
		return errors.Join(err, fsys.Remove(path))
	}
	if err := fsys.Rename(path, filepath.Join(dir, Name)); err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}

func write(fsys vfs.FS, path string, data []byte) error {
	f, err := fsys.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Open reads the current generation and passes it to open, which opens its files. It returns the result of open and the
// generation. If a file is gone because the writer has published a newer generation meanwhile, Open tries again. If a
// file of the current generation is missing, the error wraps vfs.ErrCorrupt. If the folder has no generation, the error
// wraps fs.ErrNotExist.
func Open[T any](fsys vfs.FS, dir string, open func(Manifest) (T, error)) (T, Manifest, error) {
	var none T
	m, err := Read(fsys, dir)
	if err != nil {
		return none, m, err
	}
	for {
		opened, err := open(m)
		if err == nil {
			return opened, m, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return none, m, err
		}
		newer, readErr := Read(fsys, dir)
		if readErr != nil {
			return none, m, readErr
		}
		if newer.Generation == m.Generation {
			return none, m, fmt.Errorf("%s: %w: generation %d names a file that is gone: %v", Name, vfs.ErrCorrupt,
				m.Generation, err)
		}
		m = newer
	}
}

// Sweep removes temporary files. It also removes the files that belong to the writer and are missing in m. owned
// reports whether a file with this name belongs to the writer. On Windows, a file that a reader has open stays for the
// next Sweep.
func Sweep(fsys vfs.FS, dir string, m Manifest, owned func(name string) bool) error {
	names, err := fsys.List(dir)
	if err != nil {
		return err
	}
	current := make(map[string]bool, len(m.Files))
	for _, name := range m.Files {
		current[name] = true
	}
	for _, name := range names {
		if name != Name && !current[name] && (strings.HasSuffix(name, TemporarySuffix) || owned(name)) {
			_ = fsys.Remove(filepath.Join(dir, name)) // the next Sweep tries again
		}
	}
	return nil
}
