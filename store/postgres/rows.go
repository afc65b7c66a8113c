package postgres

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"sheaf"
	"sheaf/store/storekit"
)

// sendColumns sends the columns and vectors of chunks; the first chunk has the number before+1.
func (w *load) sendColumns(chunks []analyzed, before int64) error {
	if err := w.makeVectors(chunks); err != nil {
		return err
	}
	var property, wall rows
	w.columnRows(&property, &wall, chunks, before)
	if err := w.send(&property, "property"); err != nil {
		return err
	}
	if err := w.send(&wall, "wall"); err != nil {
		return err
	}
	return w.sendVectors(chunks, before)
}

// sendTexts sends the texts of chunks, with terms that are new.
func (w *load) sendTexts(p *part, before int64) error {
	ids, fresh, err := w.intern(p)
	if err != nil {
		return err
	}
	w.total.chunks += int64(len(p.chunks))
	var terms, chunk rows
	for _, number := range fresh {
		terms.begin(2)
		terms.int32(ids[number])
		terms.bytes(p.terms[number])
	}
	if err := w.copyRows(&terms, "term"); err != nil {
		return err
	}
	var fields []int32
	for i := range p.chunks {
		fields = w.chunkRow(&chunk, &p.chunks[i], before+int64(i)+1, fields)
	}
	if err := w.send(&chunk, "chunk"); err != nil {
		return err
	}
	w.remember(p, ids, fresh)
	return w.send(postingRows(p, ids, fields, before), "posting")
}

// columnRows adds the columns of chunks, and, with row-level security, who may see them.
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

// sendVectors sends the passages of chunks, and counts them. It encodes them in pieces, because a
// document may have many.
func (w *load) sendVectors(chunks []analyzed, before int64) error {
	byTable := map[string]*rows{}
	for i := range chunks {
		for _, v := range chunks[i].source.Vectors {
			table := w.vector[v.Name].table()
			if byTable[table] == nil {
				byTable[table] = &rows{}
			}
			for n, p := range v.Passages {
				out := byTable[table]
				out.begin(3)
				out.int64(before + int64(i) + 1)
				out.int32(int32(n))
				out.vector(p)
				w.total.vectors++
				if len(out.b) < pieceBytes {
					continue
				}
				if err := w.send(out, table); err != nil {
					return err
				}
				byTable[table] = &rows{}
			}
		}
	}
	for _, table := range slices.Sorted(maps.Keys(byTable)) {
		if err := w.send(byTable[table], table); err != nil {
			return err
		}
	}
	return nil
}

// send queues rows for a table; the line owns them from then on. PostgreSQL refuses COPY into
// tables with row-level security, so such rows go through a temporary table.
func (w *load) send(r *rows, table string) error {
	if len(r.b) == 0 || !w.s.o.RowSecurity {
		return w.copyRows(r, table)
	}
	staged := "staged_" + table
	return w.put(len(r.b), func(ctx context.Context) error {
		if err := w.exec(ctx, fmt.Sprintf("CREATE TEMP TABLE IF NOT EXISTS %s (LIKE %s) ON COMMIT DROP", staged,
			table)); err != nil {
			return err
		}
		for piece := range r.pieces() {
			if err := w.copyPiece(ctx, piece, staged); err != nil {
				return err
			}
			if err := w.exec(ctx, fmt.Sprintf("INSERT INTO %s SELECT * FROM %s", table, staged)); err != nil {
				return err
			}
			if err := w.exec(ctx, "TRUNCATE "+staged); err != nil {
				return err
			}
		}
		return nil
	})
}

// copyRows queues rows to be copied to a table.
func (w *load) copyRows(r *rows, table string) error {
	if len(r.b) == 0 {
		return nil
	}
	return w.put(len(r.b), func(ctx context.Context) error {
		for piece := range r.pieces() {
			if err := w.copyPiece(ctx, piece, table); err != nil {
				return err
			}
		}
		return nil
	})
}

// exec runs a statement with the whole timeout.
func (w *load) exec(ctx context.Context, sql string) error {
	ctx, stop := w.s.bounded(ctx)
	defer stop()
	_, err := w.tx.Exec(ctx, sql)
	return err
}

// chunkRow adds the row of a chunk. It appends the IDs of the chunk's fields to a list, 0 for
// fields without terms.
func (w *load) chunkRow(out *rows, c *analyzed, ord int64, fields []int32) []int32 {
	lens := make([]int32, 0, len(w.fields))
	texts := make([]string, 0, 2*len(c.fields))
	for j, f := range c.source.Fields {
		texts = append(texts, f.Name, f.Text)
		n := c.fields[j].Length
		if n == 0 {
			fields = append(fields, 0)
			continue
		}
		at := w.fields[f.Name]
		fields = append(fields, at.id)
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
	return fields
}

// posting is a row of the table posting.
type posting struct {
	field, length int32
	chunk         int64
	source        *storekit.Posting
}

// postingRows returns the rows of chunks in the order of terms, then chunks: the server fills its
// index faster, and the postings of a term are stored together. ids are the IDs of the part's
// terms, fields those of its fields.
func postingRows(in *part, ids, fields []int32, before int64) *rows {
	ends := make([]int, len(ids)) // the end of each term's postings so far
	for _, number := range in.numbers {
		ends[number]++
	}
	positions := 0
	terms := make([]int32, len(ids)) // indices of terms in the order of IDs
	for i := range terms {
		terms[i] = int32(i)
	}
	slices.SortFunc(terms, func(a, b int32) int { return cmp.Compare(ids[a], ids[b]) })
	begin := 0
	for _, number := range terms {
		begin, ends[number] = begin+ends[number], begin
	}
	list := make([]posting, len(in.numbers))
	numbers := in.numbers
	for i := range in.chunks {
		for _, f := range in.chunks[i].fields {
			positions += f.Length
			for k, number := range numbers[:len(f.Postings)] {
				list[ends[number]] = posting{fields[0], int32(f.Length), before + int64(i) + 1, &f.Postings[k]}
				ends[number]++
			}
			numbers, fields = numbers[len(f.Postings):], fields[1:]
		}
	}
	out := &rows{b: make([]byte, 0, postingBytes*len(list)+8*positions)}
	begin = 0
	for _, number := range terms {
		for _, p := range list[begin:ends[number]] {
			p.row(out, ids[number])
		}
		begin = ends[number]
	}
	return out
}

// postingBytes is the size of a posting's row without its positions.
const postingBytes = 2 + 4*(4+4) + (4 + 8) + 4 + 20 // columns, four numbers and a long one, an array

// row adds the row with one append, because there are more postings than all other rows.
func (p *posting) row(out *rows, term int32) {
	out.begin(6)
	b, order := out.b, binary.BigEndian
	b = order.AppendUint32(order.AppendUint32(b, 4), uint32(term))
	b = order.AppendUint32(order.AppendUint32(b, 4), uint32(p.field))
	b = order.AppendUint64(order.AppendUint32(b, 8), uint64(p.chunk))
	b = order.AppendUint32(order.AppendUint32(b, 4), uint32(p.source.Frequency))
	out.b = order.AppendUint32(order.AppendUint32(b, 4), uint32(p.length))
	if len(p.source.Positions) == 0 {
		out.null()
		return
	}
	out.int32s(p.source.Positions)
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
