package dataset

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
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
	var queries []Query
	var records strings.Builder // the lines of a file with TREC's <top> records
	breaks := 0                 // in records
	name, err := readLines(file, sum, func(name string, line int, raw []byte) error {
		text := strings.TrimSpace(string(raw))
		if records.Len() > 0 || len(queries) == 0 && strings.HasPrefix(text, "<") {
			records.WriteString(strings.Repeat("\n", line-1-breaks) + text)
			breaks = line - 1
			return nil
		}
		id, text, ok := strings.Cut(strings.TrimRight(string(raw), "\r"), "\t")
		if id = strings.TrimSpace(id); !ok || id == "" {
			return lineError(name, line, "want an ID, a tab and the text of a query")
		}
		queries = append(queries, Query{ID: id, Text: strings.TrimSpace(text), where: fmt.Sprintf("%s:%d", name, line)})
		return nil
	})
	if err == nil && records.Len() > 0 {
		return parseRecords(name, records.String())
	}
	return queries, err
}

var recordTag = regexp.MustCompile(`<([^\s>]*)[^>\n]*>`)

// parseRecords reads TREC's records. They look like XML, but a tag may stay open, and a value ends at the next tag.
func parseRecords(name, text string) (queries []Query, err error) {
	var q Query
	line, end, inside := 1, 0, false // inside: a record has begun, and has not ended
	tags := recordTag.FindAllStringSubmatchIndex(text, -1)
	for i, at := range tags {
		value := text[at[1]:]
		if i+1 < len(tags) {
			value = text[at[1]:tags[i+1][0]]
		}
		value = strings.Join(strings.Fields(value), " ")
		line, end = line+strings.Count(text[end:at[0]], "\n"), at[0]
		switch strings.ToLower(text[at[2]:at[3]]) {
		case "top":
			if inside {
				return nil, lineError(name, line, "a <top> begins inside another one")
			}
			q, inside = Query{where: fmt.Sprintf("%s:%d", name, line)}, true
		case "/top":
			if q.ID == "" {
				return nil, lineError(name, line, "the topic has no <num>")
			}
			queries, inside = append(queries, q), false
		case "num":
			q.ID = strings.TrimSpace(strings.TrimPrefix(value, "Number:"))
		case "title":
			q.Text = strings.TrimSpace(strings.TrimPrefix(value, "Topic:"))
		}
	}
	if inside {
		return nil, sheaf.Invalidf("%s: a <top> has no </top>", q.where)
	}
	return queries, nil
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
