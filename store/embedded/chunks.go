package embedded

import (
	"sync"

	"sheaf"
	"sheaf/index/engine"
	"sheaf/index/engine/segment"
	"sheaf/store"
)

// translation is the engine's view of chunks, in memory that is reused, because the engine keeps
// nothing of it.
type translation struct {
	out     []engine.Chunk
	fields  []engine.FieldText
	columns []engine.Column
	vectors []engine.Vectors
	// shared has the translated values of columns, by the memory of the original values: chunks of
	// a document mostly share them.
	shared map[valueList][]segment.Value
}

var translations = sync.Pool{New: func() any { return &translation{shared: map[valueList][]segment.Value{}} }}

// valueList identifies a slice of values by its memory.
type valueList struct {
	first *sheaf.Value
	count int
}

// chunks translates chunks; the result is valid until release.
func (t *translation) chunks(chunks []store.Chunk) []engine.Chunk {
	for i := range chunks {
		t.add(&chunks[i])
	}
	return t.out
}

// release returns t to the pool without its references, which may hold whole documents.
func (t *translation) release() {
	clear(t.out)
	clear(t.fields)
	clear(t.columns)
	clear(t.vectors)
	clear(t.shared)
	t.out, t.fields, t.columns, t.vectors = t.out[:0], t.fields[:0], t.columns[:0], t.vectors[:0]
	translations.Put(t)
}

func (t *translation) add(c *store.Chunk) {
	fields, columns, vectors := len(t.fields), len(t.columns), len(t.vectors)
	for _, f := range c.Fields {
		t.fields = append(t.fields, engine.FieldText{Name: f.Name, Text: f.Text})
	}
	for _, column := range c.Columns {
		t.columns = append(t.columns, engine.Column{Name: column.Name, Values: t.values(column.Values)})
	}
	for _, v := range c.Vectors {
		t.vectors = append(t.vectors, engine.Vectors{Name: v.Name, Passages: v.Passages})
	}
	t.out = append(t.out, engine.Chunk{ID: string(c.ID), Doc: string(c.Doc), Fields: t.fields[fields:],
		Columns: t.columns[columns:], Vectors: t.vectors[vectors:]})
}

func (t *translation) values(from []sheaf.Value) []segment.Value {
	if len(from) == 0 {
		return nil
	}
	list := valueList{&from[0], len(from)}
	values, ok := t.shared[list]
	if !ok {
		values = make([]segment.Value, 0, len(from))
		for _, v := range from {
			if !v.IsZero() {
				values = append(values, engine.ValueOf(v))
			}
		}
		t.shared[list] = values
	}
	return values
}
