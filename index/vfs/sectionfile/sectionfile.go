// Package sectionfile reads and writes the container of all files that are written only once. Such a file has named
// sections, a checksum for each page, and a table of contents at the end. It is written from front to back. Opening
// reads only the table of contents, even of a large file. A section is a slice of the mapped file, and its pages are
// verified at first use.
//
// The format is documented in doc/formats/sectionfile.md.
package sectionfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"path/filepath"

	"sheaf/index/vfs"
)

const (
	magic = "SHEAFSEC"
	// Version is the version of the container's format.
	Version = 2

	headerBytes = 64
	alignment   = 64
	footerBytes = 32
	entryBytes  = 24 // offset 8, length 8, checksum 4, length of the name 4
	maxSections = 1 << 16
	maxName     = 255
	kindBytes   = 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the checksum of data as section files use it: CRC-32C.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Verify compares mapped bytes with their checksum. The error says what differs, or wraps vfs.ErrFault if b is
// unreadable.
func Verify(b []byte, want uint32) error {
	var got uint32
	if err := vfs.Safely(func() { got = Checksum(b) }); err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("checksum is %08x, its %d bytes have %08x", want, len(b), got)
	}
	return nil
}

type entry struct {
	name     string
	offset   uint64
	length   uint64
	checksum uint32 // the checksum of the section, or of the last list after it
}

// Reader is an open section file. It is safe for concurrent use, and its slices are valid, until Close.
type Reader struct {
	path    string
	mapping vfs.Mapping
	data    []byte
	entries []entry
}

// Open maps a file and reads its table of contents. kind names the wanted kind of content, in at most 16 bytes of
// ASCII. If the file is damaged or has another kind, Open fails with vfs.ErrCorrupt. If the container or the content
// has another version, Open fails with vfs.ErrVersion.
func Open(fs vfs.FS, path, kind string, version uint32) (*Reader, error) {
	mapping, err := fs.Map(path)
	if err != nil {
		return nil, err
	}
	r := &Reader{path: path, mapping: mapping, data: mapping.Bytes()}
	fault := vfs.Safely(func() { err = r.open(kind, version) })
	if fault != nil {
		err = r.corrupt("header", 0, "%v", fault)
	}
	if err != nil {
		return nil, errors.Join(err, mapping.Close())
	}
	return r, nil
}

func (r *Reader) open(kind string, version uint32) error {
	data := r.data
	if len(data) < headerBytes+footerBytes {
		return r.corrupt("header", 0, "the file has %d bytes, at least %d are needed", len(data), headerBytes+footerBytes)
	}
	if string(data[:len(magic)]) != magic {
		return r.corrupt("header", 0, "it does not begin with %q", magic)
	}
	le := binary.LittleEndian
	if got, want := Checksum(data[:headerBytes-4]), le.Uint32(data[headerBytes-4:]); got != want {
		return r.corrupt("header", 0, "checksum is %08x, its bytes have %08x", want, got)
	}
	if container := le.Uint32(data[8:]); container != Version {
		return fmt.Errorf("%s: container %w %d, this program reads %d", filepath.Base(r.path), vfs.ErrVersion, container,
			Version)
	}
	if k := string(trimZeros(data[16 : 16+kindBytes])); k != kind {
		return r.corrupt("header", 16, "it holds %q, not %q", k, kind)
	}
	if content := le.Uint32(data[12:]); content != version {
		return fmt.Errorf("%s: %s %w %d, this program reads %d", filepath.Base(r.path), kind, vfs.ErrVersion, content,
			version)
	}
	footer := data[len(data)-footerBytes:]
	if got, want := Checksum(footer[:footerBytes-4]), le.Uint32(footer[footerBytes-4:]); got != want ||
		string(footer[20:28]) != magic {
		return r.corrupt("footer", len(data)-footerBytes, "the file is cut short or damaged at its end")
	}
	start, count := le.Uint64(footer), le.Uint32(footer[8:])
	if start < headerBytes || start > uint64(len(data)-footerBytes) || count > maxSections {
		return r.corrupt("footer", len(data)-footerBytes, "table of %d sections at %d", count, start)
	}
	table := data[start : len(data)-footerBytes]
	if got, want := Checksum(table), le.Uint32(footer[12:]); got != want {
		return r.corrupt("table of contents", int(start), "checksum is %08x, its bytes have %08x", want, got)
	}
	return r.readTable(table, int(start), int(count))
}

func (r *Reader) readTable(table []byte, start, count int) error {
	le := binary.LittleEndian
	r.entries = make([]entry, 0, min(count, len(table)/entryBytes))
	pos := 0
	for i := range count {
		if len(table)-pos < entryBytes {
			return r.corrupt("table of contents", start+pos, "it ends within entry %d of %d", i, count)
		}
		e := entry{offset: le.Uint64(table[pos:]), length: le.Uint64(table[pos+8:]), checksum: le.Uint32(table[pos+16:])}
		name := int(le.Uint32(table[pos+20:]))
		pos += entryBytes
		if name > maxName || name > len(table)-pos {
			return r.corrupt("table of contents", start+pos, "the name of entry %d has %d bytes", i, name)
		}
		e.name = string(table[pos : pos+name])
		pos += name
		if e.offset < headerBytes || e.offset%alignment != 0 || e.offset > uint64(start) ||
			e.length > uint64(start)-e.offset || e.end() > uint64(start) {
			return r.corrupt(e.name, int(min(e.offset, math.MaxInt32)), "the file has no %d bytes at %d", e.length,
				e.offset)
		}
		r.entries = append(r.entries, e)
	}
	if pos != len(table) {
		return r.corrupt("table of contents", start+pos, "%d bytes too many", len(table)-pos)
	}
	return nil
}

// end returns the offset at which a section and its lists of checksums end.
func (e *entry) end() uint64 { return e.offset + e.length + uint64(listBytes(int(e.length))) }

func trimZeros(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return b
}

// Section returns the bytes of a section without verifying them (see Paged). ok is false if the file has no such
// section. The address of the bytes is a multiple of 64. The caller must not change the bytes or use them after Close.
func (r *Reader) Section(name string) (data []byte, ok bool) {
	if e := r.entry(name); e != nil {
		return r.data[e.offset : e.offset+e.length : e.offset+e.length], true
	}
	return nil, false
}

func (r *Reader) entry(name string) *entry {
	for i := range r.entries {
		if r.entries[i].name == name {
			return &r.entries[i]
		}
	}
	return nil
}

// Check verifies every section, and verifies that all bytes between sections are zeros. It returns one error for each
// section with a fault and for each fault between sections. Each error wraps vfs.ErrCorrupt.
func (r *Reader) Check() []error {
	var faults []error
	end := uint64(headerBytes)
	for _, e := range r.entries {
		if _, err := r.pagedSection(e).All(); err != nil {
			faults = append(faults, err)
		}
		if e.offset < end {
			faults = append(faults, r.corrupt(e.name, int(e.offset), "it overlaps the section before"))
			continue
		}
		between := end
		fault := vfs.Safely(func() {
			for between < e.offset && r.data[between] == 0 {
				between++
			}
		})
		switch {
		case fault != nil:
			faults = append(faults, r.corrupt(e.name, int(between), "%v", fault))
		case between < e.offset:
			faults = append(faults, r.corrupt(e.name, int(between), "the space before it is not empty"))
		}
		end = e.end()
	}
	return faults
}

// Corrupt returns an error that wraps vfs.ErrCorrupt. It names this file, the section, the offset in it, and the fault.
func (r *Reader) Corrupt(section string, offset int, format string, args ...any) error {
	if e := r.entry(section); e != nil {
		offset += int(e.offset)
	}
	return r.corrupt(section, offset, format, args...)
}

func (r *Reader) corrupt(section string, offset int, format string, args ...any) error {
	return fmt.Errorf("%s: %w: section %q at byte %d: %s", filepath.Base(r.path), vfs.ErrCorrupt, section, offset,
		fmt.Sprintf(format, args...))
}

// Names returns the names of the sections in the order of writing.
func (r *Reader) Names() []string {
	names := make([]string, len(r.entries))
	for i, e := range r.entries {
		names[i] = e.name
	}
	return names
}

// Size returns the size of the file in bytes.
func (r *Reader) Size() int64 { return int64(len(r.data)) }

// Close unmaps the file.
func (r *Reader) Close() error {
	r.data, r.entries = nil, nil
	return r.mapping.Close()
}
