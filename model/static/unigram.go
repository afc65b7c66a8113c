package static

import "fmt"

// Unigram is a table for many languages. Each piece has a cost, a vector and a language number. A Unigram reads its
// bytes directly, so opening it is fast. It is safe for concurrent use.
type Unigram struct {
	header
	unknown int32  // the piece for unknown characters
	dearest uint64 // the cost of an unknown character
	nodes   trie
	fine    []byte // [pieces]: the lowest bits of their costs
	scale   []byte // [pieces]float32, little endian
	rows    []byte // [pieces][dims/2]: see addHalves
	english []byte // [pieces]int8: above 0, the piece occurs more often in English than elsewhere
	seen    []byte // a bit per piece, the lowest first: training changed its row
	// first has a number for each piece of the English table. The number is above 0 if the piece is more frequent in
	// English. With these numbers an encoder detects clearly English texts, and need not read nodes, scale and rows.
	first []byte // [pieces of the English table]int8: see above
}

// A file of a Unigram has these parts. All numbers are little endian:
//   - unigramMagic
//   - eight 32-bit numbers: unigramVersion, dims, the number of pieces, the number of nodes, the fields unknown and
//     dearest, the size of first, and 0
//   - the name, padded to nameBytes
//   - the fields nodes, fine, scale, seen, english, first and rows of Unigram, each aligned to 4 bytes
//   - a CRC-32C of everything before it
const (
	unigramMagic   = "SHEAFUNI"
	unigramVersion = 2
)

// OpenUnigram returns the table in data. It keeps data, so the caller must not change data. It checks that every length
// fits; [Unigram.Verify] checks every byte. Errors wrap ErrCorrupt.
func OpenUnigram(data []byte) (*Unigram, error) {
	head, n, err := openHeader(data, unigramMagic, unigramVersion)
	if err != nil {
		return nil, err
	}
	dims, pieces, nodes, first := int(n[1]), int(n[2]), int(n[3]), int(n[6])
	if dims < 32 || dims > 1<<14 || dims%32 != 0 || pieces < 1 || pieces > mostPieces ||
		nodes < 256 || nodes > mostNodes || nodes%256 != 0 || int(n[4]) >= pieces || first > 1<<24 {
		return nil, fmt.Errorf("%w: lengths out of range: %d dims, %d pieces, %d nodes", ErrCorrupt, dims, pieces, nodes)
	}
	parts := parts{data, headerBytes}
	u := &Unigram{
		header: head, unknown: int32(n[4]), dearest: uint64(n[5]), nodes: parts.take(4 * nodes),
	}
	u.fine = parts.take(pieces)
	u.scale, u.seen, u.english = parts.take(4*pieces), parts.take((pieces+7)/8), parts.take(pieces)
	u.first, u.rows = parts.take(first), parts.take(pieces*dims/2)
	if err := parts.end(u.rows); err != nil {
		return nil, err
	}
	return u, nil
}

// saw reports whether the training data had a piece, so that training changed its vector.
func (u *Unigram) saw(id int32) bool { return u.seen[id>>3]>>(id&7)&1 != 0 }

// mostPieces and mostNodes are the largest numbers of pieces and nodes that a trie can store.
const (
	mostPieces = 1 << pieceBits
	mostNodes  = 1 << baseBits
)
