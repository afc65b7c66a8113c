package static

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
)

// ErrCorrupt means that the bytes of a model are not as [Write] wrote them.
var ErrCorrupt = errors.New("corrupt model")

// Model is a vocabulary with a vector for each piece. It reads its bytes directly: opening a model reads only a few
// numbers, so it is fast for any size. It is safe for concurrent use.
type Model struct {
	header
	vocab *Vocabulary
	scale []byte // [pieces]float32, little endian
	rows  []byte // [pieces][dims]int8; multiply by the piece's scale
}

// header has what a [Model] and a [Unigram] have in common.
type header struct {
	name string
	dims int
	sum  uint32 // of everything before the checksum
	all  []byte
}

// A model file has these parts. All numbers are little endian:
//   - magic
//   - eight 32-bit numbers: version, dims, the number of pieces, the number of slots, the size of text, the fields
//     longest and unknown of Vocabulary, and 0
//   - the model's name, padded to nameBytes
//   - the fields scale, ends, slots, text and rows of Model and Vocabulary, each aligned to 4 bytes
//   - a CRC-32C of everything before it
const (
	magic       = "SHEAFSTV"
	version     = 1
	nameBytes   = 40
	headerBytes = len(magic) + 8*4 + nameBytes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Open returns the model in data. It keeps data, so the caller must not change data. It checks that every length fits;
// [Model.Verify] checks every byte. Errors wrap ErrCorrupt.
func Open(data []byte) (*Model, error) {
	head, n, err := openHeader(data, magic, version)
	if err != nil {
		return nil, err
	}
	dims, pieces, slots, text, longest, unknown := int(n[1]), int(n[2]), int(n[3]), int(n[4]), int(n[5]), n[6]
	if dims < 1 || dims > 1<<14 || pieces < 1 || pieces > 1<<24 || slots <= pieces || slots > 1<<26 ||
		slots&(slots-1) != 0 ||
		text > 1<<30 || longest > text || int(unknown) >= pieces {
		return nil, fmt.Errorf("%w: lengths out of range: %d dims, %d pieces, %d slots, %d bytes of text", ErrCorrupt, dims,
			pieces, slots, text)
	}
	parts := parts{data, headerBytes}
	m := &Model{
		header: head, scale: parts.take(4 * pieces),
		vocab: &Vocabulary{numbered: pieces, mask: uint32(slots - 1), longest: longest, unknown: int32(unknown)},
	}
	m.vocab.ends, m.vocab.slots, m.vocab.text = parts.take(4*pieces), parts.take(4*slots), parts.take(text)
	m.rows = parts.take(pieces * dims)
	if err := parts.end(m.rows); err != nil {
		return nil, err
	}
	return m, nil
}

// openHeader reads the header of a file. n has the eight numbers after the magic. For another magic or version, it
// returns ErrCorrupt.
func openHeader(data []byte, magic string, version uint32) (h header, n [8]uint32, err error) {
	if len(data) < headerBytes+4 || string(data[:len(magic)]) != magic {
		return h, n, fmt.Errorf("%w: it does not begin with %s", ErrCorrupt, magic)
	}
	for i := range n {
		n[i] = binary.LittleEndian.Uint32(data[len(magic)+4*i:])
	}
	if n[0] != version {
		return h, n, fmt.Errorf("%w: format version %d: this program reads version %d", ErrCorrupt, n[0], version)
	}
	name := strings.TrimRight(string(data[headerBytes-nameBytes:headerBytes]), "\x00")
	return header{name, int(n[1]), binary.LittleEndian.Uint32(data[len(data)-4:]), data}, n, nil
}

// parts reads the parts of a file after its header, in order.
type parts struct {
	data []byte
	pos  int
}

// take returns the next part, or nil when the file is too short.
func (p *parts) take(size int) []byte {
	if size > len(p.data)-4-p.pos {
		p.pos = len(p.data)
		return nil
	}
	part := p.data[p.pos : p.pos+size : p.pos+size]
	p.pos += (size + 3) &^ 3
	return part
}

// end returns an error unless the last part ends where the checksum begins. The parameter last is this part, or nil
// when the file was too short.
func (p *parts) end(last []byte) error {
	if last == nil || p.pos != len(p.data)-4 {
		return fmt.Errorf("%w: %d bytes: the lengths in its header need another size", ErrCorrupt, len(p.data))
	}
	return nil
}

// file returns the bytes of a model file, which [openHeader] and [parts] read. name has 1 to nameBytes bytes.
func file(magic, name string, numbers [8]uint32, parts ...[]byte) []byte {
	out := []byte(magic)
	for _, n := range numbers {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	out = append(append(out, name...), make([]byte, nameBytes-len(name))...)
	for _, part := range parts {
		out = append(out, part...)
		out = append(out, make([]byte, -len(out)&3)...)
	}
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
}

// Verify reads the whole file and returns an error that wraps ErrCorrupt when a byte changed.
func (h *header) Verify() error {
	if sum := crc32.Checksum(h.all[:len(h.all)-4], castagnoli); sum != h.sum {
		return fmt.Errorf("%w: checksum is %08x, its bytes have %08x", ErrCorrupt, h.sum, sum)
	}
	return nil
}

// Write returns the file of a model of this name (at most 40 bytes) with the given rows,
// [vocabulary][dims]float32. It rounds each row to int8 with its own scale.
func Write(name string, v *Vocabulary, rows [][]float32) ([]byte, error) {
	if len(name) == 0 || len(name) > nameBytes {
		return nil, fmt.Errorf("model name %q: must have 1 to %d bytes", name, nameBytes)
	}
	if len(rows) != v.numbered {
		return nil, fmt.Errorf("model %s: %d rows for %d pieces", name, len(rows), v.numbered)
	}
	dims := len(rows[0])
	var scales, quantized []byte
	for i, row := range rows {
		if len(row) != dims {
			return nil, fmt.Errorf("model %s: row %d has %d dims, the first has %d", name, i, len(row), dims)
		}
		var largest float64
		for _, x := range row {
			if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
				return nil, fmt.Errorf("model %s: row %d holds %v", name, i, x)
			}
			largest = max(largest, math.Abs(float64(x)))
		}
		scale := largest / 127
		scales = binary.LittleEndian.AppendUint32(scales, math.Float32bits(float32(scale)))
		for _, x := range row {
			q := 0.0
			if scale > 0 {
				q = math.RoundToEven(float64(x) / scale)
			}
			quantized = append(quantized, byte(int8(q)))
		}
	}
	return file(magic, name, [8]uint32{version, uint32(dims), uint32(v.numbered), uint32(len(v.slots) / 4),
		uint32(len(v.text)), uint32(v.longest), uint32(v.unknown)}, scales, v.ends, v.slots, v.text, quantized), nil
}

// Name returns the model's name with its version. Indexes store it.
func (h *header) Name() string { return h.name }

// Dims returns the number of dimensions.
func (h *header) Dims() int { return h.dims }

// Vocabulary returns the pieces.
func (m *Model) Vocabulary() *Vocabulary { return m.vocab }
