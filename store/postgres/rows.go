package postgres

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"sheaf"
	"sheaf/store/storekit"
)

// rows returns empty rows of a table.
func (w *load) rows(table string) *rows { return &rows{w: w, table: table} }

// sendColumns sends the columns and vectors of chunks; the first chunk has the number before+1.
func (w *load) sendColumns(chunks []analyzed, before int64) error {
	if err := w.makeVectors(chunks); err != nil {
		return err
	}
	property, wall := w.rows("property"), w.rows("wall")
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
	if err := property.send(); err != nil {
		return err
	}
	if err := wall.send(); err != nil {
		return err
	}
	return w.sendVectors(chunks, before)
}

// sendTexts sends the texts of chunks, with the new terms.
func (w *load) sendTexts(p *part, before int64) error {
	ids, fresh, err := w.intern(p)
	if err != nil {
		return err
	}
	w.added.chunks += int64(len(p.chunks))
	terms, chunk := w.rows("term"), w.rows("chunk")
	for _, number := range fresh {
		terms.begin(2)
		terms.int32(ids[number])
		terms.bytes(p.terms[number])
	}
	if err := terms.send(); err != nil {
		return err
	}
	var fields []int32
	for i := range p.chunks {
		fields = w.chunkRow(chunk, &p.chunks[i], before+int64(i)+1, fields)
	}
	if err := chunk.send(); err != nil {
		return err
	}
	w.remember(p, ids, fresh)
	return w.sendPostings(p, ids, fields, before)
}

// sendVectors sends the passages of chunks, and counts them.
func (w *load) sendVectors(chunks []analyzed, before int64) error {
	byTable := map[string]*rows{}
	for i := range chunks {
		for _, v := range chunks[i].source.Vectors {
			table := w.vector[v.Name].table()
			out := byTable[table]
			if out == nil {
				out = w.rows(table)
				byTable[table] = out
			}
			for n, p := range v.Passages {
				out.begin(3)
				out.int64(before + int64(i) + 1)
				out.int32(int32(n))
				out.vector(p)
				w.added.vectors++
			}
		}
	}
	for _, table := range slices.Sorted(maps.Keys(byTable)) {
		if err := byTable[table].send(); err != nil {
			return err
		}
	}
	return nil
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

// sendPostings sends the postings of chunks in the order of terms, then chunks: the server fills its
// index faster, and the postings of a term are stored together. ids are the IDs of the part's
// terms, fields those of its fields.
func (w *load) sendPostings(in *part, ids, fields []int32, before int64) error {
	ends := make([]int, len(ids)) // the end of each term's postings so far
	for _, number := range in.numbers {
		ends[number]++
	}
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
			for k, number := range numbers[:len(f.Postings)] {
				list[ends[number]] = posting{fields[0], int32(f.Length), before + int64(i) + 1, &f.Postings[k]}
				ends[number]++
			}
			numbers, fields = numbers[len(f.Postings):], fields[1:]
		}
	}
	out := w.rows("posting")
	begin = 0
	for _, number := range terms {
		for _, p := range list[begin:ends[number]] {
			p.row(out, ids[number])
		}
		begin = ends[number]
	}
	return out.send()
}

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
