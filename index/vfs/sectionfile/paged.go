package sectionfile

import (
	"encoding/binary"
	"sync/atomic"
)

const (
	// pageBytes is the number of bytes for one checksum. A section may have hundreds of megabytes, and neither opening
	// nor a search should read all of it. So a reader verifies a page when it first uses the page. A search reads
	// scattered data and must verify each page that it touches, so a page is small.
	pageBytes = 2 << 10
	sumBytes  = 4
	// fanOut is the number of checksums that one page holds.
	fanOut = pageBytes / sumBytes
)

func pages(n int) int { return (n + pageBytes - 1) / pageBytes }

// eachList calls f with the length of each list of checksums that follows a section of n bytes. The first list has the
// checksums of the section's pages. If a list is longer than a page, another list with the checksums of its pages
// follows. A section of one page has no list.
func eachList(n int, f func(length int)) {
	for n > pageBytes {
		n = sumBytes * pages(n)
		f(n)
	}
}

// listBytes returns the total length of the lists of checksums that follow a section of n bytes.
func listBytes(n int) int {
	sum := 0
	eachList(n, func(length int) { sum += length })
	return sum
}

// Paged is a section that verifies each page when the page is first used. So a search in a large section reads little
// and uses only verified bytes. A Paged is safe for concurrent use.
type Paged struct {
	r     *Reader
	entry entry
	level         // the section itself
	lists []level // lists of checksums: of the section, then of the list before
	left  atomic.Int64
}

// level is a part of the file that is verified page by page: a section or a list of checksums.
type level struct {
	data   []byte
	offset int             // in the file
	done   []atomic.Uint64 // one bit for each verified page
}

func (r *Reader) levelAt(offset, length int) level {
	return level{r.data[offset : offset+length : offset+length], offset, make([]atomic.Uint64, (pages(length)+63)/64)}
}

// Paged opens a section without reading it. Its errors wrap vfs.ErrCorrupt.
func (r *Reader) Paged(name string) (*Paged, error) {
	if e := r.entry(name); e != nil {
		return r.pagedSection(*e), nil
	}
	return nil, r.corrupt(name, 0, "the section is missing")
}

func (r *Reader) pagedSection(e entry) *Paged {
	at, length := int(e.offset), int(e.length)
	p := &Paged{r: r, entry: e, level: r.levelAt(at, length)}
	p.left.Store(int64(pages(length)))
	at += length
	eachList(length, func(length int) {
		p.lists = append(p.lists, r.levelAt(at, length))
		at += length
	})
	return p
}

// Len returns the length of the section in bytes.
func (p *Paged) Len() int { return len(p.data) }

// Bytes returns the bytes of the section without verifying them. The slice is in the mapped file and valid until Close
// of the reader. Callers must verify the bytes that they use, with Slice, Records or All.
func (p *Paged) Bytes() []byte { return p.data }

// Slice returns n bytes from offset on and verifies them. The slice is in the mapped file and valid until Close of the
// reader. Slice fails with vfs.ErrCorrupt if the bytes are damaged or outside the section.
func (p *Paged) Slice(offset, n int) ([]byte, error) {
	if offset < 0 || n < 0 || n > len(p.data)-offset {
		return nil, p.Corrupt(min(max(offset, 0), len(p.data)), "%d bytes at %d of a section of %d", n, offset, len(p.data))
	}
	if n == 0 {
		return nil, nil
	}
	for i, last := offset/pageBytes, (offset+n-1)/pageBytes; i <= last; i++ {
		if p.done[i>>6].Load()&(1<<(i&63)) == 0 {
			if err := p.verify(i); err != nil {
				return nil, err
			}
		}
	}
	return p.data[offset : offset+n : offset+n], nil
}

// Records verifies the records with these numbers. Each record has size bytes. The caller must pass rising numbers.
// Records fails with vfs.ErrCorrupt if a record is damaged or outside the section.
func (p *Paged) Records(numbers []uint32, size int) error {
	if n := len(numbers); n > 0 && p.left.Load() == 0 && (int(numbers[n-1])+1)*size <= len(p.data) {
		return nil
	}
	for _, n := range numbers {
		if _, err := p.Slice(int(n)*size, size); err != nil {
			return err
		}
	}
	return nil
}

// All verifies and returns the whole section.
func (p *Paged) All() ([]byte, error) { return p.Slice(0, len(p.data)) }

// verify compares page i of the section with its checksum, and marks it as verified. It fails with vfs.ErrCorrupt if
// they differ.
func (p *Paged) verify(i int) error {
	want, err := p.sum(0, i)
	if err == nil {
		err = p.verifyPage(&p.level, i, want, "")
	}
	if err != nil {
		return err
	}
	if bit := uint64(1) << (i & 63); p.done[i>>6].Or(bit)&bit == 0 {
		p.left.Add(-1)
	}
	return nil
}

// sum returns checksum number i of the list with the number list. It first verifies the page with the checksum, by a
// checksum of the next list. If list is len(p.lists), sum returns the section's checksum in the table of contents.
func (p *Paged) sum(list, i int) (uint32, error) {
	if list == len(p.lists) {
		return p.entry.checksum, nil
	}
	l := &p.lists[list]
	if page := i / fanOut; l.done[page>>6].Load()&(1<<(page&63)) == 0 {
		want, err := p.sum(list+1, page)
		if err == nil {
			err = p.verifyPage(l, page, want, "checksums of pages: ")
		}
		if err != nil {
			return 0, err
		}
		l.done[page>>6].Or(1 << (page & 63))
	}
	return binary.LittleEndian.Uint32(l.data[sumBytes*i:]), nil
}

func (p *Paged) verifyPage(l *level, i int, want uint32, what string) error {
	from := i * pageBytes
	if err := Verify(l.data[from:min(from+pageBytes, len(l.data))], want); err != nil {
		return p.r.corrupt(p.entry.name, l.offset+from, "%s%v", what, err)
	}
	return nil
}

// Corrupt returns an error that wraps vfs.ErrCorrupt. It names the file, this section, the offset in it, and the fault.
func (p *Paged) Corrupt(offset int, format string, args ...any) error {
	return p.r.corrupt(p.entry.name, p.offset+offset, format, args...)
}
