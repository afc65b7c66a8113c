package sectionfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"sheaf/vfs"
	"sheaf/vfs/sectionfile"
)

// pages writes a file with one paged section to memory and returns its bytes.
func pages(t testing.TB, data []byte) []byte {
	t.Helper()
	mem := vfs.NewMem()
	w, err := sectionfile.Create(mem, "/f", "example", 7)
	if err != nil {
		t.Fatal(err)
	}
	w.Paged("numbers", data)
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	m, err := mem.Map("/f")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(m.Bytes())
}

func openBytes(t testing.TB, file []byte) (*sectionfile.Reader, error) {
	t.Helper()
	mem := vfs.NewMem()
	f, err := mem.Create("/f")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(file); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return sectionfile.Open(mem, "/f", "example", 7)
}

func random(n int) []byte {
	data, r := make([]byte, n), rand.New(rand.NewPCG(uint64(n), 1))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

// TestPaged: slices of sections of all sizes are the bytes that were written, and
// what does not lie in the section is a fault.
func TestPaged(t *testing.T) {
	const page = 16 << 10
	for _, size := range []int{0, 1, page - 1, page, page + 1, 3*page + 5, 70 * page} {
		data := random(size)
		r, err := openBytes(t, pages(t, data))
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Paged("numbers")
		if err != nil || p.Len() != size {
			t.Fatalf("%d bytes: %v", size, err)
		}
		rng := rand.New(rand.NewPCG(1, uint64(size)))
		for range 100 {
			from := rng.IntN(size + 1)
			n := rng.IntN(size - from + 1)
			if got, err := p.Slice(from, n); err != nil || !bytes.Equal(got, data[from:from+n]) {
				t.Fatalf("%d bytes at %d of %d: %v", n, from, size, err)
			}
		}
		for _, bad := range [][2]int{{-1, 1}, {0, -1}, {0, size + 1}, {size, 1}, {size + 1, 0}, {math.MaxInt, math.MaxInt}} {
			if _, err := p.Slice(bad[0], bad[1]); !errors.Is(err, sectionfile.ErrCorrupt) {
				t.Errorf("%d bytes at %d of %d: %v", bad[1], bad[0], size, err)
			}
		}
		if faults := r.Check(); len(faults) > 0 {
			t.Error(faults)
		}
	}
	r, err := openBytes(t, pages(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Paged("others"); !errors.Is(err, sectionfile.ErrCorrupt) {
		t.Errorf("a section that is not there: %v", err)
	}
}

// TestPagedFlips: a flipped byte is told, with the page it lies in, by everything
// that reads the page, and by nothing that does not.
func TestPagedFlips(t *testing.T) {
	const page, size = 16 << 10, 5*(16<<10) + 100
	data := random(size)
	file := pages(t, data)
	start := bytes.Index(file, data)
	for _, at := range []int{0, page - 1, page, 3*page + 7, size - 1} {
		flipped := bytes.Clone(file)
		flipped[start+at] ^= 4
		r, err := openBytes(t, flipped)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Paged("numbers")
		if err != nil {
			t.Fatal(err)
		}
		for from := 0; from < size; from += page {
			_, err := p.Slice(from, min(page, size-from))
			if bad := at/page == from/page; bad != errors.Is(err, sectionfile.ErrCorrupt) {
				t.Errorf("byte %d flipped, page from %d: %v", at, from, err)
			} else if bad && !strings.Contains(err.Error(), fmt.Sprintf(`section "numbers" at byte %d:`, start+from)) {
				t.Errorf("byte %d flipped: %v", at, err)
			}
		}
		if _, err := p.All(); !errors.Is(err, sectionfile.ErrCorrupt) {
			t.Errorf("byte %d flipped, all of it: %v", at, err)
		}
	}
	for at := start + size; at < len(file); at++ { // checksums of pages, table, footer
		flipped := bytes.Clone(file)
		flipped[at] ^= 4
		r, err := openBytes(t, flipped)
		if err == nil {
			if _, err = r.Paged("numbers"); err == nil && len(r.Check()) == 0 {
				t.Errorf("byte %d flipped: nobody noticed", at)
			}
		}
		if err != nil && !errors.Is(err, sectionfile.ErrCorrupt) {
			t.Errorf("byte %d flipped: %v", at, err)
		}
	}
}

// FuzzPaged: whatever the bytes, reading the paged sections of a file ends,
// with the bytes of the file or with an error.
func FuzzPaged(f *testing.F) {
	f.Add(pages(f, []byte("hello")))
	f.Add(pages(f, random(40_000)))
	f.Add([]byte("SHEAFSEC"))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := openBytes(t, file)
		if err != nil {
			if !errors.Is(err, sectionfile.ErrCorrupt) && !errors.Is(err, sectionfile.ErrVersion) {
				t.Fatal(err)
			}
			return
		}
		defer r.Close()
		for _, name := range r.Names() {
			data, ok := r.Section(name)
			if !ok {
				t.Fatalf("section %q is not there", name)
			}
			if p, err := r.Paged(name); err == nil {
				if all, err := p.All(); err == nil && !bytes.Equal(all, data) {
					t.Fatalf("section %q: %d bytes, not %d", name, len(all), len(data))
				}
			}
		}
		r.Check()
	})
}
