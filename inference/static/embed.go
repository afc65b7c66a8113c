package static

import (
	"encoding/binary"
	"math"
)

// Encoder turns texts into vectors with a model. Not safe for concurrent use;
// making one is cheap.
type Encoder struct {
	model     *Model
	tokenizer *Tokenizer
	pieces    []int32
}

// NewEncoder returns an encoder for m.
func NewEncoder(m *Model) *Encoder {
	return &Encoder{model: m, tokenizer: NewTokenizer(m.vocab)}
}

// Embed writes the vector of text to dst, which has the model's dims: unit
// length, or all zeros when text has no piece. It returns the share of the
// text, in [0,1], that the model knows: pieces that are Latin words or parts of
// at least two letters, over all pieces. A model made for one language says
// little about a text of which it knows little.
func (e *Encoder) Embed(dst []float32, text string) (known float64) {
	e.pieces = e.tokenizer.Encode(e.pieces[:0], text)
	clear(dst)
	understood := 0
	for _, id := range e.pieces {
		e.add(dst, id)
		if e.model.vocab.isWord(id) {
			understood++
		}
	}
	var square float64
	for _, x := range dst {
		square += float64(x) * float64(x)
	}
	if square > 0 {
		f := float32(1 / math.Sqrt(square))
		for i := range dst {
			dst[i] *= f
		}
	}
	if len(e.pieces) == 0 {
		return 0
	}
	return float64(understood) / float64(len(e.pieces))
}

// add adds the vector of one piece to dst.
func (e *Encoder) add(dst []float32, id int32) {
	m := e.model
	scale := math.Float32frombits(binary.LittleEndian.Uint32(m.scale[4*id:]))
	row := m.rows[int(id)*m.dims:][:m.dims]
	dst = dst[:len(row)]
	i := 0
	for ; i+4 <= len(row); i += 4 {
		d, r := dst[i:i+4:i+4], row[i:i+4:i+4]
		d[0] += scale * float32(int8(r[0]))
		d[1] += scale * float32(int8(r[1]))
		d[2] += scale * float32(int8(r[2]))
		d[3] += scale * float32(int8(r[3]))
	}
	for ; i < len(row); i++ {
		dst[i] += scale * float32(int8(row[i]))
	}
}

// isWord reports whether a piece is ASCII, longer than one character, and not a
// special one.
func (v *Vocabulary) isWord(id int32) bool {
	piece := v.piece(id)
	if len(piece) > len(continuation) && string(piece[:len(continuation)]) == continuation {
		piece = piece[len(continuation):]
	}
	if len(piece) < 2 || piece[0] == '[' {
		return false
	}
	for _, c := range piece {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
