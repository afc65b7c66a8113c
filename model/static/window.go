package static

// windows is the memory of [encoder.Windows].
type windows struct {
	blocks []block
	sums   []float32 // [blocks][tables][dims]
	summed []bool    // [blocks][tables]
	window []*block
}

// Windows writes the vectors of the windows of a text to dst, in order, each of unit length. Window
// i starts at word i x stride and has at most size words. starts are the positions of words; Windows
// skips the text before the first word. Each vector equals, except for rounding, [encoder.Embed] of
// heading, line break and window. The cost is little more than embedding the text once, because
// overlapping windows share sums of their words. A window without a piece stays all zeros. Windows
// returns how many windows it wrote: as many as fit into dst, or fewer when the text ends.
func (e *encoder) Windows(dst []float32, heading, body string, starts []int, size, stride int) int {
	dims := e.model.dims
	block := gcd(size, stride)
	perWindow, perStride := size/block, stride/block
	blocks := (len(starts) + block - 1) / block
	// The last blocks are first, block b at index b mod perWindow. The heading is after them.
	e.resize(perWindow + 1)
	title := perWindow
	e.begin(title, heading)
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
			e.begin(next%perWindow, body[from:to])
		}
		e.window = append(e.window[:0], &e.blocks[title])
		for b := first; b < last; b++ {
			e.window = append(e.window, &e.blocks[b%perWindow])
		}
		table := e.table(e.window...)
		v := dst[i*dims:][:dims]
		copy(v, e.sum(title, table))
		for b := first; b < last; b++ {
			for j, x := range e.sum(b%perWindow, table) {
				v[j] += x
			}
		}
		normalize(v)
	}
	return len(dst) / dims
}

// resize allocates n blocks.
func (w *windows) resize(n int) {
	for len(w.blocks) < n {
		w.blocks = append(w.blocks, block{})
		w.summed = append(w.summed, make([]bool, tables)...)
	}
}

// begin puts a text into a block.
func (w *windows) begin(place int, text string) {
	w.blocks[place].reset(text)
	clear(w.summed[place*tables:][:tables])
}

// sum returns the sum of a table's vectors for the pieces of a block.
func (e *encoder) sum(place, table int) []float32 {
	i, dims := place*tables+table, e.model.dims
	if need := len(e.summed) * dims; len(e.sums) < need {
		e.sums = append(e.sums, make([]float32, need-len(e.sums))...)
	}
	sum := e.sums[i*dims:][:dims]
	if !e.summed[i] {
		e.summed[i] = true
		clear(sum)
		e.add(sum, table, e.part(&e.blocks[place], table).pieces, 1)
	}
	return sum
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
