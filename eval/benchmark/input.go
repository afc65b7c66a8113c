package benchmark

import (
	"path/filepath"

	"sheaf/internal/offheap"
)

// input is a corpus that an engine indexes. It is outside the heap of Go, because a larger heap delays the garbage
// collector. The garbage that waits would then count as memory of the engine.
type input struct {
	docs    offheap.List[Document]
	vectors offheap.List[[]float32] // one for each document; empty for a task without vectors
	texts   offheap.Texts
	numbers offheap.List[float32]
}

func readInput(dir string, task Task, dims int) (*input, error) {
	in := &input{}
	err := eachLine(filepath.Join(dir, corpusFile), func(one *Document) {
		in.docs.Add(Document{ID: in.texts.Add([]byte(one.ID)), Title: in.texts.Add([]byte(one.Title)),
			Text: in.texts.Add([]byte(one.Text))})
	})
	if err == nil && task != TaskWords {
		err = in.readVectors(filepath.Join(dir, vectorsFile), dims)
	}
	if err != nil {
		in.free()
		return nil, err
	}
	return in, nil
}

func (in *input) readVectors(name string, dims int) error {
	rows, err := readVectors(name, dims)
	if err != nil {
		return err
	}
	in.numbers.Resize(len(rows) * dims)
	for i, row := range rows {
		own := in.numbers.Items[i*dims : (i+1)*dims : (i+1)*dims]
		copy(own, row)
		in.vectors.Add(own)
	}
	return nil
}

// free releases the memory of the corpus. Callers must not use the corpus after that.
func (in *input) free() {
	in.docs.Free()
	in.vectors.Free()
	in.texts.Free()
	in.numbers.Free()
}
