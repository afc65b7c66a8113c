package static

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// UnigramPiece is a piece of a [Unigram] with its data.
type UnigramPiece struct {
	// Text is the piece, with "▁" before the first piece of a word; "" for a piece that never occurs.
	Text string
	// Score is the logarithm of the piece's probability, at most 0.
	Score float64
	// English is above 0 when the piece occurs more often in English than in other languages.
	English int8
	// Seen says that training changed the vector of the piece.
	Seen bool
	// Row is the vector. Its length is a multiple of 32.
	Row []float32
}

// unseenPenalty is the difference between the lowest score and the score of an unknown character, as in SentencePiece.
const unseenPenalty = 10

// WriteUnigram returns the file of a table of this name (at most 40 bytes). An encoder uses the table beside an English
// table with the vocabulary v. The parameter unknown is the number of the piece for unknown characters.
func WriteUnigram(name string, pieces []UnigramPiece, unknown int, v *Vocabulary) ([]byte, error) {
	switch {
	case len(name) == 0 || len(name) > nameBytes:
		return nil, fmt.Errorf("table name %q: must have 1 to %d bytes", name, nameBytes)
	case unknown < 0 || unknown >= len(pieces):
		return nil, fmt.Errorf("table %s: piece %d for unknown characters is not one of its %d pieces", name, unknown,
			len(pieces))
	case len(pieces) > mostPieces:
		return nil, fmt.Errorf("table %s: %d pieces: at most %d are allowed", name, len(pieces), mostPieces)
	}
	dims := len(pieces[0].Row)
	if dims == 0 || dims%32 != 0 {
		return nil, fmt.Errorf("table %s: %d dimensions: must be a multiple of 32", name, dims)
	}
	lowest := 0.0
	for _, p := range pieces {
		lowest = min(lowest, p.Score)
	}
	// Costs are whole numbers, so that all machines choose the same pieces.
	unit := float64(1<<(costBits+fineBits)-1) / max(1, -lowest)
	var texts []leafText
	var fine []byte
	for i, p := range pieces {
		if p.Score > 0 || math.IsNaN(p.Score) {
			return nil, fmt.Errorf("table %s: piece %q has the score %v: must be at most 0", name, p.Text, p.Score)
		}
		cost := uint32(math.Round(-p.Score * unit))
		fine = append(fine, byte(cost))
		if p.Text != "" {
			texts = append(texts, leafText{p.Text, uint32(i), cost >> fineBits})
		}
	}
	nodes, err := newTrie(texts)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", name, err)
	}
	dearest := uint32(math.Round((unseenPenalty - lowest) * unit))
	scale, seen, english := []byte{}, make([]byte, (len(pieces)+7)/8), make([]byte, len(pieces))
	rows := make([]byte, 0, len(pieces)*dims/2)
	for i, p := range pieces {
		if len(p.Row) != dims {
			return nil, fmt.Errorf("table %s: row %d has %d dims, the first has %d", name, i, len(p.Row), dims)
		}
		step, levels, err := quantize(p.Row)
		if err != nil {
			return nil, fmt.Errorf("table %s: row %d: %w", name, i, err)
		}
		scale = binary.LittleEndian.AppendUint32(scale, math.Float32bits(step))
		for b := 0; b < dims; b += 32 {
			for j := b; j < b+16; j++ {
				rows = append(rows, byte(levels[j]+8)|byte(levels[j+16]+8)<<4)
			}
		}
		english[i] = byte(p.English)
		if p.Seen && !isLetter(p.Text) {
			seen[i>>3] |= 1 << (i & 7)
		}
	}
	first := languageNumbers(v, &Unigram{nodes: nodes, fine: fine, dearest: uint64(dearest), unknown: int32(unknown),
		english: english})
	return file(unigramMagic, name, [8]uint32{unigramVersion, uint32(dims), uint32(len(pieces)),
		uint32(len(nodes) / 4), uint32(unknown), dearest, uint32(v.Len())},
		nodes, fine, scale, seen, english, first, rows), nil
}

// isLetter reports whether a piece is one ASCII character. Such a piece does not show the language, because the
// table cuts words of unknown languages into letters.
func isLetter(text string) bool {
	text = strings.TrimPrefix(text, wordMark)
	return len(text) == 1
}

// languageNumbers returns a language number, an int8, for each piece of v. It cuts the piece of v into pieces of u, and
// adds up their language numbers.
func languageNumbers(v *Vocabulary, u *Unigram) []byte {
	s, numbers := NewSegmenter(u), make([]byte, v.Len())
	var pieces []int32
	for id := range numbers {
		text := string(v.piece(int32(id)))
		rest, inside := strings.CutPrefix(text, continuation)
		if inside && rest != "" {
			pieces = s.goesOn(pieces[:0], rest)
		} else {
			pieces = s.Encode(pieces[:0], text)
		}
		sum := 0
		for _, p := range pieces {
			sum += int(int8(u.english[p]))
		}
		numbers[id] = byte(int8(max(-127, min(127, sum))))
	}
	return numbers
}

// quantize rounds row to levels of -8 to 7 times a step. It returns the step and the levels. Of 41 steps, it takes the
// one with the smallest squared error. It fails if row has a number that is not finite.
func quantize(row []float32) (float32, []int8, error) {
	largest := 0.0
	for _, x := range row {
		f := float64(x)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return 0, nil, fmt.Errorf("it holds %v", x)
		}
		largest = max(largest, math.Abs(f))
	}
	best, levels, least := float32(0), make([]int8, len(row)), math.Inf(1)
	if largest == 0 {
		return 0, levels, nil
	}
	for i := range 41 {
		step := float32(largest / 7.5 * (1 - float64(i)/80))
		failure := 0.0
		for _, x := range row {
			e := float64(x) - float64(float64(step)*level(x, step))
			failure += float64(e * e)
		}
		if failure < least {
			best, least = step, failure
		}
	}
	for i, x := range row {
		levels[i] = int8(level(x, best))
	}
	return best, levels, nil
}

func level(x, step float32) float64 {
	return max(-8, min(7, math.RoundToEven(float64(x)/float64(step))))
}
