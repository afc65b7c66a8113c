package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"sheaf"
)

// maxLine is the largest number of bytes in a line of a file. A longer line is an error.
const maxLine = 64 << 20

// IsBEIR reports whether the folder dir has the BEIR layout.
func IsBEIR(dir string) bool {
	for _, name := range []string{"corpus.jsonl", "corpus.jsonl.gz"} {
		if st, err := os.Stat(filepath.Join(dir, name)); err == nil && !st.IsDir() {
			return true
		}
	}
	return false
}

// BEIR reads a folder with the BEIR layout: corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv. Each file may be
// compressed as .gz. If split is "", BEIR reads test.tsv, or the only file in qrels. It returns sheaf.ErrNotFound for a
// missing file. It returns sheaf.ErrInvalid, with file and line, for an invalid line and for a repeated document or
// query. A query without text and a judgement of an unknown query are invalid too.
func BEIR(dir, split string) (*Dataset, error) {
	d := &Dataset{Name: filepath.Base(dir)}
	if abs, err := filepath.Abs(dir); err == nil {
		d.Name = filepath.Base(abs)
	}
	qrels, err := qrelsFile(dir, split)
	if err != nil {
		return nil, err
	}
	if err := d.readCorpus(filepath.Join(dir, "corpus.jsonl")); err != nil {
		return nil, err
	}
	return d, d.readJudged(filepath.Join(dir, "queries.jsonl"), qrels)
}

// readJudged reads the files topics and qrels into d.
func (d *Dataset) readJudged(topics, qrels string) error {
	sum := xxh3.New()
	queries, err := readTopics(topics, sum)
	if err != nil {
		return err
	}
	if qrels, err = d.readQrels(qrels, sum); err != nil {
		return err
	}
	d.QueryHash = digest(sum)
	return d.judge(queries, qrels)
}

func digest(h *xxh3.Hasher) string {
	return fmt.Sprintf("%016x", h.Sum128().Hi)
}

// qrelsFile returns the file of judgements of a split in the folder dir: see [BEIR].
func qrelsFile(dir, split string) (string, error) {
	folder := filepath.Join(dir, "qrels")
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", notFound("read judgements", err)
	}
	var names []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(strings.TrimSuffix(e.Name(), ".gz"), ".tsv")
		if ok && !e.IsDir() && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch {
	case len(names) == 0:
		return "", fmt.Errorf("%s holds no judgements (a file such as test.tsv): %w", folder, sheaf.ErrNotFound)
	case split == "" && len(names) == 1:
		split = names[0]
	case split == "":
		split = "test"
	}
	if !slices.Contains(names, split) {
		return "", fmt.Errorf("%s has no split %q (it has %s): %w", folder, split, strings.Join(names, ", "),
			sheaf.ErrNotFound)
	}
	return filepath.Join(folder, split+".tsv"), nil
}

func (d *Dataset) readCorpus(file string) error {
	sum := xxh3.New()
	seen := map[string]int{}
	_, err := readLines(file, sum, func(name string, line int, raw []byte) error {
		var r struct {
			ID    *string `json:"_id"`
			Title string  `json:"title"`
			Text  *string `json:"text"`
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			return lineError(name, line, "%s", jsonFault(err))
		}
		switch {
		case r.ID == nil || *r.ID == "":
			return lineError(name, line, `a document needs an "_id" that is a text`)
		case r.Text == nil:
			return lineError(name, line, `document %q needs a "text"`, *r.ID)
		case seen[*r.ID] > 0:
			return lineError(name, line, "document %q stands in line %d already", *r.ID, seen[*r.ID])
		}
		seen[*r.ID] = line
		d.Documents = append(d.Documents, Document{*r.ID, r.Title, *r.Text})
		return nil
	})
	if err == nil && len(d.Documents) == 0 {
		err = sheaf.Invalidf("%s: has no documents", file)
	}
	d.Hash = digest(sum)
	return err
}

func readQueries(file string, sum hash.Hash) ([]Query, error) {
	var queries []Query
	_, err := readLines(file, sum, func(name string, line int, raw []byte) error {
		var r struct {
			ID       *string        `json:"_id"`
			Text     string         `json:"text"`
			Metadata map[string]any `json:"metadata"`
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			return lineError(name, line, "%s", jsonFault(err))
		}
		if r.ID == nil || *r.ID == "" {
			return lineError(name, line, `a query needs an "_id" that is a text`)
		}
		q := Query{ID: *r.ID, Text: r.Text, Class: map[string]string{}, where: fmt.Sprintf("%s:%d", name, line)}
		for k, v := range r.Metadata {
			if text, ok := v.(string); ok {
				q.Class[k] = text
			}
		}
		queries = append(queries, q)
		return nil
	})
	return queries, err
}

// judge sets d.Queries to the queries that have judgements. It returns an error for a repeated query, a judged query
// without text, and a judgement of an unknown query. qrels is the file of judgements, for errors.
func (d *Dataset) judge(queries []Query, qrels string) error {
	known := map[string]bool{}
	documents := make(map[string]*Document, len(d.Documents))
	for i := range d.Documents {
		documents[d.Documents[i].ID] = &d.Documents[i]
	}
	own := 0
	for _, q := range queries {
		if known[q.ID] {
			return sheaf.Invalidf("%s: query %q occurs twice", q.where, q.ID)
		}
		known[q.ID] = true
		if _, ok := d.Qrels[q.ID]; !ok {
			continue
		}
		if strings.TrimSpace(q.Text) == "" {
			return sheaf.Invalidf("%s: query %q has no text", q.where, q.ID)
		}
		if doc := documents[q.ID]; doc != nil && doc.has(q.Text) && d.Qrels[q.ID][q.ID] <= 0 {
			q.Own, q.Filter = true, sheaf.Not{Filter: sheaf.TextIn(sheaf.ColumnPath, q.ID)}
			own++
		}
		d.Queries = append(d.Queries, q)
	}
	for _, id := range slices.Sorted(maps.Keys(d.Qrels)) {
		if !known[id] {
			return sheaf.Invalidf("%s: judges query %q, which the queries do not have", d.Where[id], id)
		}
	}
	if len(d.Queries) == 0 {
		return sheaf.Invalidf("%s: has no judgements", qrels)
	}
	if own > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%d of %d queries are the text of the document with their ID: this "+
			"document is left out of their answers, as in BEIR", own, len(d.Queries)))
	}
	return d.checkTargets(qrels)
}

// has reports whether text is the text of the document, with or without its title. White space does not count.
func (d *Document) has(text string) bool {
	words := strings.Fields(text)
	return slices.Equal(words, strings.Fields(d.Text)) || slices.Equal(words, strings.Fields(d.Title+" "+d.Text))
}

// checkTargets adds a warning if some judged documents do not exist, and keeps these judgements. If none of the judged
// documents exists, it returns an error. The warning and the error begin with qrels, the file of judgements.
func (d *Dataset) checkTargets(qrels string) error {
	if d.Folder != "" {
		return nil
	}
	ids := make(map[string]bool, len(d.Documents))
	for i := range d.Documents {
		ids[d.Documents[i].ID] = true
	}
	missing, total, first := 0, 0, ""
	for _, q := range slices.Sorted(maps.Keys(d.Qrels)) {
		for _, target := range slices.Sorted(maps.Keys(d.Qrels[q])) {
			total++
			doc, _, _ := strings.Cut(target, "\x00")
			if ids[doc] {
				continue
			}
			if missing++; first == "" {
				first = fmt.Sprintf("%q of query %q", doc, q)
			}
		}
	}
	switch {
	case missing == total:
		return sheaf.Invalidf("%s: none of the %d judged documents is in the collection, such as %s: do the files "+
			"belong together?", qrels, total, first)
	case missing > 0:
		d.Warnings = append(d.Warnings, fmt.Sprintf("%s: %d of %d judged documents are not in the collection and count as "+
			"not found, such as %s", qrels, missing, total, first))
	}
	return nil
}

// readLines calls the function each for every line that is not blank. It reads file, or file.gz if file does not exist.
// It adds the content to sum, and returns the name of the file that it read.
func readLines(file string, sum hash.Hash, each func(name string, line int, raw []byte) error) (string, error) {
	f, name, err := open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	s := bufio.NewScanner(io.TeeReader(f, sum))
	s.Buffer(make([]byte, 0, 1<<20), maxLine)
	line := 0
	for s.Scan() {
		line++
		raw := s.Bytes()
		if line == 1 {
			raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
		}
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		if err := each(name, line, raw); err != nil {
			return name, err
		}
	}
	if err := s.Err(); err != nil {
		return name, lineError(name, line+1, "%w", err)
	}
	return name, nil
}

// open opens file, or file.gz if file does not exist. It returns the name of the opened file.
func open(file string) (io.ReadCloser, string, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) && !strings.HasSuffix(file, ".gz") {
		if g, zipErr := os.Open(file + ".gz"); zipErr == nil {
			f, file, err = g, file+".gz", nil
		}
	}
	if err != nil {
		return nil, "", notFound("read file", err)
	}
	if !strings.HasSuffix(file, ".gz") {
		return f, file, nil
	}
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		f.Close()
		return nil, "", sheaf.Invalidf("%s: %w", file, err)
	}
	return struct { // closing z would only close the reader above the file
		io.Reader
		io.Closer
	}{z, f}, file, nil
}

func notFound(doing string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w: %w", doing, sheaf.ErrNotFound, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// lineError returns the error for a fault at a line of a file. It wraps sheaf.ErrInvalid.
func lineError(name string, line int, format string, args ...any) error {
	return sheaf.Invalidf("%s:%d: %w", name, line, fmt.Errorf(format, args...))
}

// jsonFault describes a fault in a line of JSON without names of Go types.
func jsonFault(err error) string {
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		switch {
		case kind.Field == "":
			return "the line must be a JSON object"
		case kind.Type.Kind() == reflect.String:
			return fmt.Sprintf("%q must be a text", kind.Field)
		}
		return fmt.Sprintf("%q must be an object", kind.Field)
	}
	return "no valid JSON: " + err.Error()
}
