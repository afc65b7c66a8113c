package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/index/vfs"
)

// Set gives the key called name these values in the file at path. If the file does not exist, Set makes it. Set changes
// only the lines of this key, so comments and the order of keys stay. A list has several values. Set replaces the whole
// file in one step, so a crash leaves the old or the new file.
func Set(path, name string, values []string) error {
	key, err := Lookup(name)
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
	return edit(path, name, func(p *parsed, lines []string) ([]string, error) {
		return p.set(lines, name, scalarText(key, values)), nil
	})
}

// Unset removes the key called name from the file at path, with its lines. Like Set, it changes nothing else. If the
// file does not set the key, the error is sheaf.ErrNotFound.
func Unset(path, name string) error {
	key, err := Lookup(name)
	if err != nil {
		return err
	}
	name = key.Name
	return edit(path, name, func(p *parsed, lines []string) ([]string, error) {
		for _, e := range p.entries {
			if e.key == name {
				return slices.Delete(lines, e.keyLine-1, e.last), nil
			}
		}
		return nil, fmt.Errorf("%w: %s does not set %s", sheaf.ErrNotFound, path, name)
	})
}

// edit changes the lines of a file with the function change. It parses the result, and returns an error if any key
// except the one called name changed. After any error, the file stays unchanged.
func edit(path, name string, change func(p *parsed, lines []string) ([]string, error)) error {
	content, err := readSmall(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read configuration: %w", err)
	}
	before, err := parseFile(path, content)
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(string(content), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	} else {
		lines[last] += "\n"
	}
	if lines, err = change(before, lines); err != nil {
		return err
	}
	changed := []byte(strings.Join(lines, ""))
	if string(changed) == string(content) {
		return nil
	}
	after, err := parseFile(path, changed)
	if err != nil || !sameBut(before.entries, after.entries, name) {
		return sheaf.Invalidf("%s cannot be edited safely: change %s in it by hand", path, name)
	}
	return replaceFile(path, changed)
}

// set returns the lines of a file, changed so that key has the value text. A comment after a one-line value stays. A
// new key becomes the first key of its section.
func (p *parsed) set(lines []string, key, text string) []string {
	group, leaf, nested := strings.Cut(key, ".")
	for _, e := range p.entries {
		if e.key == key {
			indent := strings.Repeat(" ", e.keyColumn-1)
			comment := ""
			if line := lines[e.keyLine-1]; e.last == e.keyLine {
				if i := strings.Index(line, " #"); i > 0 && !strings.ContainsAny(line[:i], `"'`) {
					comment = strings.TrimRight(line[i:], "\r\n")
				}
			}
			return slices.Replace(lines, e.keyLine-1, e.last, indent+e.name+": "+text+comment+"\n")
		}
	}
	for _, e := range p.entries {
		if nested && strings.HasPrefix(e.key, group+".") && e.keyColumn > 1 {
			return slices.Insert(lines, e.keyLine-1, strings.Repeat(" ", e.keyColumn-1)+leaf+": "+text+"\n")
		}
	}
	if line, ok := p.emptyMaps[group]; ok && nested {
		return slices.Insert(lines, line, "  "+leaf+": "+text+"\n")
	}
	if nested {
		return append(lines, group+":\n", "  "+leaf+": "+text+"\n")
	}
	return append(lines, key+": "+text+"\n")
}

func scalarText(key *Key, values []string) string {
	switch {
	case key.Kind == KindText:
		return quote(values[0])
	case key.Kind != KindList:
		return values[0]
	}
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = quote(v)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// plain matches texts that need no quotes in YAML, except the words in reserved. YAML may read these words as booleans
// or null.
var (
	plain    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*$`)
	reserved = []string{"true", "false", "null", "yes", "no", "on", "off"}
)

// quote returns text as YAML: plain words unchanged, other text in double quotes.
func quote(s string) string {
	if plain.MatchString(s) && !slices.Contains(reserved, strings.ToLower(s)) {
		return s
	}
	return strconv.Quote(s)
}

// sameBut reports whether two lists have equal entries. It ignores entries of the key called name.
func sameBut(old, edited []entry, name string) bool {
	values := func(entries []entry) map[string]string {
		m := map[string]string{}
		for _, e := range entries {
			m[e.key] = fmt.Sprintf("%T %v", e.value, e.value)
		}
		return m
	}
	was, is := values(old), values(edited)
	delete(was, name)
	delete(is, name)
	return maps.Equal(was, is)
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
