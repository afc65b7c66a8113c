package vector

import "math"

// A rotation spreads the content of a few dimensions of a padded vector over all dimensions. After a rotation, signs
// carry about equal information in every dimension. No dimension is so large that the others lose precision as bytes.
// Lengths and dot products stay unchanged.
//
// It is a randomized Hadamard transform. First, signs are flipped, and the first p numbers are transformed, where p
// is the largest possible power of two. If some numbers are left, signs are flipped again, and the last p numbers are
// transformed. The signs are part of the format and never change. Two overlapping transforms avoid padding to a power
// of two (Ailon and Chazelle, The Fast Johnson-Lindenstrauss Transform, 2009, section 2).
type rotation struct {
	first, second []float32 // the signs: +1 and -1
	power         int
	unit          float32 // 1/sqrt(power)
}

func newRotation(padded int) *rotation {
	r := &rotation{first: flips(padded, 0), second: flips(padded, 1), power: 1}
	for r.power*2 <= padded {
		r.power *= 2
	}
	r.unit = float32(1 / math.Sqrt(float64(r.power)))
	return r
}

// flips returns n signs, 1 or -1, for one step of the rotation. Sign 64*w + b is -1 if bit b of splitmix64(2*w + step)
// is set.
func flips(n int, step uint64) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = 1
		if splitmix64(2*uint64(i/64)+step)>>(i%64)&1 != 0 {
			out[i] = -1
		}
	}
	return out
}

// splitmix64 returns number x of the random number generator of Steele, Lea and Flood, 2014.
func splitmix64(x uint64) uint64 {
	z := (x + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *rotation) apply(v []float32) {
	for i, s := range r.first {
		v[i] *= s
	}
	r.transform(v[:r.power])
	if r.power == len(v) {
		return
	}
	for i, s := range r.second {
		v[i] *= s
	}
	r.transform(v[len(v)-r.power:])
}

// undo reverses the method apply, in place. Every step is its own inverse.
func (r *rotation) undo(v []float32) {
	if r.power < len(v) {
		r.transform(v[len(v)-r.power:])
		for i, s := range r.second {
			v[i] *= s
		}
	}
	r.transform(v[:r.power])
	for i, s := range r.first {
		v[i] *= s
	}
}

// transform computes, in place, the Walsh-Hadamard transform of v, divided by the square root of len(v). len(v) is a
// power of two, at least 64. transform does two stages at a time.
func (r *rotation) transform(v []float32) {
	for i := 0; i+4 <= len(v); i += 4 {
		q := v[i : i+4 : i+4]
		s, t, u, w := q[0]+q[1], q[0]-q[1], q[2]+q[3], q[2]-q[3]
		q[0], q[1], q[2], q[3] = s+u, t+w, s-u, t-w
	}
	h := 4
	for ; 4*h <= len(v); h *= 4 {
		for i := 0; i < len(v); i += 4 * h {
			a, b, c, d := v[i:i+h], v[i+h:i+2*h], v[i+2*h:i+3*h], v[i+3*h:i+4*h]
			b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
			for j, x := range a {
				s, t := x+b[j], x-b[j]
				u, w := c[j]+d[j], c[j]-d[j]
				a[j], b[j], c[j], d[j] = s+u, t+w, s-u, t-w
			}
		}
	}
	if h < len(v) {
		a, b := v[:h], v[h:]
		for j, x := range a {
			a[j], b[j] = x+b[j], x-b[j]
		}
	}
	for i := range v {
		v[i] *= r.unit
	}
}
