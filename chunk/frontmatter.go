package chunk

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"sheaf"
)

// frontmatter is what stands between "---" lines at the start of a file.
type frontmatter struct {
	// whole is the block with its delimiter lines; inner is between them.
	whole, inner span
	title        string
	aliases      []string
	tags         []string
	properties   []sheaf.Property
	warnings     []sheaf.Warning
	// useless says that the YAML gave nothing, so that the block is text.
	useless bool
}

// Limits of frontmatter that is parsed; beyond them it is text, with a warning.
const (
	maxFrontmatterBytes = 1 << 20
	maxFrontmatterDepth = 50
)

// findFrontmatter finds the block at byte start of src (0, or 3 after a byte
// order mark). The delimiters alone decide. ok is false when there is none.
func findFrontmatter(src string, start int) (f frontmatter, ok bool) {
	if !strings.HasPrefix(src[start:], "---") {
		return f, false
	}
	all := linesFrom(src, start)
	l, _ := all.next()
	if !blank(src[start+3:l.end]) || l.next == l.end {
		return f, false
	}
	f.inner.start = l.next
	for l, ok = all.next(); ok; l, ok = all.next() {
		text := src[l.start:l.end]
		if (strings.HasPrefix(text, "---") || strings.HasPrefix(text, "...")) && blank(text[3:]) {
			f.inner.end = l.start
			f.whole = span{start, l.next}
			return f, true
		}
	}
	return f, false
}

// read parses the block.
func (f *frontmatter) read(src string) {
	inner := src[f.inner.start:f.inner.end]
	if blankText(inner) {
		return
	}
	entries, ok := simpleYAML(inner)
	if !ok {
		var err error
		if entries, err = f.parse(inner); err != nil {
			f.useless = true
			f.warnings = append(f.warnings, sheaf.Warning{Line: lineOf(err), Message: "frontmatter: " + message(err) + "; it is indexed as text"})
			return
		}
	}
	if len(entries) == 0 {
		f.useless = true
		return
	}
	f.take(entries)
}

// yamlEntry is one key of the frontmatter with its scalar values.
type yamlEntry struct {
	key    string
	line   int // of the key, from 1, in the file
	list   bool
	null   bool
	nested bool
	values []yamlScalar
}

type yamlScalar struct {
	raw    string
	quoted bool
}

func (s yamlScalar) value() sheaf.Value {
	if s.quoted {
		return sheaf.TextValue(s.raw)
	}
	return plainValue(s.raw)
}

// take makes title, aliases, tags and properties of the entries. A key given
// twice counts at its last place.
func (f *frontmatter) take(entries []yamlEntry) {
	last := make(map[string]int, len(entries))
	for i, e := range entries {
		if before, ok := last[e.key]; ok {
			f.warnings = append(f.warnings, sheaf.Warning{Line: e.line, Message: fmt.Sprintf("frontmatter: %q was given on line %d already; this one counts", e.key, entries[before].line)})
		}
		last[e.key] = i
	}
	for i, e := range entries {
		if last[e.key] != i || e.nested || e.null {
			continue
		}
		switch strings.ToLower(e.key) {
		case "title":
			if e.key == "title" && !e.list && len(e.values) == 1 {
				f.title = oneLine(e.values[0].raw)
			}
		case "aliases", "alias":
			f.aliases = appendNames(f.aliases, e, ",", "")
		case "tags", "tag":
			f.tags = appendNames(f.tags, e, ", ", "#")
		}
		p := sheaf.Property{Name: e.key, List: e.list}
		for _, s := range e.values {
			if v := s.value(); !v.IsZero() {
				p.Values = append(p.Values, v)
			}
		}
		if len(p.Values) > 0 {
			f.properties = append(f.properties, p)
		}
	}
}

// appendNames adds the values of a list, or those that one of the separators
// keeps apart in a scalar, without duplicates.
func appendNames(names []string, e yamlEntry, separators, prefix string) []string {
	for _, s := range e.values {
		parts := []string{s.raw}
		if !e.list {
			parts = strings.FieldsFunc(s.raw, func(r rune) bool { return strings.ContainsRune(separators, r) })
		}
		for _, part := range parts {
			part = strings.TrimPrefix(oneLine(part), prefix)
			if part != "" && !containsFold(names, part) {
				names = append(names, part)
			}
		}
	}
	return names
}

func containsFold(list []string, s string) bool {
	for _, t := range list {
		if strings.EqualFold(s, t) {
			return true
		}
	}
	return false
}

// oneLine trims s and turns line breaks into spaces.
func oneLine(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.ContainsAny(s, "\r\n") {
		s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	}
	return strings.Trim(s, " \t")
}

// simpleYAML reads the part of YAML that nearly all frontmatter is written in:
// top-level keys with plain or simply quoted scalars, and lists of those. ok is
// false when there is anything else, which says nothing about its validity.
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
			rest = strings.TrimLeft(rest[1:], " ") // the comma
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
		if len(s) < 2 || s[len(s)-1] != c || strings.IndexByte(s[1:len(s)-1], c) >= 0 || c == '"' && strings.IndexByte(s, '\\') >= 0 {
			return yamlScalar{}, false
		}
		return yamlScalar{s[1 : len(s)-1], true}, true
	}
	if strings.IndexByte("[]{}&*!|>%@`#,?-:", s[0]) >= 0 && !(s[0] == '-' && len(s) > 1 && isDigit(s[1])) {
		return yamlScalar{}, false
	}
	if strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.HasSuffix(s, ":") {
		return yamlScalar{}, false
	}
	return yamlScalar{raw: s}, true
}

// plainValue types a scalar without quotes as YAML's core schema does, and knows
// dates. Nothing, null and ~ give the zero Value.
func plainValue(s string) sheaf.Value {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return sheaf.Value{}
	case "true", "True", "TRUE":
		return sheaf.BoolValue(true)
	case "false", "False", "FALSE":
		return sheaf.BoolValue(false)
	}
	if c := s[0]; isDigit(c) || c == '-' || c == '+' || c == '.' {
		if t, ok := parseDate(s); ok {
			return sheaf.DateValue(t)
		}
		if n, ok := parseNumber(s); ok {
			return sheaf.NumberValue(n)
		}
	}
	return sheaf.TextValue(s)
}

func parseNumber(s string) (float64, bool) {
	if strings.ContainsAny(s, "_xXpP") && !strings.HasPrefix(s, "0x") {
		return 0, false
	}
	if n, err := strconv.ParseInt(s, 0, 64); err == nil && !strings.HasPrefix(s, "0b") && (len(s) == 1 || s[0] != '0' || strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0o")) {
		return float64(n), true
	}
	if strings.HasPrefix(s, "0x") {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
}

// dateLayouts are the ways in which YAML and people write dates.
var dateLayouts = [...]string{
	"2006-01-02", time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04",
	"2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 -07:00", "2006-01-02 15:04:05Z07:00",
}

// parseDate reads a date or a time; without a zone it is UTC.
func parseDate(s string) (time.Time, bool) {
	if len(s) < len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return time.Time{}, false
	}
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

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
func (f *frontmatter) parse(inner string) (entries []yamlEntry, err error) {
	if len(inner) > maxFrontmatterBytes {
		return nil, &yamlFault{1, fmt.Sprintf("%d bytes: at most %d are read", len(inner), maxFrontmatterBytes)}
	}
	if line := tooDeep(inner); line > 0 {
		return nil, &yamlFault{line + 1, fmt.Sprintf("nested deeper than %d levels", maxFrontmatterDepth)}
	}
	defer func() {
		if r := recover(); r != nil { // the parser's own fault
			entries, err = nil, &yamlFault{1, "the YAML cannot be read"}
		}
	}()
	file, err := parser.ParseBytes([]byte(strings.ReplaceAll(inner, "\r\n", "\n")), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		fault := &yamlFault{1, "malformed YAML"}
		var syntax *yaml.SyntaxError
		if errors.As(err, &syntax) {
			fault.text = "malformed YAML: " + syntax.Message
			if syntax.Token != nil {
				fault.line = syntax.Token.Position.Line + 1
			}
		}
		return nil, fault
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, nil
	}
	r := yamlReader{anchors: map[string]ast.Node{}}
	return r.entries(file.Docs[0].Body)
}

// tooDeep is the line, from 1, on which the nesting of a block may exceed
// maxFrontmatterDepth, or 0. It counts brackets and indentation, not syntax.
func tooDeep(inner string) int {
	depth, line := 0, 1
	for l := range strings.Lines(inner) {
		if len(l)-len(strings.TrimLeft(l, " ")) > 8*maxFrontmatterDepth || strings.Count(l[:min(len(l), 1000)], "- ") > maxFrontmatterDepth && strings.HasPrefix(strings.TrimLeft(l, " "), "- - - - ") {
			return line
		}
		for i := 0; i < len(l); i++ {
			switch l[i] {
			case '[', '{':
				if depth++; depth > maxFrontmatterDepth {
					return line
				}
			case ']', '}':
				depth = max(0, depth-1)
			}
		}
		line++
	}
	return 0
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
	for _, v := range values {
		t := v.Key.GetToken()
		e := yamlEntry{key: t.Value, line: t.Position.Line + 1}
		switch n := r.bare(v.Value).(type) {
		case *ast.SequenceNode:
			e.list = true
			for _, item := range n.Values {
				if s, ok := r.scalar(r.bare(item)); ok {
					e.values = append(e.values, s)
				}
			}
		case nil, *ast.NullNode:
			e.null = true
		default:
			if s, ok := r.scalar(n); ok {
				e.values = append(e.values, s)
			} else {
				e.nested = true
			}
		}
		entries = append(entries, e)
	}
	return entries, nil
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
