package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// rows are rows of one table in the binary format of COPY: a count of columns, then each column as
// its length in bytes and its bytes, numbers big-endian. They are sent in pieces.
type rows struct {
	w     *load
	table string
	b     []byte // the rows of the next piece
}

// pieceBytes is the approximate size of a piece. The server has the whole timeout for each piece.
const pieceBytes = 4 << 20

var (
	copyHeader = append([]byte("PGCOPY\n\xff\r\n\x00"), make([]byte, 8)...)
	copyEnd    = []byte{0xff, 0xff}
)

// Codes of the types of array elements.
const (
	oidInt4  = 23
	oidBytea = 17
	oidText  = 25
)

// begin begins a row. It first sends the rows before if they are enough for a piece.
func (r *rows) begin(columns int) {
	if len(r.b) >= pieceBytes {
		_ = r.send() // the next call of send returns the same error
	}
	r.b = binary.BigEndian.AppendUint16(r.b, uint16(columns))
}

func (r *rows) length(n int) { r.b = binary.BigEndian.AppendUint32(r.b, uint32(n)) }

func (r *rows) null() { r.b = binary.BigEndian.AppendUint32(r.b, math.MaxUint32) }

func (r *rows) bytes(v string) {
	r.length(len(v))
	r.b = append(r.b, v...)
}

func (r *rows) int16(v int16) {
	r.length(2)
	r.b = binary.BigEndian.AppendUint16(r.b, uint16(v))
}

func (r *rows) int32(v int32) {
	r.length(4)
	r.b = binary.BigEndian.AppendUint32(r.b, uint32(v))
}

func (r *rows) int64(v int64) {
	r.length(8)
	r.b = binary.BigEndian.AppendUint64(r.b, uint64(v))
}

func (r *rows) float64(v float64) {
	r.length(8)
	r.b = binary.BigEndian.AppendUint64(r.b, math.Float64bits(v))
}

// array begins an array of n elements with size bytes in all, without the length before each.
func (r *rows) array(oid, n, size int) {
	if n == 0 {
		r.length(12)
		r.b = append(r.b, make([]byte, 8)...)
		r.b = binary.BigEndian.AppendUint32(r.b, uint32(oid))
		return
	}
	r.length(20 + 4*n + size)
	for _, v := range []int{1, 0, oid, n, 1} { // dimensions, no nulls, type, length, first index
		r.b = binary.BigEndian.AppendUint32(r.b, uint32(v))
	}
}

func (r *rows) int32s(list []int32) {
	r.array(oidInt4, len(list), 4*len(list))
	b := r.b
	for _, v := range list {
		b = binary.BigEndian.AppendUint64(b, 4<<32|uint64(uint32(v))) // the length of an element, then its value
	}
	r.b = b
}

func (r *rows) strings(oid int, list []string) {
	size := 0
	for _, v := range list {
		size += len(v)
	}
	r.array(oid, len(list), size)
	for _, v := range list {
		r.bytes(v)
	}
}

// vector writes pgvector's own format.
func (r *rows) vector(v []float32) {
	r.length(4 + 4*len(v))
	r.b = binary.BigEndian.AppendUint16(r.b, uint16(len(v)))
	r.b = append(r.b, 0, 0)
	for _, x := range v {
		r.b = binary.BigEndian.AppendUint32(r.b, math.Float32bits(x))
	}
}

// send queues the rows; their columns are all columns of the table, in its order. PostgreSQL refuses
// COPY into tables with row-level security, so such rows go through a temporary table.
func (r *rows) send() error {
	piece := r.b
	if r.b = nil; len(piece) == 0 {
		return nil
	}
	walled := r.w.s.o.RowSecurity && r.table != "term"
	return r.w.put(func(ctx context.Context) error {
		if !walled {
			return r.w.copyPiece(ctx, piece, r.table)
		}
		staged := "staged_" + r.table
		err := r.w.exec(ctx, fmt.Sprintf("CREATE TEMP TABLE IF NOT EXISTS %s (LIKE %s) ON COMMIT DROP", staged, r.table))
		if err == nil {
			err = r.w.copyPiece(ctx, piece, staged)
		}
		if err == nil {
			err = r.w.exec(ctx, fmt.Sprintf("INSERT INTO %s SELECT * FROM %s", r.table, staged))
		}
		if err == nil {
			err = r.w.exec(ctx, "TRUNCATE "+staged)
		}
		return err
	})
}

// copyPiece writes rows to a table, whose columns they fill in their order.
func (w *load) copyPiece(ctx context.Context, piece []byte, table string) error {
	ctx, stop := w.s.bounded(ctx)
	defer stop()
	source := io.MultiReader(bytes.NewReader(copyHeader), bytes.NewReader(piece), bytes.NewReader(copyEnd))
	_, err := w.tx.Conn().PgConn().CopyFrom(ctx, source, fmt.Sprintf("COPY %s FROM STDIN (FORMAT binary)", table))
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("copy to %s: %w: %w", table, ctx.Err(), err) // the driver only says: closed
	}
	return err
}

// exec runs a statement with the whole timeout.
func (w *load) exec(ctx context.Context, sql string) error {
	ctx, stop := w.s.bounded(ctx)
	defer stop()
	_, err := w.tx.Exec(ctx, sql)
	return err
}
