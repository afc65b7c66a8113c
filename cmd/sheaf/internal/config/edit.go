package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"sheaf"
	"sheaf/index/vfs"
)

// Set writes key: value into the file at path. It makes a missing file. Only the lines of that key
// change; comments and order stay. values has several entries for a list. Set replaces the file as
// a whole, so a crash leaves the old or the new file.
func Set(path, name string, values []string) error {
	key, err := LookupOrError(name)
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
	content, err := readSmall(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read configuration: %w", err)
	}
	changed, err := edit(path, content, key, values)
	if err != nil {
		return err
	}
	return replaceFile(path, changed)
}

// edit returns content with the key set. It parses the result and checks that only this key
// changed.
func edit(path string, content []byte, key *Key, values []string) ([]byte, error) {
	before, err := parseFile(path, content)
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(content), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	} else {
		lines[last] += "\n"
	}
	lines, err = editLines(path, content, lines, key, values)
	if err != nil {
		return nil, err
	}
	changed := []byte(strings.Join(lines, ""))
	after, err := parseFile(path, changed)
	if err != nil || !sameBut(before, after, key.Name) {
		return nil, sheaf.Invalidf("%s is written in a way that cannot be edited safely: set %s in it by hand", path,
			key.Name)
	}
	return changed, nil
}

func editLines(path string, content []byte, lines []string, key *Key, values []string) ([]string, error) {
	top, err := topPairs(path, content)
	if err != nil {
		return nil, err
	}
	text := scalarText(key, values)
	group, leaf, nested := strings.Cut(key.Name, ".")
	for _, pair := range top {
		name, err := scalar(path, pair.Key)
		if err != nil {
			return nil, err
		}
		switch {
		case name == key.Name:
			return replacePair(lines, pair, key.Name+": "+text), nil
		case name == embedderGroup && key.Name == embedderKey && pairsOf(pair.Value) == nil:
			return replacePair(lines, pair, name+": "+text), nil
		case nested && name == group:
			return editGroup(path, lines, pair, leaf, text)
		}
	}
	if nested {
		return append(lines, group+":\n", "  "+leaf+": "+text+"\n"), nil
	}
	return append(lines, key.Name+": "+text+"\n"), nil
}

// editGroup sets leaf inside the nested map of pair.
func editGroup(path string, lines []string, pair *ast.MappingValueNode, leaf, text string) ([]string, error) {
	for _, inner := range pairsOf(pair.Value) {
		name, err := scalar(path, inner.Key)
		if err != nil {
			return nil, err
		}
		if name == leaf {
			return replacePair(lines, inner, leaf+": "+text), nil
		}
	}
	indent, line := "  ", 0
	if inner := pairsOf(pair.Value); len(inner) > 0 {
		var column int
		line, column = position(inner[0].Key)
		line, indent = line-1, strings.Repeat(" ", column-1)
	} else {
		line, _ = position(pair.Key)
	}
	return slices.Insert(lines, line, indent+leaf+": "+text+"\n"), nil
}

// replacePair replaces the lines of pair with text. It keeps a comment after a one-line value.
func replacePair(lines []string, pair *ast.MappingValueNode, text string) []string {
	first, column := position(pair.Key)
	last := lastLine(pair.Value, first)
	indent := strings.Repeat(" ", column-1)
	comment := ""
	if last == first {
		if i := strings.Index(lines[first-1], " #"); i > 0 && !strings.ContainsAny(lines[first-1][:i], `"'`) {
			comment = strings.TrimRight(lines[first-1][i:], "\r\n")
		}
	}
	return slices.Replace(lines, first-1, last, indent+text+comment+"\n")
}

func lastLine(node ast.Node, first int) int {
	last := first
	if sequence, ok := node.(*ast.SequenceNode); ok {
		for _, item := range sequence.Values {
			line, _ := position(item)
			last = max(last, line)
		}
		if sequence.End != nil && sequence.End.Position != nil {
			last = max(last, sequence.End.Position.Line)
		}
		return last
	}
	line, _ := position(node)
	return max(last, line)
}

func topPairs(path string, content []byte) ([]*ast.MappingValueNode, error) {
	file, err := parseYAML(path, content)
	if err != nil {
		return nil, err
	}
	for _, doc := range file.Docs {
		if pairs := pairsOf(doc.Body); pairs != nil {
			return pairs, nil
		}
	}
	return nil, nil
}

func pairsOf(node ast.Node) []*ast.MappingValueNode {
	switch node := node.(type) {
	case *ast.MappingNode:
		return node.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{node}
	}
	return nil
}

func scalarText(key *Key, values []string) string {
	switch key.Kind {
	case KindList:
	case KindText:
		return quote(values[0])
	default:
		return values[0]
	}
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = quote(v)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// quote returns plain words unchanged and other text in double quotes.
func quote(s string) string {
	plain := s != ""
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789_./-", r)) {
			plain = false
		}
	}
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off":
		plain = false
	}
	if plain {
		return s
	}
	return strconv.Quote(s)
}

// sameBut reports whether before and after differ only in name, and after has name.
func sameBut(before, after []entry, name string) bool {
	values := func(entries []entry) map[string]string {
		m := map[string]string{}
		for _, e := range entries {
			m[e.key] = fmt.Sprintf("%T %v", e.value, e.value)
		}
		return m
	}
	was, is := values(before), values(after)
	was[name] = is[name]
	return is[name] != "" && maps.Equal(was, is)
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
