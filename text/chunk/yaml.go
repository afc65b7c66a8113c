package chunk

import (
	"errors"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"sheaf/internal/yamlfile"
)

// yamlFault is a fault in frontmatter, on a line of the file.
type yamlFault struct {
	line int
	text string
}

func (e *yamlFault) Error() string { return e.text }

func lineOf(err error) int {
	var fault *yamlFault
	if errors.As(err, &fault) {
		return fault.line
	}
	return 1
}

func message(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

// parse reads a block by a full YAML parser. Nothing is expanded: an alias of
// anything but a scalar is left out.
func (f *frontmatter) parse(inner string) ([]yamlEntry, error) {
	file, err := yamlfile.Parse(strings.ReplaceAll(inner, "\r\n", "\n"), yamlfile.Limits{Bytes: maxFrontmatterBytes, Depth: maxFrontmatterDepth}, parser.AllowDuplicateMapKey())
	if err != nil {
		fault := new(yamlfile.Fault)
		errors.As(err, &fault)
		return nil, &yamlFault{fault.Line + 1, fault.Text}
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, nil
	}
	r := yamlReader{anchors: map[string]ast.Node{}}
	return r.entries(file.Docs[0].Body)
}

type yamlReader struct{ anchors map[string]ast.Node }

func (r *yamlReader) entries(body ast.Node) ([]yamlEntry, error) {
	var values []*ast.MappingValueNode
	switch n := r.bare(body).(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, &yamlFault{body.GetToken().Position.Line + 1, "no keys and values"}
	}
	entries := make([]yamlEntry, 0, len(values))
	merged := yamlEntry{key: "tenant", nested: true}
	for _, v := range values {
		t := r.key(v)
		e := yamlEntry{key: t.Value, line: t.Position.Line + 1}
		if isMerge(v) && r.tells(v.Value, "tenant", maxFrontmatterDepth) {
			merged.line = e.line
		}
		switch n := r.bare(v.Value).(type) {
		case *ast.SequenceNode:
			e.list = true
			for _, item := range n.Values {
				switch item := r.bare(item).(type) {
				case *ast.SequenceNode, *ast.MappingNode, *ast.MappingValueNode, *ast.AliasNode:
					e.within = true
				default:
					if s, ok := r.scalar(item); ok {
						e.values = append(e.values, s)
					}
				}
			}
		case nil, *ast.NullNode:
			e.null = true
		default:
			if s, ok := r.scalar(n); ok {
				e.values = append(e.values, s)
			} else {
				_, alias := n.(*ast.AliasNode)
				e.nested, e.within = true, alias
			}
		}
		entries = append(entries, e)
		if e.nested && !IsAccessProperty(e.key) {
			entries = r.below(entries, e.key, v.Value, 1)
		}
	}
	own := slices.ContainsFunc(entries, func(e yamlEntry) bool { return strings.EqualFold(e.key, merged.key) })
	if merged.line > 0 && !own { // what is merged is not read, but whose it is must not be lost
		entries = append(entries, merged)
	}
	return entries, nil
}

// maxBelow is how deep maps in maps are read.
const maxBelow = 8

// below adds the scalars, and the lists of scalars, of a map in the frontmatter: place of the
// map meta is meta.place.
func (r *yamlReader) below(entries []yamlEntry, prefix string, n ast.Node, depth int) []yamlEntry {
	var values []*ast.MappingValueNode
	switch n := r.bare(n).(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	}
	for _, v := range values {
		if isMerge(v) || depth > maxBelow || len(entries) > 2*maxProperties {
			continue
		}
		t := r.key(v)
		e := yamlEntry{key: prefix + "." + t.Value, line: t.Position.Line + 1}
		node := r.bare(v.Value)
		if list, ok := node.(*ast.SequenceNode); ok {
			e.list = true
			for _, item := range list.Values {
				if s, ok := r.scalar(r.bare(item)); ok {
					e.values = append(e.values, s)
				}
			}
		} else if s, ok := r.scalar(node); ok {
			e.values = append(e.values, s)
		} else {
			entries = r.below(entries, e.key, v.Value, depth+1)
			continue
		}
		if len(e.values) > 0 {
			entries = append(entries, e)
		}
	}
	return entries
}

// key is the token of a key, behind its "?", anchor and tag.
func (r *yamlReader) key(v *ast.MappingValueNode) *token.Token {
	key := ast.Node(v.Key)
	if explicit, ok := key.(*ast.MappingKeyNode); ok && explicit.Value != nil {
		key = explicit.Value
	}
	if bare := r.bare(key); bare != nil {
		key = bare
	}
	return key.GetToken()
}

func isMerge(v *ast.MappingValueNode) bool { _, ok := v.Key.(*ast.MergeKeyNode); return ok }

// tells reports whether what is merged says key, or may do so.
func (r *yamlReader) tells(n ast.Node, key string, depth int) bool {
	if depth == 0 {
		return true
	}
	switch n := r.bare(n).(type) {
	case *ast.MappingNode:
		return slices.ContainsFunc(n.Values, func(v *ast.MappingValueNode) bool { return r.tells(v, key, depth-1) })
	case *ast.MappingValueNode:
		return strings.EqualFold(r.key(n).Value, key) || isMerge(n) && r.tells(n.Value, key, depth-1)
	case *ast.SequenceNode:
		return slices.ContainsFunc(n.Values, func(v ast.Node) bool { return r.tells(v, key, depth-1) })
	case *ast.AliasNode:
		target, known := r.anchors[n.Value.GetToken().Value]
		return !known || r.tells(target, key, depth-1)
	}
	return false
}

// bare is a node without its anchor and tag; an alias is what it stands for,
// one step.
func (r *yamlReader) bare(n ast.Node) ast.Node {
	for range maxFrontmatterDepth {
		switch x := n.(type) {
		case *ast.AnchorNode:
			r.anchors[x.Name.GetToken().Value] = x.Value
			n = x.Value
		case *ast.TagNode:
			n = x.Value
		case *ast.AliasNode:
			target := r.anchors[x.Value.GetToken().Value]
			if _, ok := target.(ast.ScalarNode); !ok {
				return x
			}
			return target
		default:
			return n
		}
	}
	return nil
}

func (r *yamlReader) scalar(n ast.Node) (yamlScalar, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		t := n.GetToken().Type
		return yamlScalar{n.Value, t == token.DoubleQuoteType || t == token.SingleQuoteType}, true
	case *ast.LiteralNode:
		return yamlScalar{n.Value.Value, true}, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return yamlScalar{n.GetToken().Value, false}, true
	case *ast.InfinityNode, *ast.NanNode:
		return yamlScalar{n.GetToken().Value, true}, true
	}
	return yamlScalar{}, false
}
