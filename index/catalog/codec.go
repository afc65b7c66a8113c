package catalog

import (
	"encoding/binary"
	"math"
)

type encoder struct{ b []byte }

func (e *encoder) uint(n int)    { e.b = binary.AppendUvarint(e.b, uint64(n)) }
func (e *encoder) int(n int64)   { e.b = binary.AppendVarint(e.b, n) }
func (e *encoder) byte(b byte)   { e.b = append(e.b, b) }
func (e *encoder) str(s string)  { e.uint(len(s)); e.b = append(e.b, s...) }
func (e *encoder) f64(f float64) { e.b = binary.LittleEndian.AppendUint64(e.b, math.Float64bits(f)) }

func (e *encoder) strs(list []string) {
	e.uint(len(list))
	for _, s := range list {
		e.str(s)
	}
}

// decoder reads what an encoder wrote. Strings share the memory of b, which must never change. After the first fault it
// returns zeros, and bad is true.
type decoder struct {
	b   []byte
	pos int
	bad bool
}

func (d *decoder) fail() { d.bad, d.pos = true, len(d.b) }

// uint reads a number. A number that does not fit an int is a fault.
func (d *decoder) uint() int {
	n, size := binary.Uvarint(d.b[d.pos:])
	if size <= 0 || n > math.MaxInt32 && n > uint64(math.MaxInt) {
		d.fail()
		return 0
	}
	d.pos += size
	return int(n)
}

func (d *decoder) int() int64 {
	n, size := binary.Varint(d.b[d.pos:])
	if size <= 0 {
		d.fail()
		return 0
	}
	d.pos += size
	return n
}

// take returns the next n bytes. If fewer are left, this is a fault, and the result is nil.
func (d *decoder) take(n int) []byte {
	if n > len(d.b)-d.pos {
		d.fail()
		return nil
	}
	d.pos += n
	return d.b[d.pos-n : d.pos]
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

// f64 reads a floating-point number. NaN is a fault.
func (d *decoder) f64() float64 {
	b := d.take(8)
	if b == nil {
		return 0
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(b))
	if math.IsNaN(f) {
		d.fail()
		return 0
	}
	return f
}

func (d *decoder) str() string { return view(d.take(d.uint())) }

// count reads the number of entries that follow, each at least size bytes long. A number that exceeds the rest of the
// data is a fault, because it could cause a large allocation.
func (d *decoder) count(size int) int {
	n := d.uint()
	if n > (len(d.b)-d.pos)/size {
		d.fail()
		return 0
	}
	return n
}

func (d *decoder) strs() []string {
	n := d.count(1)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = d.str()
	}
	return list
}
