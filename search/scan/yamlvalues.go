package scan

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"sheaf"
	"sheaf/internal/yamlfile"
	"sheaf/text/chunk"
)

// nestedLimits limits the frontmatter from which nested values are read.
var nestedLimits = yamlfile.Limits{Bytes: 1 << 20, Depth: 100}

// nestedText returns the values in lists and maps within properties of YAML frontmatter. listed is the largest number
// of values that it takes from one list. depth is the number of levels that it reads. nestedText omits level 1, which
// propertyText returns. It ignores keys and does not expand aliases.
func nestedText(doc *sheaf.Document, text string, listed, depth int) string {
	span := doc.Frontmatter
	if depth < 2 || span.Len() == 0 || doc.FrontmatterText || !strings.HasPrefix(text[span.Start:span.End], "---") {
		return ""
	}
	file, err := yamlfile.Parse(text[span.Start:span.End], nestedLimits)
	if err != nil || len(file.Docs) == 0 {
		return ""
	}
	n := nested{listed: listed, depth: depth}
	for _, property := range mapValues(file.Docs[0].Body) {
		if chunk.IsTextProperty(property.Key.GetToken().Value) {
			n.collect(property.Value, 1)
		}
	}
	return strings.Join(n.values, "\n")
}

type nested struct {
	listed, depth int
	values        []string
}

// collect adds the values in a node of this level. A map adds one level, and so does a list in a list.
func (n *nested) collect(node ast.Node, level int) {
	if level > n.depth {
		return
	}
	node = bare(node)
	if list, ok := node.(*ast.SequenceNode); ok {
		for i, item := range list.Values {
			if i == n.listed {
				return
			}
			item = bare(item)
			if _, within := item.(*ast.SequenceNode); within {
				n.collect(item, level+1)
			} else {
				n.collect(item, level)
			}
		}
		return
	}
	values := mapValues(node)
	if values == nil {
		n.add(node, level)
	}
	for _, v := range values {
		n.collect(v.Value, level+1)
	}
}

// add adds the value of a scalar node, unless the node is at level 1: see nestedText.
func (n *nested) add(node ast.Node, level int) {
	if _, null := node.(*ast.NullNode); null || level < 2 {
		return
	}
	if literal, ok := node.(*ast.LiteralNode); ok {
		n.values = append(n.values, literal.Value.Value)
	} else if scalar, ok := node.(ast.ScalarNode); ok {
		n.values = append(n.values, fmt.Sprint(scalar.GetValue()))
	}
}

// bare returns a YAML node without its anchor and tag.
func bare(node ast.Node) ast.Node {
	for {
		switch n := node.(type) {
		case *ast.AnchorNode:
			node = n.Value
		case *ast.TagNode:
			node = n.Value
		default:
			return node
		}
	}
}

// mapValues returns the keys and values of a map. For a node of another kind it returns nil.
func mapValues(node ast.Node) []*ast.MappingValueNode {
	switch n := bare(node).(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}
