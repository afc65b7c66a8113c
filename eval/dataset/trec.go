package dataset

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"sheaf"
	"sheaf/eval/metric"
	"sheaf/rank/runfile"
)

// TREC reads topics and judgements for a collection. The collection is a folder with the BEIR layout, or a folder of
// notes, which qrels names by their paths. The topics have one of three forms: lines, BEIR's JSON or TREC's <top>
// records. A line has an ID, a tab and a text. JSON is in a file whose name ends in .jsonl. The title of a <top> record
// is the query. TREC returns the same errors as [BEIR].
func TREC(collection, topics, qrels string) (*Dataset, error) {
	abs, err := filepath.Abs(collection)
	if err != nil {
		return nil, err
	}
	d := &Dataset{Name: filepath.Base(abs)}
	if IsBEIR(collection) {
		if err := d.readCorpus(filepath.Join(collection, "corpus.jsonl")); err != nil {
			return nil, err
		}
	} else if d.Folder, err = folder(abs); err != nil {
		return nil, err
	}
	return d, d.readJudged(topics, qrels)
}

func readTopics(file string, sum *xxh3.Hasher) ([]Query, error) {
	if strings.HasSuffix(strings.TrimSuffix(file, ".gz"), ".jsonl") {
		return readQueries(file, sum)
	}
	var t topics
	_, err := readLines(file, sum, func(name string, line int, raw []byte) error {
		text := strings.TrimSpace(string(raw))
		if t.records = t.records || len(t.queries) == 0 && strings.HasPrefix(text, "<"); t.records {
			return t.record(text, name, line)
		}
		id, text, ok := strings.Cut(strings.TrimRight(string(raw), "\r"), "\t")
		if id = strings.TrimSpace(id); !ok || id == "" {
			return lineError(name, line, "want an ID, a tab and the text of a query")
		}
		t.queries = append(t.queries, Query{ID: id, Text: strings.TrimSpace(text), where: fmt.Sprintf("%s:%d", name, line)})
		return nil
	})
	if err == nil && t.inside {
		err = sheaf.Invalidf("%s: a <top> has no </top>", t.q.where)
	}
	return t.queries, err
}

// topics has the topics that were read from a file so far.
type topics struct {
	queries []Query
	records bool   // the file has TREC's <top> records
	q       Query  // the current record
	field   string // its current field
	inside  bool   // a record has begun, and has not ended
}

// record reads a line of TREC's records. They look like XML, but a tag may stay open, and a value ends at the next tag.
func (t *topics) record(text, name string, line int) error {
	for text != "" {
		before, tag, rest := cutTag(text)
		switch t.field {
		case "num":
			t.q.ID += strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(before), "Number:"))
		case "title":
			t.q.Text = strings.TrimSpace(t.q.Text + " " + strings.TrimPrefix(strings.TrimSpace(before), "Topic:"))
		}
		text = rest
		switch tag {
		case "":
		case "top":
			if t.inside {
				return lineError(name, line, "a <top> begins inside another one")
			}
			t.q, t.inside, t.field = Query{where: fmt.Sprintf("%s:%d", name, line)}, true, ""
		case "/top":
			if t.q.ID == "" {
				return lineError(name, line, "the topic has no <num>")
			}
			t.queries, t.inside, t.field = append(t.queries, t.q), false, ""
		default:
			if t.field = tag; strings.HasPrefix(tag, "/") {
				t.field = ""
			}
		}
	}
	return nil
}

// cutTag splits text at its first tag. It returns the text before the tag, the tag's name in small letters, and the
// text after the tag. Without a tag, before is the whole text.
func cutTag(text string) (before, tag, rest string) {
	open := strings.IndexByte(text, '<')
	if open < 0 {
		return text, "", ""
	}
	end := strings.IndexByte(text[open:], '>')
	if end < 0 {
		return text, "", ""
	}
	name, _, _ := strings.Cut(text[open+1:open+end], " ")
	return text[:open], strings.ToLower(name), text[open+end+1:]
}

// ReadRun reads a run file, in a format of package runfile. Queries and documents have the names that
// [Dataset.WriteRun] writes. As in trec_eval, the scores decide the order of documents, and ReadRun ignores the ranks.
// It returns sheaf.ErrInvalid with file and line for a repeated document, and for a score that is not finite. name is
// the name of the run in the file.
func (d *Dataset) ReadRun(file string) (rankings map[string][]metric.Scored, name string, err error) {
	f, file, err := open(file)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	run, err := runfile.Read(file, f)
	if err != nil {
		return nil, "", err
	}
	if again := run.Again; run.Repeated > 0 {
		if again.Line > 0 {
			file = fmt.Sprintf("%s:%d", file, again.Line)
		}
		return nil, "", sheaf.Invalidf("%s: query %q lists %q twice", file, again.Query, again.ID)
	}
	queries, targets := map[string]string{}, map[string]string{}
	for id, j := range d.Qrels {
		queries[runID(id)] = id
		for target := range j {
			targets[runID(target)] = target
		}
	}
	rankings = make(map[string][]metric.Scored, len(run.Rankings))
	for query, ranking := range run.Rankings {
		list := make([]metric.Scored, len(ranking))
		for i, h := range ranking {
			list[i] = metric.Scored{ID: string(h.ID), Score: h.Score}
			if target, ok := targets[list[i].ID]; ok {
				list[i].ID = target
			}
		}
		rankings[cmp.Or(queries[query], query)] = metric.Order(list)
	}
	return rankings, run.Name, nil
}

// WriteRun writes rankings as a TREC run file. Queries have the order of d. A reader may change the order of equal
// scores, and many tools read scores as 32-bit numbers. Therefore, if a score is not below the previous score, WriteRun
// writes the next 32-bit number below the previous one.
func (d *Dataset) WriteRun(w io.Writer, rankings map[string][]metric.Scored, name string) error {
	out := bufio.NewWriter(w)
	for _, q := range d.Queries {
		last := float32(math.Inf(1))
		for i, s := range rankings[q.ID] {
			score := float32(s.Score)
			if !(score < last) {
				score = math.Nextafter32(last, float32(math.Inf(-1)))
			}
			last = score
			fmt.Fprintf(out, "%s Q0 %s %d %s %s\n", runID(q.ID), runID(s.ID), i+1,
				strconv.FormatFloat(float64(score), 'g', -1, 32), runID(name))
		}
	}
	return out.Flush()
}

// runID writes an ID or a target as one word. A section becomes "document#slug".
func runID(id string) string { return runfile.Word(strings.ReplaceAll(id, "\x00", "#")) }
