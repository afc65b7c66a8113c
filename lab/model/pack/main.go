// Command pack turns a trained table into a file for the program.
//
//	go run ./lab/model/pack -name sheaf-en-1 -vocab vocab.txt -table table.npy -out sheaf-en-1.bin
//	go run ./lab/model/pack -name sheaf-ml-1 -vocab vocab.tsv -table table.npy -out sheaf-ml-1.bin
//
// The table is a NumPy file of little-endian float32, one row per piece. A vocabulary whose name ends in .txt is for
// the English table, and has one piece per line. A vocabulary whose name ends in .tsv is for the table of many
// languages. Its columns are the piece, its score, its language number (-127..127, positive for English), and whether
// training saw it.
package main

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sheaf/model/static"
	"sheaf/model/static/english"
)

func main() {
	name := flag.String("name", "", "the table's name with its version")
	vocab := flag.String("vocab", "vocab.txt", "the pieces")
	table := flag.String("table", "table.npy", "the rows")
	out := flag.String("out", "table.bin", "the file to write")
	flag.Parse()
	if err := pack(*name, *vocab, *table, *out); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func pack(name, vocab, table, out string) error {
	rows, err := readRows(table)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(vocab)
	if err != nil {
		return err
	}
	write := writeEnglish
	if filepath.Ext(vocab) == ".tsv" {
		write = writeOthers
	}
	file, err := write(name, string(text), rows)
	if err != nil {
		return fmt.Errorf("%s: %w", vocab, err)
	}
	if err := os.WriteFile(out, file, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s: %s, %d pieces of %d dims, %d bytes\n", out, name, len(rows), len(rows[0]), len(file))
	return nil
}

func writeEnglish(name, text string, rows [][]float32) ([]byte, error) {
	v, err := static.ParseVocabulary([]byte(text))
	if err != nil {
		return nil, err
	}
	file, err := static.Write(name, v, rows)
	if err != nil {
		return nil, err
	}
	m, err := static.Open(file)
	if err != nil {
		return nil, err
	}
	return file, m.Verify()
}

func writeOthers(name, text string, rows [][]float32) ([]byte, error) {
	pieces, unknown, err := readPieces(text, rows)
	if err != nil {
		return nil, err
	}
	model, err := english.Open()
	if err != nil {
		return nil, err
	}
	file, err := static.WriteUnigram(name, pieces, unknown, model.Vocabulary())
	if err != nil {
		return nil, err
	}
	u, err := static.OpenUnigram(file)
	if err != nil {
		return nil, err
	}
	return file, u.Verify()
}

// special lists the pieces that never occur in a text.
var special = []string{"<s>", "<pad>", "</s>", unknownPiece, "<mask>"}

const unknownPiece = "<unk>"

// readPieces reads the vocabulary. rows[i] is the vector on line i. unknown is the number of the piece <unk>.
func readPieces(text string, rows [][]float32) (pieces []static.UnigramPiece, unknown int, err error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != len(rows) {
		return nil, 0, fmt.Errorf("%d pieces for %d rows", len(lines), len(rows))
	}
	unknown = -1
	for i, line := range lines {
		columns := strings.Split(line, "\t")
		if len(columns) != 4 {
			return nil, 0, fmt.Errorf("line %d has %d columns, not 4", i+1, len(columns))
		}
		score, err1 := strconv.ParseFloat(columns[1], 64)
		number, err2 := strconv.ParseInt(columns[2], 10, 8)
		if err := errors.Join(err1, err2); err != nil {
			return nil, 0, fmt.Errorf("line %d: %w", i+1, err)
		}
		p := static.UnigramPiece{Row: rows[i]}
		if columns[0] == unknownPiece {
			unknown = i
		}
		if !slices.Contains(special, columns[0]) {
			p.Text, p.Score, p.English, p.Seen = columns[0], score, int8(number), columns[3] == "1"
		}
		pieces = append(pieces, p)
	}
	if unknown < 0 {
		return nil, 0, fmt.Errorf("no piece %s", unknownPiece)
	}
	return pieces, unknown, nil
}

var shape = regexp.MustCompile(`'descr': '<f4', 'fortran_order': False, 'shape': \((\d+), (\d+)\)`)

// readRows reads a NumPy file.
func readRows(path string) ([][]float32, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(raw) < 10 || string(raw[:8]) != "\x93NUMPY\x01\x00" {
		return nil, fmt.Errorf("%s: not a NumPy file of version 1.0", path)
	}
	start := 10 + int(binary.LittleEndian.Uint16(raw[8:]))
	if start > len(raw) {
		return nil, fmt.Errorf("%s: it is cut off", path)
	}
	sizes := shape.FindSubmatch(raw[:start])
	if sizes == nil {
		return nil, fmt.Errorf("%s: not rows of little-endian float32: %q", path, raw[10:start])
	}
	n, _ := strconv.Atoi(string(sizes[1]))
	dims, _ := strconv.Atoi(string(sizes[2]))
	if raw = raw[start:]; n == 0 || dims == 0 || len(raw) != n*dims*4 {
		return nil, fmt.Errorf("%s: %d bytes for %d rows of %d", path, len(raw), n, dims)
	}
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = make([]float32, dims)
		for j := range rows[i] {
			rows[i][j] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*(i*dims+j):]))
		}
	}
	return rows, nil
}
