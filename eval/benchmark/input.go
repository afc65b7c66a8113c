package benchmark

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"sheaf/internal/offheap"
)

// input is a corpus for an engine to index. It is outside the collector's heap. On the heap it
// would allow the same amount of garbage, and that would count as memory of the engine.
type input struct {
	docs    offheap.List[Document]
	vectors offheap.List[[]float32] // of each document, empty for a task without vectors
	texts   offheap.Texts
	numbers offheap.List[float32]
}

func readInput(dir string, task Task, dims int) (*input, error) {
	in := &input{}
	if err := in.readDocuments(filepath.Join(dir, corpusFile)); err != nil {
		in.free()
		return nil, err
	}
	if task == TaskWords {
		return in, nil
	}
	if err := in.readVectors(filepath.Join(dir, vectorsFile), dims); err != nil {
		in.free()
		return nil, err
	}
	return in, nil
}

func (in *input) readDocuments(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	d := json.NewDecoder(bufio.NewReaderSize(f, 1<<20))
	for d.More() {
		var one Document
		if err := d.Decode(&one); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		in.docs.Add(Document{ID: in.texts.Add([]byte(one.ID)), Title: in.texts.Add([]byte(one.Title)),
			Text: in.texts.Add([]byte(one.Text))})
	}
	return nil
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

// free releases the memory. Callers must not use the corpus afterwards.
func (in *input) free() {
	in.docs.Free()
	in.vectors.Free()
	in.texts.Free()
	in.numbers.Free()
}
