package main

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// record is one document of the corpus.
type record struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// query is one query with its relevant records.
type query struct {
	ID       string   `json:"_id"`
	Text     string   `json:"text"`
	Metadata metadata `json:"metadata"`
	relevant []string
}

type metadata struct {
	Class   string   `json:"class"`
	Sources []string `json:"sources,omitempty"`
}

// collection is the output of a maker.
type collection struct {
	records []record
	queries []query
	about   string // how the queries were made and what was dropped
}

// sort orders records by ID and queries by text, and gives queries their IDs.
func (c *collection) sort() {
	slices.SortFunc(c.records, func(a, b record) int { return strings.Compare(a.ID, b.ID) })
	slices.SortStableFunc(c.queries, func(a, b query) int { return strings.Compare(a.Text, b.Text) })
	for i := range c.queries {
		c.queries[i].ID = fmt.Sprintf("q%05d", i+1)
		slices.Sort(c.queries[i].relevant)
	}
}

// limit keeps the relevant records, and a sample of the others up to n records in total.
func (c *collection) limit(n int) {
	if len(c.records) <= n {
		return
	}
	relevant := map[string]bool{}
	for _, q := range c.queries {
		for _, id := range q.relevant {
			relevant[id] = true
		}
	}
	var kept, others []record
	for _, r := range c.records {
		if relevant[r.ID] {
			kept = append(kept, r)
		} else {
			others = append(others, r)
		}
	}
	c.records = append(kept, sample(others, max(n-len(kept), 0), func(r record) string { return r.ID })...)
}

// classes returns the number of queries of each class as a text: "title 3, overlap 9, low 5, none 1". See classOf.
func (c *collection) classes() string {
	count := map[string]int{}
	for _, q := range c.queries {
		count[q.Metadata.Class]++
	}
	var parts []string
	for _, class := range []string{"title", "overlap", "low", "none"} {
		parts = append(parts, fmt.Sprintf("%s %d", class, count[class]))
	}
	return strings.Join(parts, ", ")
}

// write writes the collection to a new folder. If the folder exists, write returns an error. The folder appears when it
// is complete.
func (c *collection) write(folder string, o *options) error {
	if _, err := os.Stat(folder); err == nil {
		return fmt.Errorf("write %s: the folder exists; remove it first", folder)
	}
	part := filepath.Clean(folder) + ".part"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(part, "qrels"), 0o777); err != nil {
		return err
	}
	corpus, err := lines(c.records)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(corpus); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	queries, err := lines(c.queries)
	if err != nil {
		return err
	}
	var qrels strings.Builder
	qrels.WriteString("query-id\tcorpus-id\tscore\n")
	judgements := 0
	for _, q := range c.queries {
		for _, id := range q.relevant {
			fmt.Fprintf(&qrels, "%s\t%s\t1\n", q.ID, id)
			judgements++
		}
	}
	readme := fmt.Sprintf("# %s\n\n- Source: %s, snapshot %s; built by lab/bench/collect, no human labels\n"+
		"- Licence: %s\n- Language: %s\n- Counts: %d records, %d queries, %d judgements\n- Classes: %s\n\n%s\n",
		filepath.Base(filepath.Clean(folder)), strings.TrimSpace(o.source+" "+o.under),
		cmp.Or(o.snapshot, "unknown"), o.licence, o.language, len(c.records), len(c.queries), judgements, c.classes(),
		strings.TrimSpace(c.about))
	for name, text := range map[string][]byte{
		"corpus.jsonl.gz": packed.Bytes(), "queries.jsonl": queries, "qrels/test.tsv": []byte(qrels.String()),
		"README.md": []byte(readme),
	} {
		if err := os.WriteFile(filepath.Join(part, filepath.FromSlash(name)), text, 0o666); err != nil {
			return err
		}
	}
	return os.Rename(part, folder)
}

func lines[T any](items []T) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, item := range items {
		if err := e.Encode(item); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

const indexHeader = "name\tkind\tlanguage\tqueries\trecords\tsource\tlicence\tsplit"

// addToIndex adds or replaces the line of a collection in file. A replaced line keeps its split. All collections of one
// source are in one split: a held collection never shares pages with a development collection.
func addToIndex(file, name string, c *collection, o *options) error {
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	var rows [][]string
	at, split := -1, ""
	for line := range strings.Lines(string(text)) {
		row := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(row) != 8 || row[0] == "name" {
			continue
		}
		if row[0] == name {
			at, split = len(rows), row[7]
		}
		rows = append(rows, row)
	}
	row := []string{name, o.kind, o.language, fmt.Sprint(len(c.queries)), fmt.Sprint(len(c.records)), o.source,
		o.licence, cmp.Or(o.split, split, splitFor(rows, o.kind, o.source))}
	if at >= 0 {
		rows[at] = row
	} else {
		rows = append(rows, row)
	}
	var b strings.Builder
	b.WriteString(indexHeader + "\n")
	for _, row := range rows {
		b.WriteString(strings.Join(row, "\t") + "\n")
	}
	part := file + ".part"
	if err := os.WriteFile(part, []byte(b.String()), 0o666); err != nil {
		return err
	}
	return os.Rename(part, file)
}

// splitFor returns the split of the source's other collections. A new source goes to the split with fewer collections
// of its kind. If both have equally many, a hash of the source's name decides.
func splitFor(rows [][]string, kind, source string) string {
	count := map[string]int{}
	for _, row := range rows {
		if row[5] == source {
			return row[7]
		}
		if row[1] == kind {
			count[row[7]]++
		}
	}
	switch {
	case count["dev"] < count["held"]:
		return "dev"
	case count["dev"] > count["held"], order(source)%2 == 0:
		return "held"
	}
	return "dev"
}

// writeTree writes each record of a collection to the file that its ID names. It returns the number of records.
func writeTree(from, to string) (int, error) {
	f, err := os.Open(filepath.Join(from, "corpus.jsonl.gz"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	n := 0
	s := bufio.NewScanner(z)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		var r record
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			return n, fmt.Errorf("read %s: record %d: %w", f.Name(), n+1, err)
		}
		if !filepath.IsLocal(filepath.FromSlash(r.ID)) {
			return n, fmt.Errorf("write record %q: the ID is no relative path", r.ID)
		}
		name := filepath.Join(to, filepath.FromSlash(r.ID))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return n, err
		}
		if err := os.WriteFile(name, []byte(r.Text), 0o666); err != nil {
			return n, err
		}
		n++
	}
	return n, s.Err()
}
