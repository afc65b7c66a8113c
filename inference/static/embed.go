package static

import (
	"encoding/binary"
	"math"
	"strings"
)

// Encoder turns texts into vectors with a model. Not safe for concurrent use;
// making one is cheap.
type Encoder struct {
	model     *Model
	tokenizer *Tokenizer
	pieces    []int32
	sums      []float32 // of Windows
}

// NewEncoder returns an encoder for m.
func NewEncoder(m *Model) *Encoder {
	return &Encoder{model: m, tokenizer: NewTokenizer(m.vocab)}
}

// Embed writes the vector of text to dst, which has the model's dims: unit
// length, or all zeros when text has no piece; then it returns false.
func (e *Encoder) Embed(dst []float32, text string) bool {
	e.pieces = e.tokenizer.Encode(e.pieces[:0], text)
	clear(dst)
	for _, id := range e.pieces {
		e.add(dst, id)
	}
	return normalize(dst)
}

// Pieces yields where the pieces of text stand in it: see [Tokenizer.Pieces].
func (e *Encoder) Pieces(text string, yield func(start, end int) bool) {
	e.tokenizer.Pieces(text, yield)
}

// EmbedWeighted is [Encoder.Embed] with a weight, 0 or more, for every word of
// text; words are what white space separates.
func (e *Encoder) EmbedWeighted(dst []float32, text string, weight func(word string) float64) bool {
	clear(dst)
	for word := range strings.FieldsSeq(text) {
		w := float32(weight(word))
		if w == 0 {
			continue
		}
		e.pieces = e.tokenizer.Encode(e.pieces[:0], word)
		for _, id := range e.pieces {
			e.addScaled(dst, id, w)
		}
	}
	return normalize(dst)
}

// normalize gives v unit length; false when it has none.
func normalize(v []float32) bool {
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(v); i += 4 {
		w := v[i : i+4 : i+4]
		s0 += float64(w[0]) * float64(w[0])
		s1 += float64(w[1]) * float64(w[1])
		s2 += float64(w[2]) * float64(w[2])
		s3 += float64(w[3]) * float64(w[3])
	}
	for ; i < len(v); i++ {
		s0 += float64(v[i]) * float64(v[i])
	}
	square := s0 + s1 + s2 + s3
	if square == 0 {
		return false
	}
	f := float32(1 / math.Sqrt(square))
	for i := range v {
		v[i] *= f
	}
	return true
}

// Known is the share of text, in [0,1], that the model knows: pieces that are
// Latin words or parts of at least two letters, over all pieces; 0 of a text
// without a piece. A model made for one language says little about a text of
// which it knows little.
func (e *Encoder) Known(text string) float64 {
	e.pieces = e.tokenizer.Encode(e.pieces[:0], text)
	if len(e.pieces) == 0 {
		return 0
	}
	understood := 0
	for _, id := range e.pieces {
		if e.model.vocab.isWord(id) {
			understood++
		}
	}
	return float64(understood) / float64(len(e.pieces))
}

// add adds the vector of one piece to dst.
func (e *Encoder) add(dst []float32, id int32) { e.addScaled(dst, id, 1) }

func (e *Encoder) addScaled(dst []float32, id int32, weight float32) {
	m := e.model
	scale := weight * math.Float32frombits(binary.LittleEndian.Uint32(m.scale[4*id:]))
	row := m.rows[int(id)*m.dims:][:m.dims]
	addRow(dst[:len(row)], row, scale)
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
