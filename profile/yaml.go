package profile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sheaf/internal/yamlfile"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"sheaf"
)

// maxBytes and maxDepth limit the size and the nesting of a profile, against hostile files.
const (
	maxBytes = 1 << 20
	maxDepth = 20
)

// node is a value in a YAML file with its position.
type node struct {
	file      string
	line, col int
	kind      nodeKind
	text      string      // of a scalar
	pairs     []pair      // of a mapping
	items     []node      // of a list
	setting   string      // the name of the setting, if the value is not from a file
	parsed    *expression // of a scalar for a number; nil before it was parsed
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

// errorf returns an error that wraps sheaf.ErrInvalid and begins with the position of n. A node from settings (see
// settingsNode) has no line. The error then begins with the name in n.file alone.
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

// parseYAML reads one YAML document of plain values. For anchors, aliases, tags, merge keys and repeated keys, it
// panics with a fault.
func parseYAML(file string, text []byte) *node {
	root := &node{file: file, line: 1, col: 1}
	parsed, err := yamlfile.Parse(string(text), yamlfile.Limits{Bytes: maxBytes, Depth: 2 * maxDepth})
	var fault *yamlfile.Fault
	if errors.As(err, &fault) {
		root.line, root.col = max(fault.Line, 1), max(fault.Column, 1)
		root.fail("%s", fault.Text)
	}
	var body ast.Node
	for _, doc := range parsed.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			place(file, doc.Body.GetToken()).fail("a second document begins here: a profile is one")
		}
		body = doc.Body
	}
	if body == nil {
		root.fail("the file is empty: a profile is wanted")
	}
	n := convert(file, body, 0)
	return &n
}

func place(file string, t *token.Token) *node {
	n := &node{file: file, line: 1, col: 1}
	if t != nil && t.Position != nil {
		n.line, n.col = t.Position.Line, t.Position.Column
	}
	return n
}

func convert(file string, from ast.Node, depth int) node {
	n := *place(file, from.GetToken())
	if depth > maxDepth {
		n.fail("nested more than %d deep", maxDepth)
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
			n.items = append(n.items, convert(file, value, depth+1))
		}
	case *ast.MappingValueNode:
		n.kind = nodeMapping
		n.addPair(from, depth)
	case *ast.MappingNode:
		n.kind = nodeMapping
		for _, value := range from.Values {
			n.addPair(value, depth)
		}
	default:
		n.fail("anchors, aliases, tags and merge keys are not allowed in a profile")
	}
	return n
}

func (n *node) addPair(from *ast.MappingValueNode, depth int) {
	key := convert(n.file, from.Key, depth+1)
	if key.kind != nodeScalar {
		key.fail("a key must be a word")
	}
	if slices.ContainsFunc(n.pairs, func(p pair) bool { return p.key.text == key.text }) {
		key.fail("%q is given twice", key.text)
	}
	if len(n.pairs) == 0 {
		n.line, n.col = key.line, key.col
	}
	value := key.null()
	if from.Value != nil {
		value = convert(n.file, from.Value, depth+1)
	}
	n.pairs = append(n.pairs, pair{key, value})
}

func (n *node) null() node {
	return node{file: n.file, line: n.line, col: n.col, setting: n.setting}
}

// get returns the value of a key in the mapping n. If n lacks the key, get returns nil.
func (n *node) get(key string) *node {
	for i := range n.pairs {
		if n.pairs[i].key.text == key {
			return &n.pairs[i].value
		}
	}
	return nil
}

// want panics with a fault if n is not of this kind. subject names n in the message.
func (n *node) want(kind nodeKind, subject string) {
	if n.kind != kind {
		n.fail("%s must be %s, and is %s", subject, kind, n.describe())
	}
}

func (n *node) describe() string {
	if n.kind == nodeScalar {
		return fmt.Sprintf("%.200q", n.text)
	}
	return n.kind.String()
}

// onlyKeys panics with a fault if the mapping n has a key that is not allowed. what names n in the message.
func (n *node) onlyKeys(what string, allowed ...string) {
	for i := range n.pairs {
		if key := &n.pairs[i].key; !slices.Contains(allowed, key.text) {
			n.cutAtComma(i)
			check(key.unknown("key of "+what, allowed))
		}
	}
}

// cutAtComma panics with a fault if key i of the mapping n is the rest of an expression. This happens because YAML cuts
// an expression inside braces at its commas. If i is -1, cutAtComma does nothing.
func (n *node) cutAtComma(i int) {
	if i < 0 || n.pairs[i].value.kind != nodeNull {
		return
	}
	for _, p := range slices.Backward(n.pairs[:i]) {
		if v := &p.value; v.kind == nodeScalar && strings.Count(v.text, "(") > strings.Count(v.text, ")") {
			v.fail("%q ends at the comma: an expression with commas stands in quotation marks here, as %s: \"%s, "+
				"...)\"", v.text, p.key.text, v.text)
		}
	}
}

// saying returns a copy of n with another text: a part of the text of n. Errors of the copy show only this part.
func (n *node) saying(text string) *node {
	at := *n
	at.text = text
	return &at
}

// unknown returns the error that the text of n is not allowed. what names the kind of text, for example "stage".
func (n *node) unknown(what string, allowed []string) error {
	kind, _, _ := strings.Cut(what, " ")
	return n.errorf("unknown %s %q%s (allowed: %s)", what, n.text, prefixed(": ", Hint(kind, n.text, allowed)),
		strings.Join(allowed, ", "))
}

// prefixed returns separator followed by text, or "" if text is "".
func prefixed(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}
