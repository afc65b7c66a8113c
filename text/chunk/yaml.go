package chunk

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"sheaf/internal/yamlfile"
)

// parse parses the YAML between the delimiters with a full parser. It drops aliases of lists and maps, so that a small
// text cannot become huge. If the text is not YAML, it returns a fault, with its line in the block.
func (f *frontmatter) parse(inner string) ([]yamlEntry, *yamlfile.Fault) {
	limits := yamlfile.Limits{Bytes: maxFrontmatterBytes, Depth: maxFrontmatterDepth}
	file, err := yamlfile.Parse(strings.ReplaceAll(inner, "\r\n", "\n"), limits, parser.AllowDuplicateMapKey())
	if err != nil {
		fault := new(yamlfile.Fault)
		errors.As(err, &fault)
		return nil, fault
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, nil
	}
	r := yamlReader{anchors: map[string]ast.Node{}}
	return r.entries(file.Docs[0].Body)
}

type yamlReader struct{ anchors map[string]ast.Node }

// pairs returns the keys and values of a map. ok is false if n is not a map.
func (r *yamlReader) pairs(n ast.Node) (values []*ast.MappingValueNode, ok bool) {
	switch n := r.bare(n).(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

func (r *yamlReader) entries(body ast.Node) ([]yamlEntry, *yamlfile.Fault) {
	values, ok := r.pairs(body)
	if !ok {
		return nil, &yamlfile.Fault{Line: body.GetToken().Position.Line, Text: "no keys and values"}
	}
	entries := r.addBelow(make([]yamlEntry, 0, len(values)), "", body, 0)
	merged := yamlEntry{key: "tenant", nested: true}
	for _, v := range values {
		if isMerge(v) && r.mayHaveKey(v.Value, merged.key, maxFrontmatterDepth) {
			merged.line = r.key(v).Position.Line + 1
		}
	}
	own := slices.ContainsFunc(entries, func(e yamlEntry) bool { return strings.EqualFold(e.key, merged.key) })
	if merged.line > 0 && !own { // merged maps are not read, but their access rights must not be lost
		entries = append(entries, merged)
	}
	return entries, nil
}

// maxBelow is the largest depth of nested maps whose entries are read.
const maxBelow = 8

// addBelow appends the entries of a map. At depth 0, the map is the frontmatter, and all keys count. In maps below it,
// only keys with scalars or lists count: the key place in the map meta becomes meta.place.
func (r *yamlReader) addBelow(entries []yamlEntry, prefix string, n ast.Node, depth int) []yamlEntry {
	values, _ := r.pairs(n)
	for _, v := range values {
		if depth > 0 && (isMerge(v) || depth > maxBelow || len(entries) > 2*maxProperties) {
			continue
		}
		t := r.key(v)
		e := yamlEntry{key: prefix + t.Value, line: t.Position.Line + 1}
		maps := r.fill(&e, r.bare(v.Value))
		if depth == 0 {
			entries = append(entries, e)
		} else if e.within = false; len(e.values) > 0 {
			entries = append(entries, e)
		}
		switch {
		case depth == 0 && IsAccessProperty(e.key):
		case e.nested:
			entries = r.addBelow(entries, e.key+".", v.Value, depth+1)
		default:
			entries = r.belowAll(entries, e.key+".", maps, depth+1)
		}
	}
	return entries
}

// fill sets the values of an entry from n. If n is a list, fill returns the maps in it.
func (r *yamlReader) fill(e *yamlEntry, n ast.Node) (maps []ast.Node) {
	access := IsAccessProperty(e.key)
	take := func(n ast.Node) bool {
		_, link := n.(*ast.SequenceNode)
		s, ok := r.scalar(n)
		if ok = ok && !(link && access); ok {
			e.values = append(e.values, s)
		}
		return ok
	}
	_, empty := n.(*ast.NullNode)
	list, isList := n.(*ast.SequenceNode)
	switch {
	case n == nil || empty:
		e.null = true
	case take(n):
	case isList:
		e.list = true
		for _, item := range list.Values {
			item = r.bare(item)
			if take(item) {
				continue
			}
			switch item.(type) {
			case *ast.MappingNode, *ast.MappingValueNode:
				e.within = e.within || access
				maps = append(maps, item)
			case *ast.SequenceNode, *ast.AliasNode:
				e.within = true
			}
		}
	default:
		_, alias := n.(*ast.AliasNode)
		e.nested, e.within = true, alias
	}
	return maps
}

// belowAll appends the entries of each map in a list, as addBelow does with the same prefix and depth. A key in several
// maps becomes one entry with a list of values.
func (r *yamlReader) belowAll(entries []yamlEntry, prefix string, maps []ast.Node, depth int) []yamlEntry {
	at := map[string]int{}
	for _, m := range maps {
		next := len(entries)
		entries = r.addBelow(entries, prefix, m, depth)
		added := entries[next:]
		entries = entries[:next]
		for _, e := range added {
			e.list = true
			if i, known := at[e.key]; known {
				entries[i].values = append(entries[i].values, e.values...)
				continue
			}
			at[e.key] = len(entries)
			entries = append(entries, e)
		}
	}
	return entries
}

// key returns the token of a key without its "?", anchor and tag.
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

// mayHaveKey reports whether n, a map or a list of maps, has key or may have it. It reads maps down to this depth, and
// returns true if there are deeper maps.
func (r *yamlReader) mayHaveKey(n ast.Node, key string, depth int) bool {
	if depth == 0 {
		return true
	}
	switch n := r.bare(n).(type) {
	case *ast.MappingNode:
		return slices.ContainsFunc(n.Values, func(v *ast.MappingValueNode) bool { return r.mayHaveKey(v, key, depth-1) })
	case *ast.MappingValueNode:
		return strings.EqualFold(r.key(n).Value, key) || isMerge(n) && r.mayHaveKey(n.Value, key, depth-1)
	case *ast.SequenceNode:
		return slices.ContainsFunc(n.Values, func(v ast.Node) bool { return r.mayHaveKey(v, key, depth-1) })
	case *ast.AliasNode:
		target, known := r.anchors[n.Value.GetToken().Value]
		return !known || r.mayHaveKey(target, key, depth-1)
	}
	return false
}

// bare returns a node without its anchor and tag. For an alias of a scalar, it returns the scalar.
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

// scalar reads a text, a number or a boolean. It returns false for other nodes. An unquoted wiki link, as in "day:
// [[2024-05-31]]", is also a scalar, although YAML reads nested lists.
func (r *yamlReader) scalar(n ast.Node) (yamlScalar, bool) {
	switch n := n.(type) {
	case *ast.SequenceNode:
		if inner, ok := onlyItem(n).(*ast.SequenceNode); ok {
			if text, ok := onlyItem(inner).(ast.ScalarNode); ok {
				s, ok := r.scalar(text)
				return yamlScalar{"[[" + s.raw + "]]", true}, ok
			}
		}
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

// onlyItem returns the item of a list in brackets that has one item. For any other list, it returns nil.
func onlyItem(list *ast.SequenceNode) ast.Node {
	if len(list.Values) != 1 || !list.IsFlowStyle {
		return nil
	}
	return list.Values[0]
}

// lineReader reads frontmatter without a YAML parser. It reads the keys at the beginning of lines. The value is the
// text or the list in brackets after the key, or the list items below the key. If simple is false, the YAML may be
// malformed, and entries has what could be read, without nested values. For example, a title with a colon but without
// quotation marks does not affect other values.
type lineReader struct {
	entries []yamlEntry
	simple  bool // a YAML parser would return the same entries, as for nearly all frontmatter
	below   bool // the last key may have items below it
	bracket bool // the last list in brackets is still open
}

// require sets the field simple to false if the condition is false.
func (r *lineReader) require(condition bool) { r.simple = r.simple && condition }

func (r *lineReader) line(text string, number int) {
	inside := strings.TrimLeft(text, " \t")
	if inside == "" || inside[0] == '#' {
		r.require(inside == text)
		return
	}
	r.require(!strings.Contains(text, "\t"))
	if r.bracket && (len(inside) < len(text) || inside[0] == ']') {
		r.bracket = !r.items(&r.entries[len(r.entries)-1], inside)
		return
	}
	r.bracket = false
	if r.below && len(inside) > 1 && inside[0] == '-' && (inside[1] == ' ' || inside[1] == '\t') {
		value, ok := r.scalar(inside[2:])
		if ok = ok && !strings.Contains(inside, ": "); ok {
			r.entries[len(r.entries)-1].add(value)
		}
		r.require(ok)
		return
	}
	r.below = false
	written, rest, found := strings.Cut(text, ":")
	key := strings.TrimRight(written, " \t")
	if inside, ok := unquoted(key); ok {
		key = inside
	}
	if !found || rest != "" && rest[0] != ' ' && rest[0] != '\t' || !isKey(key) { // indented lines, too
		r.simple = false
		return
	}
	r.require(key == written)
	e := yamlEntry{key: key, line: number, null: true}
	rest = strings.TrimSpace(rest)
	if items, isList := strings.CutPrefix(rest, "["); isList {
		r.bracket = !r.items(&e, items)
	} else if rest == "" || rest[0] == '#' {
		r.below = true
		r.require(rest == "")
	} else if value, ok := r.scalar(rest); ok {
		e.null, e.values = false, []yamlScalar{value}
	}
	r.entries = append(r.entries, e)
}

// isKey reports whether a text may be a key. A key has letters, marks, digits and '_', and after its first character
// also '-', '.', '/' and spaces.
func isKey(key string) bool {
	for i, c := range key {
		if !unicode.In(c, unicode.L, unicode.M, unicode.Nd) && c != '_' && (i == 0 || !strings.ContainsRune("-. /", c)) {
			return false
		}
	}
	return key != ""
}

func (e *yamlEntry) add(value yamlScalar) {
	e.list, e.null, e.values = true, false, append(e.values, value)
}

// items appends the values in s, a line of a list in brackets, to e. It reports whether the list ends on the line.
func (r *lineReader) items(e *yamlEntry, s string) (ended bool) {
	for {
		before, commas := s, 0
		s = strings.TrimLeft(s, " \t,[")
		gap := before[:len(before)-len(s)]
		if len(e.values) > 0 {
			commas = 1
		}
		switch given := strings.Count(gap, ","); {
		case s == "" || s[0] == '#':
			r.require(ended && before == "")
			return ended
		case s[0] == ']':
			r.require(!ended && given <= commas && !strings.Contains(gap, "["))
			s, ended = s[1:], true
			continue
		default:
			r.require(!ended && given == commas && !strings.Contains(gap, "["))
		}
		end := 0
		if s[0] == '"' || s[0] == '\'' {
			end = strings.IndexByte(s[1:], s[0]) + 2
		}
		if end < 2 {
			if end = strings.IndexAny(s, ",]"); end < 0 {
				end = len(s)
			}
			if comment := strings.Index(s[:end], " #"); comment >= 0 {
				end = comment
			}
			r.require(!strings.ContainsAny(s[:end], "[]{}\"'#&*:"))
		}
		if value, ok := r.scalar(s[:end]); ok {
			e.add(value)
		}
		s, ended = s[end:], false
	}
}

// scalar returns a text without the quotation marks around it and the comment after it. ok is false for an open
// bracket, and for a text that continues on later lines. A wiki link is a text.
func (r *lineReader) scalar(s string) (value yamlScalar, ok bool) {
	s = strings.TrimSpace(s)
	r.require(simpleScalar(s))
	for {
		if inside, ok := unquoted(s); ok {
			return yamlScalar{inside, true}, true
		}
		if strings.HasPrefix(s, "[[") && strings.HasSuffix(s, "]]") {
			return yamlScalar{s, true}, true // a wiki link, as yamlReader.scalar reads it
		}
		before, _, comment := strings.Cut(s, " #")
		if !comment {
			return yamlScalar{raw: s}, s != "" && !strings.ContainsAny(s[:1], "#[]|>")
		}
		s = strings.TrimSpace(before)
	}
}

// simpleScalar reports whether s is a scalar of YAML whose text is s itself, or s without its quotation marks. Escapes
// and signs with a meaning in YAML make the result false.
func simpleScalar(s string) bool {
	if s == "" {
		return false
	}
	c := s[0]
	if c == '"' || c == '\'' {
		inside, ok := unquoted(s)
		return ok && strings.IndexByte(inside, c) < 0 && (c == '\'' || strings.IndexByte(inside, '\\') < 0)
	}
	if strings.IndexByte("[]{}&*!|>%@`#,?-:", c) >= 0 && !(c == '-' && len(s) > 1 && isDigit(s[1])) {
		return false
	}
	return !strings.Contains(s, ": ") && !strings.Contains(s, " #") && !strings.HasSuffix(s, ":")
}

// unquoted returns the text between the quotation marks around s. ok is false without quotation marks.
func unquoted(s string) (inside string, ok bool) {
	n := len(s)
	if n < 2 || s[0] != '"' && s[0] != '\'' || s[n-1] != s[0] {
		return "", false
	}
	return s[1 : n-1], true
}
