package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"sheaf"
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
