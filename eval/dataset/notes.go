package dataset

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/zeebo/xxh3"

	"sheaf"
	"sheaf/eval/metric"
	"sheaf/internal/yamlfile"
)

// Notes reads a YAML file with queries for a folder of notes:
//
//	folder: ../notes          # relative to this file; optional when notes is given
//	queries:
//	  - query: how do I undo a commit
//	    expect: git/undo.md
//	  - query: change the last message
//	    expect: [git/undo.md#Amending, {git/log.md: 2}]
//	    class: howto
//
// An expectation is a path in the folder. '#' and a heading after the path mean a section. An expectation may have a
// gain; without one, its gain is 1. Paths and headings are checked later, when the folder is indexed. notes is the
// folder. If notes is "", the file must name the folder. For a fault, Notes returns sheaf.ErrInvalid with file and
// line.
func Notes(file, notes string) (*Dataset, error) {
	f, name, err := open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, int64(notesLimits.Bytes)+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	y := notesYAML{}
	if err := y.read(string(raw)); err != nil {
		return nil, sheaf.Invalidf("%s: %s", name, err)
	}
	if notes == "" {
		if y.Folder == "" {
			return nil, sheaf.Invalidf("%s: names no folder: add a line such as folder: ../notes, or name the folder "+
				"beside the file", name)
		}
		notes = y.Folder
		if !filepath.IsAbs(notes) {
			notes = filepath.Join(filepath.Dir(name), filepath.FromSlash(notes))
		}
	}
	if notes, err = folder(notes); err != nil {
		return nil, err
	}
	d := &Dataset{Name: filepath.Base(notes), Folder: notes, QueryHash: fmt.Sprintf("%016x", xxh3.Hash128(raw).Hi),
		Qrels: map[string]metric.Judgements{}, Where: map[string]string{}}
	var queries []Query
	for i := range y.Queries {
		q, err := y.Queries[i].judge(d, name, strconv.Itoa(i+1))
		if err != nil {
			return nil, err
		}
		queries = append(queries, q)
	}
	return d, d.judge(queries, name)
}

// notesLimits are the limits of a file of queries. Real files are far smaller.
var notesLimits = yamlfile.Limits{Bytes: 16 << 20, Depth: 20}

func (y *notesYAML) read(text string) error {
	file, err := yamlfile.Parse(text, notesLimits)
	if err != nil || len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return err
	}
	return yamlfile.Decode(file.Docs[0].Body, y)
}

type notesYAML struct {
	Folder  string      `yaml:"folder"`
	Queries []noteQuery `yaml:"queries"`
}

type noteQuery struct {
	ID     string     `yaml:"id"`
	Query  string     `yaml:"query"`
	Expect noteExpect `yaml:"expect"`
	Class  string     `yaml:"class"`
}

// noteExpect is one expectation or a list of expectations. An expectation is a path, or a path with a gain: targets[i]
// has the gain gains[i].
type noteExpect struct {
	line    int
	targets []string
	gains   []int
}

// UnmarshalYAML reads an expectation in any of its forms.
func (e *noteExpect) UnmarshalYAML(n ast.Node) error {
	e.line = n.GetToken().Position.Line
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return e.add(n)
	}
	for _, v := range list.Values {
		if err := e.add(v); err != nil {
			return err
		}
	}
	return nil
}

func (e *noteExpect) add(n ast.Node) error {
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			if err := e.add(v); err != nil {
				return err
			}
		}
		return nil
	case *ast.MappingValueNode:
		gain, err := strconv.Atoi(n.Value.GetToken().Value)
		if err != nil {
			return fmt.Errorf("line %d: the gain is %q: must be a whole number", n.GetToken().Position.Line,
				n.Value.GetToken().Value)
		}
		e.targets, e.gains = append(e.targets, n.Key.GetToken().Value), append(e.gains, gain)
		return nil
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.LiteralNode:
		e.targets, e.gains = append(e.targets, n.GetToken().Value), append(e.gains, 1)
		return nil
	}
	return fmt.Errorf("line %d: an expectation is a path, a path with a heading as in a.md#Setup, or either with a gain",
		n.GetToken().Position.Line)
}

// judge adds the expectations of one query in a file to d. If the file gives the query no ID, the parameter number is
// its ID.
func (q *noteQuery) judge(d *Dataset, file, number string) (Query, error) {
	out := Query{ID: cmp.Or(q.ID, number), Text: q.Query, Class: map[string]string{},
		where: fmt.Sprintf("%s:%d", file, q.Expect.line)}
	if q.Class != "" {
		out.Class["class"] = q.Class
	}
	if len(q.Expect.targets) == 0 {
		return out, sheaf.Invalidf("%s: query %q (%s) expects nothing: say which note is right, as in expect: a.md", file,
			out.ID, q.Query)
	}
	d.Qrels[out.ID], d.Where[out.ID] = metric.Judgements{}, out.where
	for i, target := range q.Expect.targets {
		doc, heading, _ := strings.Cut(target, "#")
		if doc == "" && heading != "" { // the name of the note starts with '#'
			doc, heading, _ = strings.Cut(heading, "#")
			doc = "#" + doc
		}
		key := Section(strings.TrimPrefix(filepath.ToSlash(filepath.Clean(doc)), "./"), heading)
		d.Sections = d.Sections || heading != ""
		if _, ok := d.Qrels[out.ID][key]; ok || doc == "" {
			return out, sheaf.Invalidf("%s: query %q expects %q twice, or a note without a name", out.where, out.ID, target)
		}
		d.Qrels[out.ID][key] = q.Expect.gains[i]
	}
	return out, nil
}

// folder returns the absolute path of dir. It is an error if the folder does not exist.
func folder(dir string) (string, error) {
	st, err := os.Stat(dir)
	switch {
	case err != nil:
		return "", notFound("open folder of notes", err)
	case !st.IsDir():
		return "", sheaf.Invalidf("%s is no folder", dir)
	}
	return filepath.Abs(dir)
}
