package dataset

import (
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"

	"sheaf/eval/metric"
)

// judgements reads a file of judgements into a data set.
type judgements struct {
	*Dataset
	columns *columns // nil before the first line
	// negative counts judgements with a negative gain, and repeated counts repeated ones.
	negative, repeated int
}

// columns says which field of a line, from 0, has the query, the document, the gain and the slug. -1 means that the
// lines have no such field. fields is the number of fields between tabs; 0 means that white space separates the fields.
type columns struct{ query, doc, gain, slug, fields int }

// readQrels reads judgements in one of two formats, and returns the name of the file that it read. In BEIR's format,
// tabs separate the fields. The header is query-id, corpus-id, score; for sections it is query-id, corpus-id,
// heading-slug. In TREC's format, white space separates query, iteration, document and gain, and there is no header.
func (d *Dataset) readQrels(file string, sum hash.Hash) (string, error) {
	d.Qrels, d.Where = map[string]metric.Judgements{}, map[string]string{}
	j := &judgements{Dataset: d}
	name, err := readLines(file, sum, func(name string, line int, raw []byte) error {
		text := strings.TrimRight(string(raw), "\r\n")
		if j.columns == nil {
			if header, err := j.layout(text, name, line); header || err != nil {
				return err
			}
		}
		return j.add(text, name, line)
	})
	if j.negative > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%s: negative gains, which count as not relevant: %d", name, j.negative))
	}
	if j.repeated > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%s: judgements written twice, with the same gain: %d", name,
			j.repeated))
	}
	return name, err
}

// layout finds out the format from text, the first line. It reports whether this line is a header. name and line are
// for errors.
func (j *judgements) layout(text, name string, line int) (header bool, err error) {
	fields := strings.Split(text, "\t")
	find := func(names ...string) int {
		return slices.IndexFunc(fields, func(f string) bool {
			return slices.Contains(names, strings.ToLower(strings.TrimSpace(f)))
		})
	}
	c := &columns{find("query-id", "query_id", "qid"), find("corpus-id", "corpus_id", "doc-id", "doc_id"),
		find("score", "gain", "relevance"), find("heading-slug"), len(fields)}
	j.columns = c
	if c.query >= 0 && c.doc >= 0 && (c.gain >= 0 || c.slug >= 0) {
		j.Sections = c.slug >= 0
		return true, nil
	}
	switch words := strings.Fields(text); {
	case len(words) == 4:
		*c = columns{query: 0, doc: 2, gain: 3, slug: -1}
		return false, nil
	case len(fields) == 3:
		*c = columns{query: 0, doc: 1, gain: 2, slug: -1, fields: 3}
		return false, nil
	}
	return false, lineError(name, line, "want judgements as query-id, corpus-id, score with tabs between, or as query, "+
		"0, document, gain: this line is %q", text)
}

func (j *judgements) add(text, name string, line int) error {
	c := j.columns
	fields := strings.Split(text, "\t")
	if c.fields == 0 {
		if fields = strings.Fields(text); len(fields) != 4 {
			return lineError(name, line, "want query, 0, document and gain, and there are %d words", len(fields))
		}
	} else if len(fields) < c.fields {
		return lineError(name, line, "want %d columns with tabs between them, and there are %d", c.fields, len(fields))
	}
	query, doc, gain := strings.TrimSpace(fields[c.query]), strings.TrimSpace(fields[c.doc]), 1
	if query == "" || doc == "" {
		return lineError(name, line, "the query or the document is empty")
	}
	if c.gain >= 0 {
		var err error
		if gain, err = strconv.Atoi(strings.TrimSpace(fields[c.gain])); err != nil {
			return lineError(name, line, "the gain is %q: must be a whole number", fields[c.gain])
		}
	}
	if gain < 0 {
		j.negative++
	}
	target := doc
	if c.slug >= 0 {
		target = Section(doc, strings.TrimSpace(fields[c.slug]))
	}
	if j.Qrels[query] == nil {
		j.Qrels[query] = metric.Judgements{}
		j.Where[query] = fmt.Sprintf("%s:%d", name, line)
	}
	if before, ok := j.Qrels[query][target]; ok {
		if before != gain {
			return lineError(name, line, "document %q of query %q has gain %d here and %d before", doc, query, gain, before)
		}
		j.repeated++
	}
	j.Qrels[query][target] = gain
	return nil
}
