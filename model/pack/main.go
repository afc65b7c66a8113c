// Command pack turns a trained table into the model file that the binary
// carries.
//
//	go run ./model/pack -name sheaf-en-1 -vocab vocab.txt -table table.f32 -out model.bin
//
// The table is little-endian float32, one row after another.
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"

	"sheaf/inference/static"
)

func main() {
	name := flag.String("name", "", "the model's name with its version")
	vocab := flag.String("vocab", "vocab.txt", "the vocabulary, one piece a line")
	table := flag.String("table", "table.f32", "the rows, little-endian float32")
	out := flag.String("out", "model.bin", "the file to write")
	flag.Parse()
	if err := pack(*name, *vocab, *table, *out); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func pack(name, vocab, table, out string) error {
	text, err := os.ReadFile(vocab)
	if err != nil {
		return err
	}
	v, err := static.ParseVocabulary(text)
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(table)
	if err != nil {
		return err
	}
	if len(raw) == 0 || len(raw)%(4*v.Len()) != 0 {
		return fmt.Errorf("%s: %d bytes are not %d rows of float32", table, len(raw), v.Len())
	}
	dims := len(raw) / 4 / v.Len()
	rows := make([][]float32, v.Len())
	for i := range rows {
		rows[i] = make([]float32, dims)
		for j := range rows[i] {
			rows[i][j] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*(i*dims+j):]))
		}
	}
	var file bytes.Buffer
	if err := static.Write(&file, name, v, rows); err != nil {
		return err
	}
	m, err := static.Open(file.Bytes())
	if err != nil {
		return err
	}
	if err := errors.Join(m.Verify(), os.WriteFile(out, file.Bytes(), 0o644)); err != nil {
		return err
	}
	fmt.Printf("%s: %s, %d pieces of %d dims, %d bytes\n", out, name, v.Len(), dims, file.Len())
	return nil
}
