// Command pack turns the trained table of many languages into the file that the binary carries.
//
//	go run ./model/multilingual/pack -name sheaf-ml-1 -vocab vocab.tsv -table table.npy -out sheaf-ml-1.bin
//
// The vocabulary has one piece a line: the piece, its score, its language number (-127 to 127, above 0 when it occurs
// more often in English than elsewhere) and 1 or 0, whether training saw it, separated by tabs. The table is a NumPy
// file of little-endian float32, one row a piece.
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sheaf/inference/static"
	"sheaf/inference/static/english"
)

func main() {
	name := flag.String("name", "", "the table's name with its version")
	vocab := flag.String("vocab", "vocab.tsv", "the pieces")
	table := flag.String("table", "table.npy", "the rows")
	out := flag.String("out", "table.bin", "the file to write")
	flag.Parse()
	if err := pack(*name, *vocab, *table, *out); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func pack(name, vocab, table, out string) error {
	pieces, unknown, err := readPieces(vocab)
	if err != nil {
		return err
	}
	if err := readRows(table, pieces); err != nil {
		return err
	}
	model, err := english.Open()
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := static.WriteUnigram(&file, name, pieces, unknown, model.Vocabulary()); err != nil {
		return err
	}
	u, err := static.OpenUnigram(file.Bytes())
	if err != nil {
		return err
	}
	if err := errors.Join(u.Verify(), os.WriteFile(out, file.Bytes(), 0o644)); err != nil {
		return err
	}
	fmt.Printf("%s: %s, %d pieces of %d dims, %d bytes\n", out, name, u.Len(), u.Dims(), file.Len())
	return nil
}

// special are the pieces of the vocabulary that no text has.
var special = []string{"<s>", "<pad>", "</s>", unknownPiece, "<mask>"}

const unknownPiece = "<unk>"

// readPieces reads the vocabulary, and finds the piece for unknown characters.
func readPieces(path string) (pieces []static.UnigramPiece, unknown int, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, err
	}
	unknown = -1
	for i, line := range strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n") {
		columns := strings.Split(line, "\t")
		if len(columns) != 4 {
			return nil, 0, fmt.Errorf("%s: line %d has %d columns, not 4", path, i+1, len(columns))
		}
		p := static.UnigramPiece{Text: columns[0], Seen: columns[3] == "1"}
		score, err1 := strconv.ParseFloat(columns[1], 64)
		number, err2 := strconv.ParseInt(columns[2], 10, 8)
		if err := errors.Join(err1, err2); err != nil {
			return nil, 0, fmt.Errorf("%s: line %d: %w", path, i+1, err)
		}
		p.Score, p.English = score, int8(number)
		if p.Text == unknownPiece {
			unknown = i
		}
		if slices.Contains(special, p.Text) {
			p = static.UnigramPiece{}
		}
		pieces = append(pieces, p)
	}
	if unknown < 0 {
		return nil, 0, fmt.Errorf("%s: no piece %s", path, unknownPiece)
	}
	return pieces, unknown, nil
}

var shape = regexp.MustCompile(`'descr': '<f4', 'fortran_order': False, 'shape': \((\d+), (\d+)\)`)

// readRows reads the table into pieces.
func readRows(path string, pieces []static.UnigramPiece) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if len(raw) < 10 || string(raw[:8]) != "\x93NUMPY\x01\x00" {
		return fmt.Errorf("%s: not a NumPy file of version 1.0", path)
	}
	start := 10 + int(binary.LittleEndian.Uint16(raw[8:]))
	if start > len(raw) {
		return fmt.Errorf("%s: it is cut off", path)
	}
	sizes := shape.FindSubmatch(raw[:start])
	if sizes == nil {
		return fmt.Errorf("%s: not rows of little-endian float32: %q", path, raw[10:start])
	}
	rows, _ := strconv.Atoi(string(sizes[1]))
	dims, _ := strconv.Atoi(string(sizes[2]))
	if raw = raw[start:]; rows != len(pieces) || len(raw) != rows*dims*4 {
		return fmt.Errorf("%s: %d bytes for %d rows of %d, and %d pieces", path, len(raw), rows, dims, len(pieces))
	}
	for i := range pieces {
		row := make([]float32, dims)
		for j := range row {
			row[j] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*(i*dims+j):]))
		}
		pieces[i].Row = row
	}
	return nil
}
