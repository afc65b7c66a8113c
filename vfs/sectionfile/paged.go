package sectionfile

import (
	"encoding/binary"
	"sync/atomic"
)

// pageBytes is the number of bytes under one checksum of a paged section.
const pageBytes = 16 << 10

// sumsSuffix ends the name of the section with the checksums of another's pages.
const sumsSuffix = ".sums"

// Paged writes a section that readers verify page by page: beside it stands a
// section with a checksum for each 16 KiB of it. A section of one page needs
// none, since it has its own.
func (w *Writer) Paged(name string, data []byte) {
	w.Section(name, data)
	if len(data) <= pageBytes {
		return
	}
	var sums []byte
	for from := 0; from < len(data); from += pageBytes {
		sums = binary.LittleEndian.AppendUint32(sums, Checksum(data[from:min(from+pageBytes, len(data))]))
	}
	w.Section(name+sumsSuffix, sums)
}

// Paged is a section of which every page is verified when it is first used, so
// that a search in a large section reads little of it and trusts none of it
// blindly. It is safe for concurrent use.
type Paged struct {
	r     *Reader
	entry entry
	data  []byte
	sums  []byte          // CRC-32C of each page; nil when there is one page
	done  []atomic.Uint64 // one bit a page: verified
}

// Paged opens a section that Writer.Paged wrote. The error wraps ErrCorrupt.
func (r *Reader) Paged(name string) (*Paged, error) {
	data, ok := r.Section(name)
	if !ok {
		return nil, r.corrupt(name, 0, "the section is missing")
	}
	p := &Paged{r: r, data: data, done: make([]atomic.Uint64, (len(data)+64*pageBytes-1)/(64*pageBytes))}
	for _, e := range r.entries {
		if e.name == name {
			p.entry = e
		}
	}
	if len(data) <= pageBytes {
		return p, nil
	}
	sums := name + sumsSuffix
	if err := r.Verify(sums); err != nil {
		return nil, err
	}
	p.sums, _ = r.Section(sums)
	if want := 4 * ((len(data) + pageBytes - 1) / pageBytes); len(p.sums) != want {
		return nil, r.Corrupt(sums, 0, "it has %d bytes, not %d", len(p.sums), want)
	}
	return p, nil
}

// Len is the number of bytes of the section.
func (p *Paged) Len() int { return len(p.data) }

// Slice returns n bytes from offset on, verified: the mapped bytes themselves,
// valid until the reader is closed. The error wraps ErrCorrupt; a range that does
// not lie in the section is one.
func (p *Paged) Slice(offset, n int) ([]byte, error) {
	if offset < 0 || n < 0 || n > len(p.data)-offset {
		return nil, p.Corrupt(min(max(offset, 0), len(p.data)), "%d bytes at %d of a section of %d", n, offset, len(p.data))
	}
	if n == 0 {
		return nil, nil
	}
	for i := offset / pageBytes; i <= (offset+n-1)/pageBytes; i++ {
		if p.done[i>>6].Load()&(1<<(i&63)) == 0 {
			if err := p.verify(i); err != nil {
				return nil, err
			}
		}
	}
	return p.data[offset : offset+n : offset+n], nil
}

// All returns the whole section, verified.
func (p *Paged) All() ([]byte, error) { return p.Slice(0, len(p.data)) }

func (p *Paged) verify(i int) error {
	page := p.data[i*pageBytes : min((i+1)*pageBytes, len(p.data))]
	want := p.entry.checksum
	if p.sums != nil {
		want = binary.LittleEndian.Uint32(p.sums[4*i:])
	}
	if err := Verify(page, want); err != nil {
		return p.Corrupt(i*pageBytes, "%v", err)
	}
	p.done[i>>6].Or(1 << (i & 63))
	return nil
}

// Corrupt returns an error that wraps ErrCorrupt and names the file, this
// section, the offset within it, and what is wrong.
func (p *Paged) Corrupt(offset int, format string, args ...any) error {
	return p.r.corrupt(p.entry.name, int(p.entry.offset)+offset, format, args...)
}
