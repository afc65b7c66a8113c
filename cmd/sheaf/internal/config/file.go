package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"sheaf"
	"sheaf/index/vfs"
	"sheaf/internal/yamlfile"
)

// maxDepth limits the nesting of a file. Real files need far less.
const maxDepth = 20

// entry is one key of a file. Its value is a string, or a []string for a list.
type entry struct {
	key                string // with the names of the maps around it, separated by dots
	name               string // as the file writes it
	keyLine, keyColumn int
	value              any
	line, column       int
	last               int // the last line of the value
}

// parsed has the keys of a file. emptyMaps has the line of each map without keys, by the name of the map.
type parsed struct {
	path      string
	entries   []entry
	emptyMaps map[string]int
}

// parseFile reads a YAML file's keys. A nested map gives dotted keys. The value of a plain scalar stays text, because
// the key decides its type. Anchors, aliases, tags and several documents are errors, as the file may come from a
// stranger. Errors name the place.
func parseFile(path string, content []byte) (*parsed, error) {
	file, err := yamlfile.Parse(string(content), yamlfile.Limits{Bytes: maxFileBytes, Depth: maxDepth})
	if fault, ok := errors.AsType[*yamlfile.Fault](err); ok {
		return nil, sheaf.Invalidf("%s:%d:%d: %s", path, max(fault.Line, 1), max(fault.Column, 1), fault.Text)
	}
	if err != nil {
		return nil, err
	}
	p := &parsed{path: path, emptyMaps: map[string]int{}}
	for i, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.NullType || doc.Body.Type() == ast.CommentType {
			continue
		}
		if i > 0 {
			return nil, p.faultAt(doc.Body, "a second document: a configuration has one")
		}
		if err := p.addMap("", doc.Body); err != nil {
			return nil, err
		}
	}
	seen := map[string]bool{}
	for i := range p.entries {
		e := &p.entries[i]
		if e.key == embedderGroup {
			e.key = embedderKey
		}
		if seen[e.key] {
			return nil, sheaf.Invalidf("%s:%d:%d: %q is set twice", path, e.keyLine, e.keyColumn, e.key)
		}
		seen[e.key] = true
	}
	return p, nil
}

func (p *parsed) addMap(prefix string, node ast.Node) error {
	var pairs []*ast.MappingValueNode
	switch node := node.(type) {
	case *ast.MappingNode:
		pairs = node.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{node}
	default:
		return p.faultAt(node, fmt.Sprintf("%s: want keys with values, as in \"limit: 10\"", nodeName(node)))
	}
	for _, pair := range pairs {
		name, err := p.scalar(pair.Key)
		if err != nil {
			return err
		}
		e := entry{key: prefix + name, name: name}
		e.keyLine, e.keyColumn = position(pair.Key)
		e.line, e.column = position(pair.Value)
		switch pair.Value.(type) {
		case ast.MapNode:
			if err := p.addMap(e.key+".", pair.Value); err != nil {
				return err
			}
			continue
		case *ast.NullNode:
			if slices.ContainsFunc(Names(), func(key string) bool { return strings.HasPrefix(key, e.key+".") }) {
				p.emptyMaps[e.key] = e.keyLine
				continue // a section with only comments sets nothing
			}
		}
		if err := p.setValue(&e, pair.Value); err != nil {
			return err
		}
		p.entries = append(p.entries, e)
	}
	return nil
}

// setValue sets the fields value and last of e from a node of the file.
func (p *parsed) setValue(e *entry, node ast.Node) (err error) {
	e.last = max(e.keyLine, e.line)
	sequence, ok := node.(*ast.SequenceNode)
	if !ok {
		e.value, err = p.scalar(node)
		return err
	}
	list := []string{}
	for _, item := range sequence.Values {
		text, err := p.scalar(item)
		if err != nil {
			return err
		}
		line, _ := position(item)
		list, e.last = append(list, text), max(e.last, line)
	}
	if sequence.End != nil && sequence.End.Position != nil {
		e.last = max(e.last, sequence.End.Position.Line)
	}
	e.value = list
	return nil
}

// scalar returns the text of a scalar as the file writes it, but without quotes. It returns "" for null.
func (p *parsed) scalar(node ast.Node) (string, error) {
	switch node := node.(type) {
	case *ast.StringNode:
		return node.Value, nil
	case *ast.LiteralNode:
		return node.Value.Value, nil
	case *ast.NullNode:
		return "", nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return node.GetToken().Value, nil
	}
	return "", p.faultAt(node, nodeName(node)+": want a plain value or a list of them")
}

func nodeName(node ast.Node) string {
	if node == nil {
		return "nothing"
	}
	return strings.ToLower(node.Type().String())
}

func (p *parsed) faultAt(node ast.Node, message string) error {
	line, column := position(node)
	return sheaf.Invalidf("%s:%d:%d: %s", p.path, line, column, message)
}

func position(node ast.Node) (line, column int) {
	var tk *token.Token
	if node != nil {
		tk = node.GetToken()
	}
	if tk == nil || tk.Position == nil {
		return 1, 1
	}
	return tk.Position.Line, tk.Position.Column
}

// Set gives the key called name these values in the file at path. If the file does not exist, Set makes it. Set changes
// only the lines of this key, so comments and the order of keys stay. A list has several values. Set replaces the whole
// file in one step, so a crash leaves the old or the new file.
func Set(path, name string, values []string) error {
	key, err := Lookup(name)
	if err != nil {
		return err
	}
	name = key.Name
	if key.Kind != KindList && len(values) != 1 {
		return sheaf.Invalidf("%s takes one value, not %d", name, len(values))
	}
	if _, err := key.parse(key.join(values)); err != nil {
		return sheaf.Invalidf("%s: %w", name, err)
	}
	return edit(path, name, func(p *parsed, lines []string) ([]string, error) {
		return p.set(lines, name, scalarText(key, values)), nil
	})
}

// Unset removes the key called name from the file at path, with its lines. Like Set, it changes nothing else. If the
// file does not set the key, the error is sheaf.ErrNotFound.
func Unset(path, name string) error {
	key, err := Lookup(name)
	if err != nil {
		return err
	}
	name = key.Name
	return edit(path, name, func(p *parsed, lines []string) ([]string, error) {
		for _, e := range p.entries {
			if e.key == name {
				return slices.Delete(lines, e.keyLine-1, e.last), nil
			}
		}
		return nil, fmt.Errorf("%w: %s does not set %s", sheaf.ErrNotFound, path, name)
	})
}

// edit changes the lines of a file with the function change. It parses the result, and returns an error if any key
// except the one called name changed. After any error, the file stays unchanged.
func edit(path, name string, change func(p *parsed, lines []string) ([]string, error)) error {
	content, err := readSmall(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read configuration: %w", err)
	}
	before, err := parseFile(path, content)
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(string(content), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	} else {
		lines[last] += "\n"
	}
	if lines, err = change(before, lines); err != nil {
		return err
	}
	changed := []byte(strings.Join(lines, ""))
	if string(changed) == string(content) {
		return nil
	}
	after, err := parseFile(path, changed)
	if err != nil || !sameBut(before.entries, after.entries, name) {
		return sheaf.Invalidf("%s cannot be edited safely: change %s in it by hand", path, name)
	}
	return replaceFile(path, changed)
}

// set returns the lines of a file, changed so that key has the value text. A comment after a one-line value stays. A
// new key becomes the first key of its section.
func (p *parsed) set(lines []string, key, text string) []string {
	group, leaf, nested := strings.Cut(key, ".")
	for _, e := range p.entries {
		if e.key == key {
			indent := strings.Repeat(" ", e.keyColumn-1)
			comment := ""
			if line := lines[e.keyLine-1]; e.last == e.keyLine {
				if i := strings.Index(line, " #"); i > 0 && !strings.ContainsAny(line[:i], `"'`) {
					comment = strings.TrimRight(line[i:], "\r\n")
				}
			}
			return slices.Replace(lines, e.keyLine-1, e.last, indent+e.name+": "+text+comment+"\n")
		}
	}
	for _, e := range p.entries {
		if nested && strings.HasPrefix(e.key, group+".") && e.keyColumn > 1 {
			return slices.Insert(lines, e.keyLine-1, strings.Repeat(" ", e.keyColumn-1)+leaf+": "+text+"\n")
		}
	}
	if line, ok := p.emptyMaps[group]; ok && nested {
		return slices.Insert(lines, line, "  "+leaf+": "+text+"\n")
	}
	if nested {
		return append(lines, group+":\n", "  "+leaf+": "+text+"\n")
	}
	return append(lines, key+": "+text+"\n")
}

func scalarText(key *Key, values []string) string {
	switch {
	case key.Kind == KindText:
		return quote(values[0])
	case key.Kind != KindList:
		return values[0]
	}
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = quote(v)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// plain matches texts that need no quotes in YAML. YAML may read the words in reserved as booleans or null.
var (
	plain    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*$`)
	reserved = []string{"true", "false", "null", "yes", "no", "on", "off"}
)

// quote returns text as YAML: plain words unchanged, other text in double quotes.
func quote(s string) string {
	if plain.MatchString(s) && !slices.Contains(reserved, strings.ToLower(s)) {
		return s
	}
	return strconv.Quote(s)
}

// sameBut reports whether two lists have equal entries. It ignores entries of the key called name.
func sameBut(old, edited []entry, name string) bool {
	values := func(entries []entry) map[string]string {
		m := map[string]string{}
		for _, e := range entries {
			m[e.key] = fmt.Sprintf("%T %v", e.value, e.value)
		}
		return m
	}
	was, is := values(old), values(edited)
	delete(was, name)
	delete(is, name)
	return maps.Equal(was, is)
}

func replaceFile(path string, content []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // keep a link to a file elsewhere
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if st, err := os.Stat(path); err == nil {
		mode = st.Mode().Perm()
	}
	return vfs.WriteFile(path, content, mode)
}
