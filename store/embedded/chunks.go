package embedded

import (
	"sheaf/index/engine"
	"sheaf/store"
)

// translated converts chunks to the engine's type.
func translated(chunks []store.Chunk) []engine.Chunk {
	out := make([]engine.Chunk, len(chunks))
	for i := range chunks {
		c := &chunks[i]
		out[i] = engine.Chunk{ID: string(c.ID), Doc: string(c.Doc), Fields: make([]engine.FieldText, len(c.Fields)),
			Columns: make([]engine.Column, len(c.Columns)), Vectors: make([]engine.Vectors, len(c.Vectors))}
		for k, f := range c.Fields {
			out[i].Fields[k] = engine.FieldText(f)
		}
		for k, v := range c.Vectors {
			out[i].Vectors[k] = engine.Vectors(v)
		}
		for k, column := range c.Columns {
			out[i].Columns[k] = engine.Column(column)
		}
	}
	return out
}
