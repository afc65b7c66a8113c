// Package runfile reads and writes rankings of other systems, so that the stages of package rank can process them. It
// knows TREC run files and JSON. Its main type is [Run]. [Read] reads a run; [Run.WriteTREC] and [Run.WriteJSON] write
// it.
//
// Stages learn about documents only what IDs say: see [Facts].
package runfile

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
)

// Run has the rankings of one system, one for each query.
type Run struct {
	// Name is the name of the run in the file. If the file has none, Name is the name of the file.
	Name string
	// Queries are the IDs of the queries, in file order.
	Queries []string
	// Rankings has the ranking of each query, best hit first. Hits are sorted by score, then rank in the file, then ID.
	Rankings map[string]sheaf.Ranking
	// Repeated counts the hits that Read dropped because a better hit of the same query has the same ID. Again is the
	// first of them in the file.
	Repeated int
	Again    Again
}

// Again is a repeated hit of a query. Line is its line, from 1, or 0 if unknown.
type Again struct {
	Query string
	ID    sheaf.ID
	Line  int
}

// entry is a hit with the line where it was found.
type entry struct {
	query string
	hit   sheaf.Hit
	rank  int // in the file
	line  int
}

// These are limits for one file: its bytes, its hits, and the bytes of each ID.
const (
	maxBytes   = 1 << 30
	maxHits    = 20_000_000
	maxIDBytes = 4096
)

// Read reads a run from a file, which may be compressed with gzip. A file that starts with { is JSON, and any other
// file is TREC. Errors wrap sheaf.ErrInvalid and name file and line.
//
// A TREC line is "QUERY Q0 DOCUMENT RANK SCORE NAME", separated by white space. Hits are sorted by score; hits with
// equal scores are sorted by rank. JSON is an object with one member for each query. A member has a list of {"id",
// "score"} in any order, or an object of IDs with scores. JSON may also be the answer of sheaf search --json.
func Read(file string, r io.Reader) (*Run, error) {
	in := bufio.NewReader(r)
	r = in
	if start, _ := in.Peek(2); string(start) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, sheaf.Invalidf("%s: %w", file, err)
		}
		r = z
	}
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) ||
		errors.As(err, new(flate.CorruptInputError)):
		return nil, sheaf.Invalidf("%s: %w", file, err)
	case err != nil:
		return nil, fmt.Errorf("read run %s: %w", file, err)
	}
	if len(data) > maxBytes {
		return nil, sheaf.Invalidf("%s: a run may have at most %d bytes", file, maxBytes)
	}
	p := &parser{file: file, run: &Run{Rankings: map[string]sheaf.Ranking{}}, ranks: map[string][]entry{}}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	first := bytes.TrimLeft(data, " \t\r\n")
	if bytes.HasPrefix(first, []byte("{")) {
		err = p.json(data)
	} else if err = p.trec(data); err != nil && bytes.HasPrefix(first, []byte("[")) && (json.Valid(data) || p.hits == 0) {
		err = p.errorf(1, "a list: JSON must be an object that gives each query a list of {\"id\", \"score\"}")
	}
	if err != nil {
		return nil, err
	}
	return p.finish(), nil
}

type parser struct {
	file  string
	run   *Run
	ranks map[string][]entry
	hits  int
}

func (p *parser) errorf(line int, format string, args ...any) error {
	return sheaf.Invalidf("%s:%d: %s", p.file, line, fmt.Sprintf(format, args...))
}

func (p *parser) add(e entry) error {
	switch {
	case math.IsNaN(e.hit.Score) || math.IsInf(e.hit.Score, 0):
		return p.errorf(e.line, "the score of %q is %v: must be a finite number", e.hit.ID, e.hit.Score)
	case e.hit.ID == "" || len(e.hit.ID) > maxIDBytes:
		return p.errorf(e.line, "an ID of %d bytes: must be within 1..%d", len(e.hit.ID), maxIDBytes)
	case !utf8.ValidString(string(e.hit.ID)) || !utf8.ValidString(e.query):
		return p.errorf(e.line, "an ID is not UTF-8")
	case p.hits == maxHits:
		return p.errorf(e.line, "more than %d hits", maxHits)
	}
	p.hits++
	if _, ok := p.ranks[e.query]; !ok {
		p.run.Queries = append(p.run.Queries, e.query)
	}
	p.ranks[e.query] = append(p.ranks[e.query], e)
	return nil
}

// keepRepeated stores e as the first repeated hit, if e comes before the stored hit in the file. Hits in the same line
// are ordered by query and ID.
func (p *parser) keepRepeated(e entry) {
	a, b := p.run.Again, Again{e.query, e.hit.ID, e.line}
	if a.ID == "" || cmp.Or(cmp.Compare(b.Line, a.Line), cmp.Compare(b.Query, a.Query), cmp.Compare(b.ID, a.ID)) < 0 {
		p.run.Again = b
	}
}

// finish sorts the rankings, removes repeated hits and returns the run.
func (p *parser) finish() *Run {
	for query, entries := range p.ranks {
		slices.SortStableFunc(entries, func(a, b entry) int {
			return cmp.Or(cmp.Compare(b.hit.Score, a.hit.Score), cmp.Compare(a.rank, b.rank), cmp.Compare(a.hit.ID, b.hit.ID))
		})
		seen := make(map[sheaf.ID]bool, len(entries))
		ranking := make(sheaf.Ranking, 0, len(entries))
		for _, e := range entries {
			if seen[e.hit.ID] {
				p.run.Repeated++
				p.keepRepeated(e)
				continue
			}
			seen[e.hit.ID] = true
			ranking = append(ranking, e.hit)
		}
		p.run.Rankings[query] = ranking
	}
	if p.run.Name == "" {
		p.run.Name = p.file
	}
	return p.run
}

const trecLine = "want QUERY Q0 DOCUMENT RANK SCORE NAME"

func (p *parser) trec(data []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	n := 0
	for lines.Scan() {
		n++
		parts := strings.Fields(lines.Text())
		if len(parts) == 0 || strings.HasPrefix(parts[0], "#") && len(parts) != 6 {
			continue
		}
		if len(parts) != 6 {
			return p.errorf(n, "%s: this line has %d of the 6 parts", trecLine, len(parts))
		}
		rank, err := strconv.Atoi(parts[3])
		if err != nil || rank < 0 {
			return p.errorf(n, "the rank is %q: must be a whole number; %s", parts[3], trecLine)
		}
		score, err := strconv.ParseFloat(parts[4], 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return p.errorf(n, "the score is %q: must be a number; %s", parts[4], trecLine)
		}
		p.run.Name = parts[5]
		if err := p.add(entry{parts[0], sheaf.Hit{ID: sheaf.ID(parts[2]), Score: score}, rank, n}); err != nil {
			return err
		}
	}
	if lines.Err() != nil {
		return p.errorf(n+1, "%v", lines.Err())
	}
	return nil
}

// json reads rankings from a JSON object, or from the JSON answer of a search.
func (p *parser) json(data []byte) error {
	d := &jsonReader{Decoder: json.NewDecoder(bytes.NewReader(data)), data: data, p: p}
	d.UseNumber()
	members := map[string]json.RawMessage{}
	var order []string
	if err := d.object(func(name string) error {
		if _, ok := members[name]; ok {
			return d.errorf("%q appears twice", name)
		}
		at := d.InputOffset()
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return d.fault(err)
		}
		members[name], order = value, append(order, name)
		if strings.HasPrefix(strings.TrimSpace(string(members["schema"])), `"sheaf.search/`) {
			return nil
		}
		if name == "schema" {
			return nil
		}
		return p.ranking(name, value, d.lineAt(at))
	}); err != nil {
		return err
	}
	if schema, ok := members["schema"]; ok && strings.HasPrefix(string(schema), `"sheaf.search/`) {
		var query string
		if err := json.Unmarshal(members["query"], &query); err != nil || strings.TrimSpace(query) == "" {
			return p.errorf(1, "the answer of a search has no query")
		}
		query = strings.Join(strings.FieldsFunc(query, unicode.IsSpace), "_") // a TREC file cannot have spaces here
		return p.ranking(query, members["results"], 1)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return d.errorf("something follows the object")
	}
	return nil
}

// ranking reads the hits of one query from value. line is the line of the file where value begins.
func (p *parser) ranking(query string, value json.RawMessage, line int) error {
	d := &jsonReader{Decoder: json.NewDecoder(bytes.NewReader(value)), data: value, p: p, before: line - 1}
	d.UseNumber()
	if _, ok := p.ranks[query]; !ok {
		p.run.Queries = append(p.run.Queries, query)
		p.ranks[query] = nil
	}
	if bytes.HasPrefix(bytes.TrimSpace(value), []byte("{")) {
		rank := 0
		return d.object(func(id string) error {
			var score json.Number
			if err := d.Decode(&score); err != nil {
				return d.errorf("the score of %q must be a number", id)
			}
			rank++
			return p.addNumber(query, id, score, rank, d.line())
		})
	}
	open, err := d.Token()
	if err != nil || open != json.Delim('[') {
		return d.errorf("query %q must have a list of {\"id\", \"score\"} or an object of IDs with scores", query)
	}
	for rank := 1; d.More(); rank++ {
		var hit struct {
			ID    *string      `json:"id"`
			Score *json.Number `json:"score"`
		}
		if err := d.Decode(&hit); err != nil {
			return d.errorf("hit %d of query %q must be {\"id\", \"score\"}, a text and a number", rank, query)
		}
		if hit.ID == nil || hit.Score == nil {
			return d.errorf("a hit of query %q has no id or no score", query)
		}
		if err := p.addNumber(query, *hit.ID, *hit.Score, rank, d.line()); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) addNumber(query, id string, score json.Number, rank, line int) error {
	x, err := strconv.ParseFloat(score.String(), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return p.errorf(line, "the score of %q is %q: must be a number", id, score)
	}
	return p.add(entry{query, sheaf.Hit{ID: sheaf.ID(id), Score: x}, rank, line})
}

// jsonReader is a JSON decoder that knows the current line.
type jsonReader struct {
	*json.Decoder
	data   []byte
	p      *parser
	before int // lines before data
}

func (d *jsonReader) lineAt(offset int64) int {
	return d.before + 1 + bytes.Count(d.data[:min(int(offset), len(d.data))], []byte("\n"))
}

func (d *jsonReader) line() int { return d.lineAt(d.InputOffset()) }

func (d *jsonReader) errorf(format string, args ...any) error {
	return d.p.errorf(d.line(), format, args...)
}

// fault returns the error for JSON that cannot be read.
func (d *jsonReader) fault(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return d.errorf("the JSON ends too early")
	}
	return d.errorf("%v", err)
}

// object reads a JSON object. For each member, it calls the function member. This function must read the value.
func (d *jsonReader) object(member func(name string) error) error {
	open, err := d.Token()
	if err != nil || open != json.Delim('{') {
		return d.errorf("want an object: %v", err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return d.fault(err)
		}
		if err := member(name.(string)); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return d.fault(err)
	}
	return nil
}

// Word returns an ID as one word for a TREC file. It escapes white space as a URL does.
func Word(id string) string {
	if !strings.ContainsFunc(id, unicode.IsSpace) {
		return id
	}
	var b strings.Builder
	for _, r := range id {
		if unicode.IsSpace(r) {
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// WriteTREC writes the run, called name, as TREC with exact scores. [Word] turns the IDs and the name into words.
func (r *Run) WriteTREC(w io.Writer, name string) error {
	out := bufio.NewWriter(w)
	for _, q := range r.Queries {
		for i, h := range r.Rankings[q] {
			fmt.Fprintf(out, "%s Q0 %s %d %s %s\n", Word(q), Word(string(h.ID)), i+1, strconv.FormatFloat(h.Score, 'g', -1,
				64), Word(name))
		}
	}
	return out.Flush()
}

// hitJSON is a hit in the form that WriteJSON writes.
type hitJSON struct {
	ID    sheaf.ID `json:"id"`
	Score float64  `json:"score"`
}

// WriteJSON writes the run as one JSON object, which [Read] can read. Queries keep their order. Hits are best first.
func (r *Run) WriteJSON(w io.Writer) error {
	out := bufio.NewWriter(w)
	out.WriteByte('{')
	for i, q := range r.Queries {
		if i > 0 {
			out.WriteByte(',')
		}
		hits := []hitJSON{}
		for _, h := range r.Rankings[q] {
			hits = append(hits, hitJSON{h.ID, h.Score})
		}
		name, err := json.Marshal(q)
		if err != nil {
			return err
		}
		text, err := json.Marshal(hits)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s:%s", name, text)
	}
	out.WriteString("\n}\n")
	return out.Flush()
}
