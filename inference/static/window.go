package static

// Windows writes the vectors of the windows of a text to dst, one after another,
// each of the model's dims and of unit length under the heading. Window i begins at
// word i x stride and has at most size words; starts are where the words begin, and
// all of the text before the first is left out. The result is that of
// [Encoder.Embed] of heading, line break and window but for rounding, and costs
// little more than embedding the text once: a vector is a sum, so windows that
// overlap share sums of the words between their ends. A window without any piece
// stays all zeros. It returns how many windows it wrote: as many as dst has room
// for, or fewer when the text ends before.
func (e *Encoder) Windows(dst []float32, heading, body string, starts []int, size, stride int) int {
	dims := e.model.dims
	block := gcd(size, stride)
	perWindow, perStride := size/block, stride/block
	blocks := (len(starts) + block - 1) / block
	// The sums of the last blocks, block b in place b mod perWindow, and that
	// of the heading behind them.
	if need := (perWindow + 1) * dims; cap(e.sums) < need {
		e.sums = make([]float32, need)
	}
	sums := e.sums[:(perWindow+1)*dims]
	title := sums[perWindow*dims:]
	e.sum(title, heading)
	next := 0
	for i := range len(dst) / dims {
		first := i * perStride
		if i > 0 && (first >= blocks || first-perStride+perWindow >= blocks) {
			return i
		}
		last := min(first+perWindow, blocks)
		for ; next < last; next++ {
			from, to := starts[next*block], len(body)
			if end := (next + 1) * block; end < len(starts) {
				to = starts[end]
			}
			e.sum(sums[next%perWindow*dims:][:dims], body[from:to])
		}
		v := dst[i*dims:][:dims]
		copy(v, title)
		for b := first; b < last; b++ {
			for j, x := range sums[b%perWindow*dims:][:dims] {
				v[j] += x
			}
		}
		normalize(v)
	}
	return len(dst) / dims
}

// sum writes the sum of the vectors of the pieces of text to dst.
func (e *Encoder) sum(dst []float32, text string) {
	clear(dst)
	e.pieces = e.tokenizer.Encode(e.pieces[:0], text)
	for _, id := range e.pieces {
		e.add(dst, id)
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
