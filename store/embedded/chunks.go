package embedded

import (
	"unsafe"

	"sheaf/index/engine"
	"sheaf/store"
)

// translated converts chunks from the type of package store to the type of the engine.
func translated(chunks []store.Chunk) []engine.Chunk {
	out := make([]engine.Chunk, len(chunks))
	for i := range chunks {
		c := &chunks[i]
		out[i] = engine.Chunk{ID: string(c.ID), Doc: string(c.Doc), Fields: make([]engine.FieldText, len(c.Fields)),
			Vectors: make([]engine.Vectors, len(c.Vectors))}
		for k, f := range c.Fields {
			out[i].Fields[k] = engine.FieldText(f)
		}
		for k, v := range c.Vectors {
			out[i].Vectors[k] = engine.Vectors(v)
		}
		if i > 0 && sameMemory(c.Columns, chunks[i-1].Columns) { // chunks of one document often share their columns
			out[i].Columns = out[i-1].Columns
			continue
		}
		out[i].Columns = make([]engine.Column, len(c.Columns))
		for k, column := range c.Columns {
			out[i].Columns[k] = engine.Column(column)
		}
	}
	return out
}

func sameMemory(a, b []store.Column) bool {
	return unsafe.SliceData(a) == unsafe.SliceData(b) && len(a) == len(b)
}
