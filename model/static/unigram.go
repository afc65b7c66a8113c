package static

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Unigram is a table of many languages: pieces with a cost, a vector and a language number each. It is a view of
// its bytes and builds nothing. It is safe for concurrent use.
type Unigram struct {
	name    string
	dims    int
	pieces  int
	unknown int32  // the piece for unknown characters
	dearest uint64 // the cost of an unknown character
	nodes   trie
	fine    []byte // [pieces]: the lowest bits of their costs
	scale   []byte // [pieces]float32, little endian
	rows    []byte // [pieces][dims/2]: see addHalves
	english []byte // [pieces]int8: above 0, the piece occurs more often in English than elsewhere
	seen    []byte // a bit per piece, the lowest first: training changed its row
	// first has the language numbers of the pieces of the English table. They detect clearly English texts
	// without reading this table.
	first []byte // [pieces of the English table]int8
	sum   uint32
	all   []byte
}

// A file of a Unigram, all numbers little endian: the magic, the numbers below, the name padded to nameBytes,
// then nodes, fine, scale, seen, english, first and rows, each aligned to 4 bytes, and the CRC-32C of everything
// before it.
const (
	unigramMagic       = "SHEAFUNI"
	unigramVersion     = 2
	unigramHeaderBytes = len(unigramMagic) + 8*4 + nameBytes
)

// OpenUnigram returns the table in data. It keeps data, which must not change. It checks that every length fits;
// [Unigram.Verify] checks every byte. Errors wrap ErrCorrupt.
func OpenUnigram(data []byte) (*Unigram, error) {
	if len(data) < unigramHeaderBytes+4 || string(data[:len(unigramMagic)]) != unigramMagic {
		return nil, fmt.Errorf("%w: it does not begin with %s", ErrCorrupt, unigramMagic)
	}
	var n [8]uint32
	for i := range n {
		n[i] = binary.LittleEndian.Uint32(data[len(unigramMagic)+4*i:])
	}
	if n[0] != unigramVersion {
		return nil, fmt.Errorf("%w: format version %d: this program reads version %d", ErrCorrupt, n[0], unigramVersion)
	}
	dims, pieces, nodes, first := int(n[1]), int(n[2]), int(n[3]), int(n[6])
	if dims < 32 || dims > 1<<14 || dims%32 != 0 || pieces < 1 || pieces > mostPieces ||
		nodes < 256 || nodes > mostNodes || nodes%256 != 0 || int(n[4]) >= pieces || first > 1<<24 {
		return nil, fmt.Errorf("%w: lengths out of range: %d dims, %d pieces, %d nodes", ErrCorrupt, dims, pieces, nodes)
	}
	pos := unigramHeaderBytes
	take := func(size int) []byte {
		if size > len(data)-4-pos {
			pos = len(data)
			return nil
		}
		part := data[pos : pos+size : pos+size]
		pos += (size + 3) &^ 3
		return part
	}
	u := &Unigram{
		name: string(trimZeros(data[unigramHeaderBytes-nameBytes : unigramHeaderBytes])), all: data,
		dims: dims, pieces: pieces, unknown: int32(n[4]), dearest: uint64(n[5]),
		sum:   binary.LittleEndian.Uint32(data[len(data)-4:]),
		nodes: take(4 * nodes),
	}
	u.fine = take(pieces)
	u.scale, u.seen, u.english = take(4*pieces), take((pieces+7)/8), take(pieces)
	u.first, u.rows = take(first), take(pieces*dims/2)
	if u.rows == nil || pos != len(data)-4 {
		return nil, fmt.Errorf("%w: %d bytes: the lengths in its header need another size", ErrCorrupt, len(data))
	}
	return u, nil
}

// Verify reads the whole table and returns an error that wraps ErrCorrupt when a byte changed.
func (u *Unigram) Verify() error {
	if sum := crc32.Checksum(u.all[:len(u.all)-4], castagnoli); sum != u.sum {
		return fmt.Errorf("%w: checksum is %08x, its bytes have %08x", ErrCorrupt, u.sum, sum)
	}
	return nil
}

// Name returns the table's name with its version.
func (u *Unigram) Name() string { return u.name }

// Dims returns the number of dimensions.
func (u *Unigram) Dims() int { return u.dims }

// Len returns the number of pieces.
func (u *Unigram) Len() int { return u.pieces }

// saw reports whether training changed the row of a piece.
func (u *Unigram) saw(id int32) bool { return u.seen[id>>3]>>(id&7)&1 != 0 }

// mostPieces and mostNodes are the largest numbers that a node can store.
const (
	mostPieces = 1 << pieceBits
	mostNodes  = 1 << baseBits
)
