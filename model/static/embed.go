package static

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// encoder turns texts into vectors with a model. With a second table it also reads languages other
// than English. It is not safe for concurrent use. A new encoder is cheap.
type encoder struct {
	model     *Model
	tokenizer *tokenizer
	others    *Unigram // may be nil
	segmenter *Segmenter
	text      []block // the current text
	size      int     // the bytes of text
	foreign   int     // the bytes of text outside ASCII
	pieces    []int32 // of one word
}

// newEncoder returns an encoder that reads English with m and other languages with others, which may be nil. If others
// has other dimensions or belongs to another vocabulary, newEncoder returns ErrCorrupt.
func newEncoder(m *Model, others *Unigram) (*encoder, error) {
	e := &encoder{model: m, tokenizer: newTokenizer(m.vocab), others: others}
	if others != nil {
		if m.dims != others.dims || m.vocab.numbered != len(others.first) {
			return nil, fmt.Errorf("%w: table %s does not belong to the model %s", ErrCorrupt, others.name, m.name)
		}
		e.segmenter = NewSegmenter(others)
	}
	return e, nil
}

// Embed writes the vector of a text to dst, which has the model's dims. The vector has unit length. If the text has no
// piece, the vector is all zeros and Embed returns false.
func (e *encoder) Embed(dst []float32, text string) bool {
	e.begin(text)
	return e.vector(dst)
}

// vector writes the vector of the current text to dst, and returns false if the text has no piece. It keeps the sums of
// blocks for the next text that has these blocks.
func (e *encoder) vector(dst []float32) bool {
	table := e.table()
	for i := range e.text {
		p := e.part(&e.text[i], table)
		if len(p.sum) == 0 {
			p.sum = append(p.sum, make([]float32, len(dst))...)
			e.add(p.sum, table, p.pieces, 1)
		}
		if i == 0 {
			copy(dst, p.sum)
			continue
		}
		sum := p.sum[:len(dst)]
		for i := range dst {
			dst[i] += sum[i]
		}
	}
	return normalize(dst)
}

// EmbedWeighted is [encoder.Embed] with a weight, 0 or more, for every word of text. White space separates words. It
// also returns false if no word has a weight above 0.
func (e *encoder) EmbedWeighted(dst []float32, text string, weight func(word string) float64) bool {
	e.begin(text)
	table := e.table()
	clear(dst)
	for word := range strings.FieldsSeq(text) {
		w := float32(weight(word))
		if w == 0 {
			continue
		}
		if table == othersTable {
			e.pieces = e.segmenter.Encode(e.pieces[:0], word)
		} else {
			e.pieces = e.tokenizer.Encode(e.pieces[:0], word)
		}
		e.add(dst, table, e.pieces, w)
	}
	return normalize(dst)
}

// normalize scales v to unit length. It returns false when v is zero.
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

// Knows reports whether the model knows a query. For unknown texts the nearest passages are arbitrary. If the encoder
// chooses the table of other languages, the text is known. The encoder chooses the English table for English, and also
// for unknown languages. With the English table, a text is known if most of its pieces are ASCII with at least two
// characters. These rules decide which pieces count:
//   - Marks, digits and single letters, as in "chapter 5", do not count.
//   - A name with digits and underscores, for example ERR_4096, counts as one unknown piece.
func (e *encoder) Knows(text string) bool {
	noLetter := func(word string) bool { return !strings.ContainsFunc(word, unicode.IsLetter) }
	if words := slices.DeleteFunc(strings.Fields(text), noLetter); len(words) > 0 {
		text = strings.Join(words, " ")
	}
	e.begin(text)
	if e.table() == othersTable {
		return true
	}
	known, unknown := 0, 0
	for word := range strings.FieldsFuncSeq(text, betweenWords) {
		if strings.Contains(word, "_") && strings.ContainsFunc(word, unicode.IsDigit) {
			unknown++
			continue
		}
		for letters := range strings.FieldsFuncSeq(word, unicode.IsDigit) {
			if utf8.RuneCountInString(letters) < 2 {
				continue
			}
			e.begin(letters)
			for _, id := range e.part(&e.text[0], englishTable).pieces {
				if piece := e.model.vocab.letters(id); isWord(piece) {
					known++
				} else if string(piece) != "_" {
					unknown++
				}
			}
		}
	}
	return known > unknown
}

// betweenWords reports whether a character separates words. The underscore does not: ERR_4096 is one word.
func betweenWords(c rune) bool {
	return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c)
}

// letters returns the text of a piece. It omits the sign "##" with which a piece inside a word begins.
func (v *Vocabulary) letters(id int32) []byte {
	piece := v.piece(id)
	if len(piece) > len(continuation) && string(piece[:len(continuation)]) == continuation {
		piece = piece[len(continuation):]
	}
	return piece
}

// isWord reports whether a piece is ASCII, longer than one character, and not a special piece such as [UNK].
func isWord(piece []byte) bool {
	foreign := func(r rune) bool { return r >= utf8.RuneSelf }
	return len(piece) > 1 && piece[0] != '[' && !bytes.ContainsFunc(piece, foreign)
}
