package pgvector

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"sheaf"
	"sheaf/backend/textplan"
)

// copy writes chunks, whose terms and fields are known, under the numbers after
// before. What does not come first is encoded while the server takes what does.
func (w *load) copy(ctx context.Context, p *part, ids []int32, before int64) error {
	var chunk, property, wall rows
	for i := range p.chunks {
		w.chunkRow(&chunk, &p.chunks[i], before+int64(i)+1)
	}
	var encoding sync.WaitGroup
	defer encoding.Wait() // it reads what is the caller's again
	var vectors map[string]*rows
	posting := make(chan *rows, 1)
	encoded := make(chan struct{})
	encoding.Go(func() {
		w.columnRows(&property, &wall, p.chunks, before)
		vectors = w.vectorRows(p.chunks, before)
		close(encoded)
		posting <- w.postingRows(p, ids, before)
	})
	if err := w.send(ctx, &chunk, "chunk"); err != nil {
		return err
	}
	<-encoded
	w.total.chunks += int64(len(p.chunks))
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
	return w.send(ctx, <-posting, "posting")
}

// columnRows adds the columns of chunks, and who may see them where there is a wall.
func (w *load) columnRows(property, wall *rows, chunks []analyzed, before int64) {
	for i := range chunks {
		c, ord := chunks[i].source, before+int64(i)+1
		if w.s.o.RowSecurity {
			wallRow(wall, c, ord)
		}
		for _, column := range c.Columns {
			for _, v := range column.Values {
				propertyRow(property, ord, column.Name, v)
			}
		}
	}
}

// vectorRows are the passages of chunks, by table; it counts them.
func (w *load) vectorRows(chunks []analyzed, before int64) map[string]*rows {
	out := map[string]*rows{}
	for i := range chunks {
		for _, v := range chunks[i].source.Vectors {
			table := w.vector[v.Name].table()
			if out[table] == nil {
				out[table] = &rows{}
			}
			for n, p := range v.Passages {
				out[table].begin(3)
				out[table].int64(before + int64(i) + 1)
				out[table].int32(int32(n))
				out[table].vector(p)
				w.total.vectors++
			}
		}
	}
	return out
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
func (w *load) postingRows(in *part, ids []int32, before int64) *rows {
	list := make([]posting, 0, len(in.numbers))
	numbers := in.numbers
	for i := range in.chunks {
		c := &in.chunks[i]
		for j, f := range c.fields {
			if f.Length > 0 {
				id := w.fields[c.source.Fields[j].Name].id
				for k, number := range numbers[:len(f.Postings)] {
					list = append(list, posting{ids[number], id, before + int64(i) + 1, int32(f.Length), &f.Postings[k]})
				}
			}
			numbers = numbers[len(f.Postings):]
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
