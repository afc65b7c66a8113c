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

// maxDepth is far more than a configuration needs.
const maxDepth = 20

// entry is one key of a file with its value: a string, or a []string for a list.
type entry struct {
	key                string
	keyLine, keyColumn int
	value              any
	line, column       int
}

// parseFile reads the keys of a YAML file. Nested maps become dotted keys. Plain scalars stay text,
// because the key decides the type. Anchors, aliases, tags and several documents are errors.
func parseFile(path string, content []byte) ([]entry, error) {
	file, err := parseYAML(path, content)
	if err != nil {
		return nil, err
	}
	var entries []entry
	for i, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.NullType || doc.Body.Type() == ast.CommentType {
			continue
		}
		if i > 0 {
			return nil, faultAt(path, doc.Body, "a second document: a configuration has one")
		}
		if entries, err = appendMap(entries, path, "", doc.Body); err != nil {
			return nil, err
		}
	}
	seen := map[string]bool{}
	for i, e := range entries {
		if e.key == embedderGroup {
			e.key, entries[i].key = embedderKey, embedderKey
		}
		if seen[e.key] {
			return nil, sheaf.Invalidf("%s:%d:%d: %q is set twice", path, e.keyLine, e.keyColumn, e.key)
		}
		seen[e.key] = true
	}
	return entries, nil
}

// parseYAML returns an error with the place for every fault of the text. The file may come from an
// untrusted person.
func parseYAML(path string, content []byte) (*ast.File, error) {
	file, err := yamlfile.Parse(string(content), yamlfile.Limits{Bytes: maxFileBytes, Depth: maxDepth})
	var fault *yamlfile.Fault
	if errors.As(err, &fault) {
		return nil, sheaf.Invalidf("%s:%d:%d: %s", path, max(fault.Line, 1), max(fault.Column, 1), fault.Text)
	}
	return file, err
}

func appendMap(entries []entry, path, prefix string, node ast.Node) ([]entry, error) {
	if _, ok := node.(ast.MapNode); !ok {
		return nil, faultAt(path, node, fmt.Sprintf("%s: want keys with values, as in \"limit: 10\"", nodeName(node)))
	}
	for _, pair := range pairsOf(node) {
		name, err := scalar(path, pair.Key)
		if err != nil {
			return nil, err
		}
		name = prefix + name
		switch pair.Value.(type) {
		case ast.MapNode:
			if entries, err = appendMap(entries, path, name+".", pair.Value); err != nil {
				return nil, err
			}
			continue
		case *ast.NullNode:
			if slices.ContainsFunc(Names(), func(key string) bool { return strings.HasPrefix(key, name+".") }) {
				continue // a section with only comments sets nothing
			}
		}
		e := entry{key: name}
		e.keyLine, e.keyColumn = position(pair.Key)
		e.line, e.column = position(pair.Value)
		if e.value, err = plainValue(path, pair.Value); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func plainValue(path string, node ast.Node) (any, error) {
	sequence, ok := node.(*ast.SequenceNode)
	if !ok {
		return scalar(path, node)
	}
	list := []string{}
	for _, item := range sequence.Values {
		text, err := scalar(path, item)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

// scalar returns the text of a scalar as written, without quotes; "" for null.
func scalar(path string, node ast.Node) (string, error) {
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
	return "", faultAt(path, node, nodeName(node)+": want a plain value or a list of them")
}

func nodeName(node ast.Node) string {
	if node == nil {
		return "nothing"
	}
	return strings.ToLower(node.Type().String())
}

func faultAt(path string, node ast.Node, message string) error {
	line, column := position(node)
	return sheaf.Invalidf("%s:%d:%d: %s", path, line, column, message)
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
