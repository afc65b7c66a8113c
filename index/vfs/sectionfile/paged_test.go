package sectionfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"sheaf/index/vfs"
	"sheaf/index/vfs/sectionfile"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

const (
	page    = 2 << 10
	perPage = page / 4 // checksums
)

// pages writes a file with one paged section to memory and returns its bytes.
func pages(t testing.TB, data []byte) []byte {
	t.Helper()
	mem := vfs.NewMem()
	w := must.Get(sectionfile.Create(mem, "/f", "example", 7))
	w.Section("numbers", data)
	must.Do(t, must.Err(w.Close()))
	m := must.Get(mem.Map("/f"))
	return bytes.Clone(m.Bytes())
}

func openBytes(t testing.TB, file []byte) (*sectionfile.Reader, error) {
	t.Helper()
	mem := vfs.NewMem()
	f := must.Get(mem.Create("/f"))
	must.Do(t, must.Err(f.Write(file)))
	must.Do(t, f.Close())
	return sectionfile.Open(mem, "/f", "example", 7)
}

func random(n int) []byte {
	data, r := make([]byte, n), rand.New(rand.NewPCG(uint64(n), 1))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

// TestPaged checks that slices of sections of all sizes return the written bytes, and faults outside the section.
func TestPaged(t *testing.T) {
	for _, size := range []int{0, 1, page - 1, page, page + 1, 3*page + 5, 70 * page, perPage * page, perPage*page + 1,
		2*perPage*page + 3*page + 7} {
		data := random(size)
		r := must.Get(openBytes(t, pages(t, data)))
		p, err := r.Paged("numbers")
		must.That(t, err == nil && p.Len() == size, "%d bytes: %v", size, err)
		rng := rand.New(rand.NewPCG(1, uint64(size)))
		for range 100 {
			from := rng.IntN(size + 1)
			n := rng.IntN(size - from + 1)
			got, err := p.Slice(from, n)
			must.That(t, err == nil && bytes.Equal(got, data[from:from+n]), "%d bytes at %d of %d: %v", n, from, size, err)
		}
		for _, bad := range [][2]int{{-1, 1}, {0, -1}, {0, size + 1}, {size, 1}, {size + 1, 0}, {math.MaxInt, math.MaxInt}} {
			check.Is(t, must.Err(p.Slice(bad[0], bad[1])), vfs.ErrCorrupt, "%d bytes at %d of %d", bad[1], bad[0], size)
		}
		faults := r.Check()
		check.That(t, len(faults) == 0, "%v", faults)
	}
	r := must.Get(openBytes(t, pages(t, nil)))
	check.Is(t, must.Err(r.Paged("others")), vfs.ErrCorrupt, "a section that is not there")
}

// TestPagedFlips checks that each reader of a page with a flipped byte reports it, and no other reader. A flip in a
// list of checksums is reported by each reader of a page that the checksum covers.
func TestPagedFlips(t *testing.T) {
	const size = 2*perPage*page + 100
	const list, above = size, size + 4*(2*perPage+1) // start of the lists of checksums
	const end = above + 4*3
	data := random(size)
	file := pages(t, data)
	start := bytes.Index(file, data)
	for _, flip := range []struct {
		at         int
		from, to   int // the unreadable pages
		place, why string
	}{
		{0, 0, 1, fmt.Sprint(start), "checksum is"},
		{page - 1, 0, 1, fmt.Sprint(start), "checksum is"},
		{page, 1, 2, fmt.Sprint(start + page), "checksum is"},
		{3*page + 7, 3, 4, fmt.Sprint(start + 3*page), "checksum is"},
		{size - 1, 2 * perPage, 2*perPage + 1, fmt.Sprint(start + size - 100), "checksum is"},
		{list, 0, perPage, fmt.Sprint(start + list), "checksums of pages: checksum is"},
		{list + page + 9, perPage, 2 * perPage, fmt.Sprint(start + list + page), "checksums of pages: checksum is"},
		{above - 1, 2 * perPage, 2*perPage + 1, fmt.Sprint(start + list + 2*page), "checksums of pages: checksum is"},
		{above, 0, 2*perPage + 1, fmt.Sprint(start + above), "checksums of pages: checksum is"},
		{end - 1, 0, 2*perPage + 1, fmt.Sprint(start + above), "checksums of pages: checksum is"},
	} {
		flipped := bytes.Clone(file)
		flipped[start+flip.at] ^= 4
		r := must.Get(openBytes(t, flipped))
		p := must.Get(r.Paged("numbers"))
		want := fmt.Sprintf(`section "numbers" at byte %s: %s`, flip.place, flip.why)
		for i := 0; i*page < size; i++ {
			_, err := p.Slice(i*page, min(page, size-i*page))
			if bad := flip.from <= i && i < flip.to; bad != errors.Is(err, vfs.ErrCorrupt) {
				t.Errorf("byte %d flipped, page %d: %v", flip.at, i, err)
			} else if bad && !strings.Contains(err.Error(), want) {
				t.Errorf("byte %d flipped: %v, want %s", flip.at, err, want)
			}
		}
		check.Is(t, must.Err(p.All()), vfs.ErrCorrupt, "byte %d flipped, all of it", flip.at)
		check.Equal(t, p.Records([]uint32{0, perPage, 2*perPage - 1}, page) != nil, flip.at < page ||
			flip.at >= list && flip.at != above-1, "byte %d flipped, some records", flip.at)
	}
	for at := start + list; at < len(file); at++ { // checksums of pages, table, footer
		if at < start+above-64 && at%211 > 0 {
			continue
		}
		flipped := bytes.Clone(file)
		flipped[at] ^= 4
		r, err := openBytes(t, flipped)
		if err == nil {
			_, err = r.Paged("numbers")
			check.That(t, err != nil || len(r.Check()) != 0, "byte %d flipped: Check found no fault", at)
		}
		check.That(t, err == nil || errors.Is(err, vfs.ErrCorrupt), "byte %d flipped: %v", at, err)
	}
}

// without returns the file of pages with n bytes removed before the table. All checksums that opening verifies are
// valid.
func without(t testing.TB, data []byte, n int) []byte {
	t.Helper()
	le := binary.LittleEndian
	file := pages(t, data)
	table := int(le.Uint64(file[len(file)-32:]))
	file = append(file[:table-n:table-n], file[table:]...)
	table -= n
	footer := file[len(file)-32:]
	le.PutUint64(footer, uint64(table))
	le.PutUint32(footer[12:], sectionfile.Checksum(file[table:len(file)-32]))
	le.PutUint32(footer[28:], sectionfile.Checksum(footer[:28]))
	return file
}

// TestChecksumListsWithinFile checks a section without space for its lists of checksums before the table.
// Open must refuse it, before a reader looks for them past its end.
func TestChecksumListsWithinFile(t *testing.T) {
	const n = 70 // pages; their list is longer than the table and the footer
	data := random(n * page)
	for _, cut := range []int{0, 1, 4, 4*n - 1, 4 * n} {
		r, err := openBytes(t, without(t, data, cut))
		switch {
		case cut == 0 && err != nil:
			t.Error(err)
		case cut > 0 && (!errors.Is(err, vfs.ErrCorrupt) || !strings.Contains(err.Error(), "the file has no")):
			t.Errorf("%d bytes short: %v", cut, err)
		}
		if err == nil {
			r.Check()
		}
	}
}

// TestRecords checks that records inside the section are valid, before and after reading it, and others are faults.
func TestRecords(t *testing.T) {
	r := must.Get(openBytes(t, pages(t, random(100*page))))
	p := must.Get(r.Paged("numbers"))
	for range 2 {
		for _, size := range []int{1, 300, page, 3*page + 1} {
			last := uint32(100*page/size) - 1
			check.NoError(t, p.Records([]uint32{0, 1, last / 2, last}, size), "records of %d bytes", size)
			check.Is(t, p.Records([]uint32{0, last + 1}, size), vfs.ErrCorrupt, "record %d of %d bytes", last+1, size)
		}
		must.Do(t, must.Err(p.All()))
	}
}

// FuzzPaged checks that reading the paged sections of any bytes ends with these bytes or an error.
func FuzzPaged(f *testing.F) {
	f.Add(pages(f, []byte("hello")))
	f.Add(pages(f, random(40_000)))
	f.Add([]byte("SHEAFSEC"))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := openBytes(t, file)
		if err != nil {
			must.That(t, errors.Is(err, vfs.ErrCorrupt) || errors.Is(err, vfs.ErrVersion), "%v", err)
			return
		}
		defer r.Close()
		for _, name := range r.Names() {
			data, ok := r.Section(name)
			must.That(t, ok, "section %q is not there", name)
			if p, err := r.Paged(name); err == nil {
				all, err := p.All()
				must.That(t, err != nil || bytes.Equal(all, data), "section %q: %d bytes, not %d", name, len(all), len(data))
			}
		}
		r.Check()
	})
}
