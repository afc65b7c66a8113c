package pgvector

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"sheaf"
	"sheaf/backend/textplan"
)

// copy writes chunks, whose terms and fields are known, under the numbers after
// before. Postings, which take longest, are put in order and encoded while the server
// takes the others.
func (w *load) copy(ctx context.Context, chunks []analyzed, before int64) error {
	var chunk, property, wall rows
	vectors := map[string]*rows{}
	for i := range chunks {
		w.chunkRow(&chunk, &chunks[i], before+int64(i)+1)
	}
	ordered := make(chan *rows, 1)
	go func() { ordered <- w.postingRows(chunks, before) }()
	defer func() {
		if ordered != nil {
			<-ordered
		}
	}()
	if err := w.send(ctx, &chunk, "chunk"); err != nil {
		return err
	}
	for i := range chunks {
		c := &chunks[i]
		ord := before + int64(i) + 1
		if w.s.o.RowSecurity {
			wallRow(&wall, c.source, ord)
		}
		for _, column := range c.source.Columns {
			for _, v := range column.Values {
				propertyRow(&property, ord, column.Name, v)
			}
		}
		for _, v := range c.source.Vectors {
			table := w.vector[v.Name].table()
			if vectors[table] == nil {
				vectors[table] = &rows{}
			}
			for n, p := range v.Passages {
				vectors[table].begin(3)
				vectors[table].int64(ord)
				vectors[table].int32(int32(n))
				vectors[table].vector(p)
				w.total.vectors++
			}
		}
	}
	w.total.chunks += int64(len(chunks))
	if err := w.send(ctx, &wall, "wall"); err != nil {
		return err
	}
	if err := w.send(ctx, &property, "property"); err != nil {
		return err
	}
	for _, table := range slices.Sorted(maps.Keys(vectors)) {
		if err := w.send(ctx, vectors[table], table); err != nil {
			return err
		}
	}
	posting := <-ordered
	ordered = nil
	return w.send(ctx, posting, "posting")
}

// send writes rows to a table. PostgreSQL copies none into tables behind a wall, so
// there they pass through a table of the transaction.
func (w *load) send(ctx context.Context, r *rows, table string) error {
	if !w.s.o.RowSecurity || len(r.b) == 0 {
		return r.copyTo(ctx, w.tx.Conn(), table)
	}
	staged := "staged_" + table
	if _, err := w.tx.Exec(ctx, fmt.Sprintf("CREATE TEMP TABLE IF NOT EXISTS %s (LIKE %s) ON COMMIT DROP", staged, table)); err != nil {
		return err
	}
	if err := r.copyTo(ctx, w.tx.Conn(), staged); err != nil {
		return err
	}
	if _, err := w.tx.Exec(ctx, fmt.Sprintf("INSERT INTO %s SELECT * FROM %s", table, staged)); err != nil {
		return err
	}
	_, err := w.tx.Exec(ctx, "TRUNCATE "+staged)
	return err
}

func (w *load) chunkRow(out *rows, c *analyzed, ord int64) {
	lens := make([]int32, 0, len(w.fields))
	texts := make([]string, 0, 2*len(c.fields))
	for j, f := range c.source.Fields {
		texts = append(texts, f.Name, f.Text)
		n := c.fields[j].Length
		if n == 0 {
			continue
		}
		at := w.fields[f.Name]
		at.chunks++
		at.tokens += int64(n)
		for len(lens) < int(at.id) {
			lens = append(lens, 0)
		}
		lens[at.id-1] = int32(n)
	}
	out.begin(5)
	out.int64(ord)
	out.bytes(string(c.source.ID))
	out.bytes(string(c.source.Doc))
	out.int32s(lens)
	out.strings(oidBytea, texts)
}

// posting is a row of the table posting.
type posting struct {
	term, field int32
	chunk       int64
	length      int32
	source      *textplan.Posting
}

// postingRows are the rows of chunks in the order of the table's key: the server fills
// its index faster so, and the postings of a term lie side by side.
func (w *load) postingRows(chunks []analyzed, before int64) *rows {
	n := 0
	for i := range chunks {
		for j := range chunks[i].fields {
			n += len(chunks[i].fields[j].Postings)
		}
	}
	list := make([]posting, 0, n)
	for i := range chunks {
		c := &chunks[i]
		for j, f := range c.fields {
			if f.Length == 0 {
				continue
			}
			id := w.fields[c.source.Fields[j].Name].id
			for k := range f.Postings {
				p := &f.Postings[k]
				list = append(list, posting{w.ids[p.Term], id, before + int64(i) + 1, int32(f.Length), p})
			}
		}
	}
	slices.SortFunc(list, func(a, b posting) int {
		if a.term != b.term {
			return cmp.Compare(a.term, b.term)
		}
		return cmp.Or(cmp.Compare(a.field, b.field), cmp.Compare(a.chunk, b.chunk))
	})
	out := &rows{b: make([]byte, 0, 80*len(list))}
	for _, p := range list {
		out.begin(6)
		out.int32(p.term)
		out.int32(p.field)
		out.int64(p.chunk)
		out.int32(int32(p.source.Frequency))
		out.int32(p.length)
		if len(p.source.Positions) == 0 {
			out.null()
		} else {
			out.int32s(p.source.Positions)
		}
	}
	return out
}

func propertyRow(out *rows, ord int64, name string, v sheaf.Value) {
	out.begin(5)
	out.int64(ord)
	out.bytes(name)
	out.int16(int16(v.Kind))
	if v.Kind == sheaf.KindText {
		out.bytes(v.Text)
		out.null()
		return
	}
	out.null()
	out.float64(v.Number)
}
