package segment

import (
	"encoding/binary"
	"hash/crc32"
	"sync/atomic"

	"sheaf/vfs/sectionfile"
)

// granule is the number of bytes under one checksum. Sections are verified
// piece by piece, when a piece is first used: a whole section may have hundreds
// of megabytes, and opening must not read it. Survivors of a scan for vectors lie
// far apart, so a piece is small: each costs a short query its verification.
const granule = 2 << 10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// guarded is a section that is verified as it is used. Safe for concurrent use.
type guarded struct {
	name string
	data []byte
	sums []byte          // CRC-32C of each granule, 4 bytes
	done []atomic.Uint64 // one bit a granule: verified
	left atomic.Int64    // granules that are not verified yet
	file *sectionfile.Reader
}

func guard(file *sectionfile.Reader, name string, data, sums []byte) *guarded {
	n := (len(data) + granule - 1) / granule
	g := &guarded{name: name, data: data, sums: sums, done: make([]atomic.Uint64, (n+63)/64), file: file}
	g.left.Store(int64(n))
	return g
}

// slice returns n bytes from offset on, verified.
func (g *guarded) slice(offset, n int) ([]byte, error) {
	if offset < 0 || n < 0 || n > len(g.data)-offset {
		return nil, g.corrupt(min(max(offset, 0), len(g.data)), "%d bytes at %d of a section of %d", n, offset, len(g.data))
	}
	if n == 0 {
		return nil, nil
	}
	for i, last := offset/granule, (offset+n-1)/granule; i <= last; i++ {
		switch done := g.done[i>>6].Load(); {
		case done == ^uint64(0): // so are those up to the next word
			i |= 63
		case done&(1<<(i&63)) == 0:
			if err := g.verify(i); err != nil {
				return nil, err
			}
		}
	}
	return g.data[offset : offset+n : offset+n], nil
}

// verifyRecords verifies the records of size bytes each with these numbers, which
// rise.
func (g *guarded) verifyRecords(numbers []uint32, size int) error {
	if n := len(numbers); n > 0 && g.left.Load() == 0 && (int(numbers[n-1])+1)*size <= len(g.data) {
		return nil
	}
	next := 0 // those before it are verified
	for _, n := range numbers {
		start := int(n) * size
		if size > len(g.data)-start {
			return g.corrupt(len(g.data), "%d bytes at %d of a section of %d", size, start, len(g.data))
		}
		for next = max(next, start/granule); next*granule < start+size; next++ {
			if g.done[next>>6].Load()&(1<<(next&63)) == 0 {
				if err := g.verify(next); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (g *guarded) verify(i int) error {
	piece := g.data[i*granule : min((i+1)*granule, len(g.data))]
	want := binary.LittleEndian.Uint32(g.sums[i*4:])
	if err := sectionfile.Verify(piece, want); err != nil {
		return g.corrupt(i*granule, "%v", err)
	}
	if bit := uint64(1) << (i & 63); g.done[i>>6].Or(bit)&bit == 0 {
		g.left.Add(-1)
	}
	return nil
}

// all returns the whole section, verified.
func (g *guarded) all() ([]byte, error) { return g.slice(0, len(g.data)) }

func (g *guarded) corrupt(offset int, format string, args ...any) error {
	return g.file.Corrupt(g.name, offset, format, args...)
}
