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

// parse reads a block with a full YAML parser. It expands nothing: it drops an alias of anything
// but a scalar. A fault has its line in the block.
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

// pairs returns the keys and values of a map; ok is false for another node.
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
	entries := make([]yamlEntry, 0, len(values))
	merged := yamlEntry{key: "tenant", nested: true}
	for _, v := range values {
		t := r.key(v)
		e := yamlEntry{key: t.Value, line: t.Position.Line + 1}
		if isMerge(v) && r.tells(v.Value, "tenant", maxFrontmatterDepth) {
			merged.line = e.line
		}
		var maps []ast.Node // in a list
		switch n := r.bare(v.Value).(type) {
		case *ast.SequenceNode:
			if link, ok := r.scalar(n); ok && !IsAccessProperty(e.key) {
				e.values = append(e.values, link)
				break
			}
			e.list = true
			for _, item := range n.Values {
				if link, ok := r.scalar(item); ok && !IsAccessProperty(e.key) {
					e.values = append(e.values, link)
					continue
				}
				switch item := r.bare(item).(type) {
				case *ast.MappingNode, *ast.MappingValueNode:
					e.within = e.within || IsAccessProperty(e.key)
					maps = append(maps, item)
				case *ast.SequenceNode, *ast.AliasNode:
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
		if len(maps) > 0 && !IsAccessProperty(e.key) {
			entries = r.belowAll(entries, e.key, maps, 1)
		}
	}
	own := slices.ContainsFunc(entries, func(e yamlEntry) bool { return strings.EqualFold(e.key, merged.key) })
	if merged.line > 0 && !own { // merged maps are not read, but their access rights must not be lost
		entries = append(entries, merged)
	}
	return entries, nil
}

// maxBelow is how deep nested maps are read.
const maxBelow = 8

// below adds the scalars, and the lists of scalars and maps, of a map in the frontmatter: place of
// the map meta becomes meta.place.
func (r *yamlReader) below(entries []yamlEntry, prefix string, n ast.Node, depth int) []yamlEntry {
	values, _ := r.pairs(n)
	for _, v := range values {
		if isMerge(v) || depth > maxBelow || len(entries) > 2*maxProperties {
			continue
		}
		t := r.key(v)
		e := yamlEntry{key: prefix + "." + t.Value, line: t.Position.Line + 1}
		node := r.bare(v.Value)
		if s, ok := r.scalar(node); ok {
			e.values = append(e.values, s)
		} else if list, ok := node.(*ast.SequenceNode); ok {
			e.list = true
			var maps []ast.Node
			for _, item := range list.Values {
				if s, ok := r.scalar(r.bare(item)); ok {
					e.values = append(e.values, s)
				} else if _, ok := r.pairs(item); ok {
					maps = append(maps, item)
				}
			}
			entries = r.belowAll(entries, e.key, maps, depth+1)
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

// belowAll adds what below adds for each map in a list: the values of one key become one list.
func (r *yamlReader) belowAll(entries []yamlEntry, prefix string, maps []ast.Node, depth int) []yamlEntry {
	at := map[string]int{}
	for _, m := range maps {
		next := len(entries)
		entries = r.below(entries, prefix, m, depth)
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

// key returns the token of a key, after its "?", anchor and tag.
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

// tells reports whether a merged map has key, or may have it.
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

// bare returns a node without its anchor and tag, and follows an alias one step.
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

// scalar reads a text, a number or a truth value. A wiki link without quotes, as in "day: [[2024-05-31]]", is one:
// YAML takes it for a list in a list.
func (r *yamlReader) scalar(n ast.Node) (yamlScalar, bool) {
	switch n := n.(type) {
	case *ast.SequenceNode:
		if inner, ok := only(n).(*ast.SequenceNode); ok {
			if text, ok := only(inner).(ast.ScalarNode); ok {
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

// only returns the one item of a list in brackets, or nil.
func only(list *ast.SequenceNode) ast.Node {
	if len(list.Values) != 1 || !list.IsFlowStyle {
		return nil
	}
	return list.Values[0]
}

// simpleYAML reads the part of YAML that nearly all frontmatter uses: top-level keys with plain or
// simply quoted scalars, and lists of those. ok is false for anything else, which may still be
// valid.
func simpleYAML(inner string) (entries []yamlEntry, ok bool) {
	number := 1
	all := linesFrom(inner, 0)
	for l, more := all.next(); more; l, more = all.next() {
		number++
		text := strings.TrimRight(inner[l.start:l.end], " \t")
		if text == "" || text[0] == '#' {
			continue
		}
		if item, isItem := strings.CutPrefix(strings.TrimLeft(text, " "), "- "); isItem && len(entries) > 0 {
			e := &entries[len(entries)-1]
			value, ok := simpleScalar(strings.TrimLeft(item, " "))
			if !ok || !(e.null || e.list) || strings.Contains(item, ": ") || strings.HasSuffix(item, ":") {
				return nil, false
			}
			e.list, e.null = true, false
			e.values = append(e.values, value)
			continue
		}
		key, rest, found := strings.Cut(text, ":")
		if !found || !simpleKey(key) || rest != "" && rest[0] != ' ' {
			return nil, false
		}
		e := yamlEntry{key: key, line: number}
		if ok := e.simpleValue(strings.TrimLeft(rest, " ")); !ok {
			return nil, false
		}
		entries = append(entries, e)
	}
	return entries, true
}

func (e *yamlEntry) simpleValue(rest string) bool {
	if rest == "" {
		e.null = true
		return true
	}
	if inside, ok := strings.CutPrefix(rest, "["); ok {
		inside, ok = strings.CutSuffix(inside, "]")
		e.list = true
		return ok && e.simpleItems(strings.Trim(inside, " "))
	}
	value, ok := simpleScalar(rest)
	e.values = append(e.values, value)
	return ok
}

// simpleItems reads the items between the brackets of a list on one line.
func (e *yamlEntry) simpleItems(rest string) bool {
	for rest != "" {
		end := -1
		if c := rest[0]; c == '"' || c == '\'' {
			if end = strings.IndexByte(rest[1:], c) + 2; end < 2 {
				return false
			}
			if after := strings.TrimLeft(rest[end:], " "); after != "" && after[0] != ',' {
				return false
			}
		} else if end = strings.IndexByte(rest, ','); end < 0 {
			end = len(rest)
		}
		item := strings.TrimRight(rest[:end], " ")
		value, ok := simpleScalar(item)
		if !ok || !value.quoted && strings.ContainsAny(item, "[]{}\"'#&*:") {
			return false
		}
		e.values = append(e.values, value)
		rest = strings.TrimLeft(rest[end:], " ")
		if rest != "" {
			rest = strings.TrimLeft(rest[1:], " ") // after the comma
		}
	}
	return true
}

func simpleKey(key string) bool {
	for i := 0; i < len(key); i++ {
		if c := key[i]; !isWordByte(c) && (c != '_' && c != '-' && c != '.' && c != ' ' || i == 0) {
			return false
		}
	}
	return key != "" && key[len(key)-1] != ' '
}

// simpleScalar reads a scalar on one line without escapes or anything special.
func simpleScalar(s string) (yamlScalar, bool) {
	if s == "" || strings.ContainsRune(s, '\t') {
		return yamlScalar{}, false
	}
	if c := s[0]; c == '"' || c == '\'' {
		inside, ok := unquoted(s)
		if !ok || strings.IndexByte(inside, c) >= 0 || c == '"' && strings.IndexByte(inside, '\\') >= 0 {
			return yamlScalar{}, false
		}
		return yamlScalar{inside, true}, true
	}
	if strings.IndexByte("[]{}&*!|>%@`#,?-:", s[0]) >= 0 && !(s[0] == '-' && len(s) > 1 && isDigit(s[1])) {
		return yamlScalar{}, false
	}
	if strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.HasSuffix(s, ":") {
		return yamlScalar{}, false
	}
	return yamlScalar{raw: s}, true
}

// looseYAML reads what it can of malformed YAML: the keys that begin a line, each with the text
// after it, or with list items below it. So one value without quotation marks, such as a title with
// a colon, does not lose the others. It drops nested values.
func looseYAML(inner string) (entries []yamlEntry) {
	number, below, bracket := 1, false, false // whether the last key may have items, and whether they are in brackets
	all := linesFrom(inner, 0)
	for l, more := all.next(); more; l, more = all.next() {
		number++
		text := strings.TrimRight(inner[l.start:l.end], " \t")
		inside := strings.TrimLeft(text, " \t")
		if inside == "" || inside[0] == '#' {
			continue
		}
		if bracket && (len(inside) < len(text) || inside[0] == ']') {
			bracket = !entries[len(entries)-1].looseItems(inside)
			continue
		}
		bracket = false
		if below && len(inside) > 1 && inside[0] == '-' && (inside[1] == ' ' || inside[1] == '\t') {
			if value, ok := looseScalar(inside[2:]); ok && !strings.Contains(inside, ": ") {
				entries[len(entries)-1].add(value)
			}
			continue
		}
		key, rest, found := strings.Cut(text, ":")
		if found = found && (rest == "" || rest[0] == ' ' || rest[0] == '\t'); !found {
			below = false
			continue
		}
		key = strings.TrimRight(key, " \t")
		if inside, ok := unquoted(key); ok {
			key = inside
		}
		if below = false; !looseKey(key) { // indented lines, too
			continue
		}
		e := yamlEntry{key: key, line: number, null: true}
		rest = strings.TrimSpace(rest)
		if items, isList := strings.CutPrefix(rest, "["); isList {
			bracket = !e.looseItems(items)
		} else if value, ok := looseScalar(rest); ok {
			e.null, e.values = false, []yamlScalar{value}
		} else {
			below = rest == "" || rest[0] == '#'
		}
		entries = append(entries, e)
	}
	return entries
}

// looseKey reports whether a text may be a key: it begins with a letter, a digit or an underscore,
// and has few other signs.
func looseKey(key string) bool {
	for i, c := range key {
		if !unicode.In(c, unicode.L, unicode.M, unicode.Nd) && c != '_' && (i == 0 || !strings.ContainsRune("-. /", c)) {
			return false
		}
	}
	return key != ""
}

// add adds a value to a list.
func (e *yamlEntry) add(value yamlScalar) {
	e.list, e.null, e.values = true, false, append(e.values, value)
}

// looseItems adds the values between brackets and commas on a line to a list, and reports whether
// the list ends there.
func (e *yamlEntry) looseItems(s string) (ended bool) {
	for {
		s = strings.TrimLeft(s, " \t,[")
		switch {
		case s == "" || s[0] == '#':
			return ended
		case s[0] == ']':
			s, ended = s[1:], true
			continue
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
		}
		if value, ok := looseScalar(s[:end]); ok {
			e.add(value)
		}
		s, ended = s[end:], false
	}
}

// looseScalar returns a text without a comment after it and quotation marks around it. ok is false
// for a text that announces more lines, or an open bracket.
func looseScalar(s string) (yamlScalar, bool) {
	s = strings.TrimSpace(s)
	if inside, ok := unquoted(s); ok {
		return yamlScalar{inside, true}, true
	}
	s, _, _ = strings.Cut(s, " #")
	s = strings.TrimSpace(s)
	if inside, ok := unquoted(s); ok {
		return yamlScalar{inside, true}, true
	}
	return yamlScalar{raw: s}, s != "" && !strings.ContainsAny(s[:1], "#[]|>")
}

// unquoted returns the text between quotation marks; ok is false when there are none.
func unquoted(s string) (inside string, ok bool) {
	n := len(s)
	if n < 2 || s[0] != '"' && s[0] != '\'' || s[n-1] != s[0] {
		return "", false
	}
	return s[1 : n-1], true
}
