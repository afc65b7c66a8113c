package profile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sheaf/internal/suggest"
	"sheaf/internal/yamlfile"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"sheaf"
)

// maxBytes and maxDepth bound a profile. They are far above any need and make hostile files cheap to refuse.
const (
	maxBytes = 1 << 20
	maxDepth = 20
)

// node is a value of a YAML file with its position.
type node struct {
	file      string
	line, col int
	kind      nodeKind
	text      string // of a scalar
	pairs     []pair // of a mapping
	items     []node // of a list
	setting   string // outside a profile: the setting that has this value
	root      string // of a profile: the last profile in the chain that it extends
}

type nodeKind uint8

const (
	nodeNull nodeKind = iota
	nodeScalar
	nodeMapping
	nodeList
)

func (k nodeKind) String() string {
	return [...]string{"nothing", "a single value", "a mapping", "a list"}[k]
}

type pair struct {
	key   node
	value node
}

// errorf returns an error that wraps sheaf.ErrInvalid and begins with the position. Outside files there is no
// line.
func (n *node) errorf(format string, args ...any) error {
	if n.line == 0 {
		err := sheaf.Invalidf("%s: %s", n.file, fmt.Sprintf(format, args...))
		if n.setting != "" {
			return &ParameterError{Name: n.setting, Err: err}
		}
		return err
	}
	return &FileError{File: n.file, Line: n.line, Column: n.col, Text: fmt.Sprintf(format, args...)}
}

// parseYAML reads one YAML document of plain values. It refuses anchors, aliases, tags, merge keys and repeated
// keys.
func parseYAML(file string, text []byte) (*node, error) {
	root := &node{file: file, line: 1, col: 1}
	parsed, err := yamlfile.Parse(string(text), yamlfile.Limits{Bytes: maxBytes, Depth: 2 * maxDepth})
	var fault *yamlfile.Fault
	if errors.As(err, &fault) {
		root.line, root.col = max(fault.Line, 1), max(fault.Column, 1)
		return nil, root.errorf("%s", fault.Text)
	}
	var body ast.Node
	for _, doc := range parsed.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			return nil, place(file, doc.Body.GetToken()).errorf("a second document begins here: a profile is one")
		}
		body = doc.Body
	}
	if body == nil {
		return nil, root.errorf("the file is empty: a profile is wanted")
	}
	n, err := convert(file, body, 0)
	if err != nil {
		return nil, err
	}
	return &n, nil
}

func place(file string, t *token.Token) *node {
	n := &node{file: file, line: 1, col: 1}
	if t != nil && t.Position != nil {
		n.line, n.col = t.Position.Line, t.Position.Column
	}
	return n
}

func convert(file string, from ast.Node, depth int) (node, error) {
	n := *place(file, from.GetToken())
	if depth > maxDepth {
		return n, n.errorf("nested more than %d deep", maxDepth)
	}
	switch from := from.(type) {
	case *ast.NullNode:
	case *ast.StringNode:
		n.kind, n.text = nodeScalar, from.Value
	case *ast.LiteralNode:
		n.kind, n.text = nodeScalar, from.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		n.kind, n.text = nodeScalar, from.GetToken().Value
	case *ast.SequenceNode:
		n.kind = nodeList
		for _, value := range from.Values {
			item, err := convert(file, value, depth+1)
			if err != nil {
				return n, err
			}
			n.items = append(n.items, item)
		}
	case *ast.MappingValueNode:
		n.kind = nodeMapping
		return n, n.addPair(from, depth)
	case *ast.MappingNode:
		n.kind = nodeMapping
		for _, value := range from.Values {
			if err := n.addPair(value, depth); err != nil {
				return n, err
			}
		}
	default:
		return n, n.errorf("anchors, aliases, tags and merge keys are not allowed in a profile")
	}
	return n, nil
}

func (n *node) addPair(from *ast.MappingValueNode, depth int) error {
	key, err := convert(n.file, from.Key, depth+1)
	if err != nil {
		return err
	}
	if key.kind != nodeScalar {
		return key.errorf("a key must be a word")
	}
	if slices.ContainsFunc(n.pairs, func(p pair) bool { return p.key.text == key.text }) {
		return key.errorf("%q is given twice", key.text)
	}
	if len(n.pairs) == 0 {
		n.line, n.col = key.line, key.col
	}
	if from.Value == nil {
		n.pairs = append(n.pairs, pair{key, key.null()})
		return nil
	}
	value, err := convert(n.file, from.Value, depth+1)
	if err != nil {
		return err
	}
	n.pairs = append(n.pairs, pair{key, value})
	return nil
}

// null returns an empty value at n's position.
func (n *node) null() node {
	return node{file: n.file, line: n.line, col: n.col, setting: n.setting}
}

// get returns the value of a key of a mapping, or nil.
func (n *node) get(key string) *node {
	for i := range n.pairs {
		if n.pairs[i].key.text == key {
			return &n.pairs[i].value
		}
	}
	return nil
}

// want returns an error unless n has the kind; what names the kind for people.
func (n *node) want(kind nodeKind, what string) error {
	if n.kind != kind {
		return n.errorf("%s must be %s, and is %s", what, kind, n.describe())
	}
	return nil
}

func (n *node) describe() string {
	if n.kind == nodeScalar {
		return strconv.Quote(n.text)
	}
	return n.kind.String()
}

// onlyKeys returns an error for the first key of mapping n that is not in allowed.
func (n *node) onlyKeys(what string, allowed ...string) error {
	for i := range n.pairs {
		if key := &n.pairs[i].key; !slices.Contains(allowed, key.text) {
			if err := n.cutAtComma(i); err != nil {
				return err
			}
			return key.unknown("key of "+what, allowed)
		}
	}
	return nil
}

// cutAtComma returns the error for an expression that YAML split at a comma inside braces, so that key i is the
// rest of the expression; nil otherwise. i is -1 when there are no keys.
func (n *node) cutAtComma(i int) error {
	if i < 0 || n.pairs[i].value.kind != nodeNull {
		return nil
	}
	for _, p := range slices.Backward(n.pairs[:i]) {
		if v := &p.value; v.kind == nodeScalar && strings.Count(v.text, "(") > strings.Count(v.text, ")") {
			return v.errorf("%q ends at the comma: an expression with commas stands in quotation marks here, as %s: \"%s, "+
				"...)\"", v.text, p.key.text, v.text)
		}
	}
	return nil
}

// saying returns a node at n's position with another text.
func (n *node) saying(text string) *node {
	at := *n
	at.text = text
	return &at
}

// unknownStage returns the error for a stage that is not in allowed.
func (n *node) unknownStage(allowed []string) error {
	if gone := GoneStage(n.text); gone != "" {
		return n.errorf("%s (stages: %s)", gone, strings.Join(allowed, ", "))
	}
	return n.unknown("stage", allowed)
}

func (n *node) unknown(what string, allowed []string) error {
	hint := ""
	if near := suggest.Nearest(n.text, allowed); near != "" {
		hint = fmt.Sprintf(": did you mean %q?", near)
	}
	return n.errorf("unknown %s %q%s (allowed: %s)", what, n.text, hint, strings.Join(allowed, ", "))
}
