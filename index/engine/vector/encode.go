package vector

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// A vector is stored rotated, as sign and magnitude, nine bits for each dimension. The signs are its code, which a scan
// reads; the magnitudes are its row, which is read for few vectors. Nothing is stored twice.

const (
	// GroupRows is the number of codes in a group. A group has the first words of all its codes, then the second
	// words, and so on. So a kernel can compare as many vectors at once as its registers hold.
	GroupRows = 8
	wordBits  = 64
	maxLevel  = 255 // the largest magnitude
	tiny      = 1e-30
)

// MaxDims is the largest supported number of dimensions.
const MaxDims = 1 << 16

// Encoder turns vectors with the same number of dimensions into codes and rows and back. It is safe for concurrent use.
type Encoder struct {
	dims   int
	padded int
	rotate *rotation
}

var encoders sync.Map // dims -> *Encoder: the rotation is computed once

// NewEncoder returns the encoder of vectors of dims dimensions. dims is from 1 to MaxDims.
func NewEncoder(dims int) *Encoder {
	if e, ok := encoders.Load(dims); ok {
		return e.(*Encoder)
	}
	padded := Padded(dims)
	e, _ := encoders.LoadOrStore(dims, &Encoder{dims: dims, padded: padded, rotate: newRotation(padded)})
	return e.(*Encoder)
}

// Padded returns dims rounded up to a multiple of 64. This is the length of a row in bytes, and of a code in bits.
func Padded(dims int) int { return (dims + wordBits - 1) / wordBits * wordBits }

// CodeBytes returns the size of the codes of count vectors. Codes are stored in whole groups; zeros pad the last group.
func CodeBytes(dims, count int) int {
	return (count + GroupRows - 1) / GroupRows * GroupRows * Padded(dims) / 8
}

// Dims returns the number of dimensions of the vectors that e encodes.
func (e *Encoder) Dims() int { return e.dims }

// Words returns the length of a code in words of 64 bits.
func (e *Encoder) Words() int { return e.padded / wordBits }

// RowBytes returns the length of a row in bytes.
func (e *Encoder) RowBytes() int { return e.padded }

// Encode rotates v and rounds it. It appends the rounded absolute values to row, one byte each, and the signs to code.
// A sign is one bit, set if the number is negative. Encode returns row, code and the scale. A rotated number is about
// its sign times its byte times the scale.
//
// Rounding alone would change the dot product of v with its encoding a little. This would reorder neighbors that are
// about equally near. So Encode chooses the scale that makes this dot product equal to the dot product of v with
// itself. (Gao and Long, RaBitQ, 2024, section 3.2, has the same estimator for one bit.)
func (e *Encoder) Encode(row []byte, code []uint64, v []float32) ([]byte, []uint64, float32) {
	var space [512]float32
	x := space[:]
	if e.padded > len(space) {
		x = make([]float32, e.padded)
	}
	x = x[:e.padded]
	clear(x[copy(x, v[:e.dims]):])
	e.rotate.apply(x)
	largest := maxAbs(x)
	start, words := len(row), len(code)
	row = append(row, make([]byte, e.padded)...)
	code = append(code, make([]uint64, e.Words())...)
	if !(largest > tiny && largest < 1/tiny) { // zeros, or not a vector of unit length
		return row, code, 0
	}
	level := maxLevel / largest
	var square, product [4]float64 // sums of every fourth number, which processors add in parallel
	for w := range e.Words() {
		var negative uint64
		part, out := x[w*wordBits:][:wordBits], row[start+w*wordBits:][:wordBits]
		for i := range part {
			bits := math.Float32bits(part[i])
			negative |= uint64(bits>>31) << i
			a := math.Float32frombits(bits & noSign)
			// Adding a number of this size removes fractions: it rounds, ties to even.
			const round = 3 << 22
			n := float32(a*level) + round
			out[i] = byte(math.Float32bits(n))
			n -= round
			square[i%4] += float64(float64(a) * float64(a)) // no fused operations: the same bytes on every machine
			product[i%4] += float64(float64(a) * float64(n))
		}
		code[words+w] = negative
	}
	return row, code, float32((square[0] + square[1] + square[2] + square[3]) / (product[0] + product[1] + product[2] +
		product[3]))
}

// noSign is a mask that clears the sign of a float32. Without signs, float32 numbers have the same order as their bits.
const noSign = 1<<31 - 1

func maxAbs(v []float32) float32 {
	var largest uint32
	for _, x := range v {
		largest = max(largest, math.Float32bits(x)&noSign)
	}
	return math.Float32frombits(largest)
}

// Decode decodes row, code and scale and writes the vector to dst. The length of dst is the number of dimensions.
func (e *Encoder) Decode(dst []float32, row []byte, code []uint64, scale float32) {
	x := make([]float32, e.padded)
	for i, n := range row[:e.padded] {
		x[i] = float32(n) * scale
		if code[i/wordBits]>>(i%wordBits)&1 != 0 {
			x[i] = -x[i]
		}
	}
	e.rotate.undo(x)
	copy(dst, x[:e.dims])
}

// PutCode writes the code of vector i into codes. codes has the codes of a whole field.
func PutCode(codes []byte, i int, code []uint64) {
	for w, word := range code {
		binary.LittleEndian.PutUint64(codes[codeAt(i, w, len(code)):], word)
	}
}

// codeAt returns the offset of word w of the code of vector i in codes. words is the number of words of a code.
func codeAt(i, w, words int) int { return 8 * ((i/GroupRows*words+w)*GroupRows + i%GroupRows) }

// Code appends the code of vector i to dst. words is the number of words of a code.
func Code(dst []uint64, codes []byte, i, words int) []uint64 {
	at := codeAt(i, 0, words)
	for range words {
		dst = append(dst, binary.LittleEndian.Uint64(codes[at:]))
		at += 8 * GroupRows
	}
	return dst
}

// A query is a vector prepared for comparisons. It is rotated and stored twice: 15-bit numbers to compare with rows,
// 4-bit numbers in bit planes for codes.
type query struct {
	numbers []int16
	// scale converts a dot product to a similarity: scale, times the row's scale, times the dot product with the row.
	scale float64
	// planes has four bit planes of the 4-bit numbers for each word of a code. The last plane weighs -8, as in two's
	// complement.
	planes []uint64
	// tables has sums of the same 4-bit numbers, each sum plus tableBias. Each byte of a code has 16 sums for its low
	// half, then 16 for its high half. The sum for a value of the half adds the numbers whose bits are set in this
	// value.
	tables []byte
	x      []float32
	// vector is the vector that was prepared last. A search compares the same vector in several fields and segments.
	vector []float32
	// reach gives, for a similarity, the lowest estimate that a row with this similarity may have.
	reach estimateReach
}

const (
	planeCount = 4
	planeMost  = 7
	queryMost  = 1<<15 - 1
	tableBytes = 2 * 8 * 16 // of a word
	tableBias  = 32         // so that no sum is negative
)

// prepare prepares q for v. v must have the encoder's number of dimensions.
func (e *Encoder) prepare(q *query, v []float32) {
	if slices.Equal(q.vector, v) { // never equal with NaN
		return
	}
	q.vector = append(q.vector[:0], v...)
	q.x = resize(q.x, e.padded)
	q.numbers = resize(q.numbers, e.padded)
	q.planes = resize(q.planes, planeCount*e.Words())
	clear(q.planes)
	clear(q.numbers)
	q.scale, q.reach = 0, estimateReach{}
	defer q.tabulate()
	largest := float64(maxAbs(v))
	if largest == 0 {
		return
	}
	clear(q.x[len(v):])
	for i, f := range v { // avoids an overflow, whatever the length of v
		q.x[i] = float32(float64(f) / largest)
	}
	e.rotate.apply(q.x)
	most := float64(maxAbs(q.x))
	var sum float64
	for _, f := range q.x {
		sum += math.Abs(float64(f))
	}
	q.reach = newReach(q.x, most, largest)
	// No sum of products with magnitudes may exceed 32 bits.
	factor := min(queryMost/most, (math.MaxInt32/maxLevel-float64(e.padded))/sum)
	q.scale = largest / factor
	for i, f := range q.x {
		q.numbers[i] = int16(math.RoundToEven(float64(f) * factor))
		// A set bit of a code means a negative number, which adds the opposite.
		n := uint64(int64(math.RoundToEven(float64(-f) / most * planeMost)))
		planes := q.planes[i/wordBits*planeCount:][:planeCount]
		for p := range planes {
			planes[p] |= n >> p & 1 << (i % wordBits)
		}
	}
}

// tabulate computes the tables from the planes, eight sums at once.
func (q *query) tabulate() {
	const every = 0x0101010101010101
	q.tables = resize(q.tables, len(q.planes)/planeCount*tableBytes)
	out := q.tables
	for planes := q.planes; len(planes) > 0; planes = planes[planeCount:] {
		for half := range 2 {
			for b := range 8 {
				at := 8*b + 4*half
				p0, p1, p2, p3 := planes[0]>>at&15, planes[1]>>at&15, planes[2]>>at&15, planes[3]>>at&15
				low := tableBias*every + bitSums[p0&7] + 2*bitSums[p1&7] + 4*bitSums[p2&7] - 8*bitSums[p3&7]
				binary.LittleEndian.PutUint64(out, low)
				binary.LittleEndian.PutUint64(out[8:], low+every*(p0>>3+2*(p1>>3)+4*(p2>>3)-8*(p3>>3)))
				out = out[16:]
			}
		}
	}
}

// bitSums[set] has a byte for each i from 0 to 7, the lowest byte first. Byte i counts the bits that set and i have in
// common.
var bitSums = func() (out [8]uint64) {
	for set := range out {
		for i := range 8 {
			out[set] |= uint64(bits.OnesCount(uint(set&i))) << (8 * i)
		}
	}
	return out
}()

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// estimate estimates the similarity from a code alone; a larger result is nearer. It is the negated sum of the query's
// 4-bit numbers over the dimensions in which the vector is negative.
func estimate(planes, code []uint64) int32 {
	var sums [planeCount]int
	for w, c := range code {
		for p := range sums {
			sums[p] += bits.OnesCount64(c & planes[w*planeCount+p])
		}
	}
	return int32(sums[0] + 2*sums[1] + 4*sums[2] - 8*sums[3])
}
