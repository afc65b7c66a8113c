package ingest

import (
	"fmt"
	"strings"
)

// ignoreRule is one line of an ignore file, as gitignore(5) defines it.
type ignoreRule struct {
	line     int    // from 1
	text     string // of the line
	pattern  string
	ending   string // the plain characters that end the pattern: every match ends with them
	negated  bool
	dirOnly  bool
	anchored bool // matched against the path from the file's folder, not the name
}

// ignoreFile is the rules of one file, which lies in folder base ("" for the
// top, else ending with a slash). name is what people know it by.
type ignoreFile struct {
	base string
	// lead is the path from the file's folder down to the top, for a file above the
	// top: "" for another file, else ending with a slash.
	lead  string
	name  string
	rules []ignoreRule
}

// own reports whether the rules are ours, and not git's.
func (f *ignoreFile) own() bool { return strings.HasSuffix(f.name, ignoreNames[1]) }

// parseIgnore reads an ignore file.
func parseIgnore(base, name, content string) ignoreFile {
	f := ignoreFile{base: base, name: name}
	content = strings.TrimPrefix(content, "\ufeff")
	number := 0
	for line := range strings.SplitSeq(content, "\n") {
		number++
		line = strings.TrimSuffix(line, "\r")
		if line == "" || line[0] == '#' {
			continue
		}
		r := ignoreRule{line: number, text: line, pattern: trimUnescapedSpaces(line)}
		if rest, ok := strings.CutPrefix(r.pattern, "!"); ok {
			r.negated, r.pattern = true, rest
		}
		if rest, ok := strings.CutSuffix(r.pattern, "/"); ok {
			r.dirOnly, r.pattern = true, rest
		}
		if strings.Contains(r.pattern, "/") {
			r.anchored = true
			r.pattern = strings.TrimPrefix(r.pattern, "/")
		}
		r.ending = r.pattern[len(strings.TrimRightFunc(r.pattern, isPlain)):]
		if r.pattern != "" {
			f.rules = append(f.rules, r)
		}
	}
	return f
}

// isPlain reports whether a character means only itself in a pattern. A slash may stand for
// nothing, behind stars.
func isPlain(c rune) bool { return !strings.ContainsRune(`*?[]\/`, c) }

// trimUnescapedSpaces drops spaces at the end that no backslash precedes.
func trimUnescapedSpaces(s string) string {
	end := len(s)
	for end > 0 && s[end-1] == ' ' {
		if end > 1 && s[end-2] == '\\' {
			break
		}
		end--
	}
	return s[:end]
}

// verdict is what the rules say of a path (relative to the top, no slash at its
// ends): the last rule that matches decides. It is nil when none does.
func (f *ignoreFile) verdict(path, name string, isDir bool) *ignoreRule {
	relative, ok := strings.CutPrefix(path, f.base)
	if !ok {
		return nil
	}
	relative = f.lead + relative
	for i := len(f.rules) - 1; i >= 0; i-- {
		r := &f.rules[i]
		if r.dirOnly && !isDir {
			continue
		}
		subject := name
		if r.anchored {
			subject = relative
		}
		if strings.HasSuffix(subject, r.ending) && wildmatch(r.pattern, subject) {
			return r
		}
	}
	return nil
}

// says is how a rule is shown: where it stands, and its text.
func (f *ignoreFile) says(r *ignoreRule) string {
	if f.name == "" {
		return "exclude: " + r.text // of the settings, which have no lines
	}
	return fmt.Sprintf("%s:%d: %s", f.name, r.line, r.text)
}

// wildmatch matches a gitignore pattern: '?' and '[...]' are one character that
// is no slash, '*' any number of those, "**" between slashes, or more of them, any number of
// folders, '\' takes the next character as it is.
func wildmatch(pattern, s string) bool {
	m := matcher{pattern: pattern, s: s, remembers: strings.Count(pattern, "*") > manyStars}
	return m.match(0, 0)
}

// manyStars is how many stars a pattern may have before pairs of places that did
// not match are remembered: without that, hostile patterns take exponential time.
const manyStars = 3

type matcher struct {
	pattern, s string
	remembers  bool // whether failed is worth it
	failed     map[[2]int]bool
}

// match matches pattern[p:] with s[i:].
func (m *matcher) match(p, i int) bool {
	if m.failed[[2]int{p, i}] {
		return false
	}
	ok := m.try(p, i)
	if !ok && m.remembers {
		if m.failed == nil {
			m.failed = map[[2]int]bool{}
		}
		m.failed[[2]int{p, i}] = true
	}
	return ok
}

func (m *matcher) try(p, i int) bool {
	for p < len(m.pattern) {
		pattern, s := m.pattern[p:], m.s[i:]
		switch c := pattern[0]; c {
		case '*':
			rest := strings.TrimLeft(pattern, "*")
			next := p + len(pattern) - len(rest)
			// Git compares what is plain at the beginning first, so the first stars begin as a slash had them.
			switch whole := next > p+1 && (p == strings.IndexAny(m.pattern, `*?[\`) || m.pattern[p-1] == '/'); {
			case whole && rest == "":
				return true
			case whole && rest[0] == '/': // in every folder, this one too
				return m.folders(next+1, i)
			case whole && strings.HasPrefix(rest, `\/`): // in every folder below this one
				slash := strings.IndexByte(s, '/')
				return slash >= 0 && m.folders(next+2, i+slash+1)
			}
			return m.star(next, i)
		case '?':
			if s == "" || s[0] == '/' {
				return false
			}
			p, i = p+1, i+runeLen(s)
		case '[':
			size, ok := bracket(pattern, s)
			if !ok {
				return false
			}
			p, i = p+size, i+runeLen(s)
		default:
			if c == '\\' && len(pattern) > 1 {
				p++
			}
			if s == "" || s[0] != m.pattern[p] {
				return false
			}
			p, i = p+1, i+1
		}
	}
	return i == len(m.s)
}

// star matches pattern[p:] after any number of characters that are no slash.
func (m *matcher) star(p, i int) bool {
	for ; ; i++ {
		if m.match(p, i) {
			return true
		}
		if i == len(m.s) || m.s[i] == '/' {
			return false
		}
	}
}

// folders matches pattern[p:] here and in every folder below.
func (m *matcher) folders(p, i int) bool {
	for {
		if m.match(p, i) {
			return true
		}
		slash := strings.IndexByte(m.s[i:], '/')
		if slash < 0 {
			return false
		}
		i += slash + 1
	}
}

func runeLen(s string) int {
	for i := range s {
		if i > 0 {
			return i
		}
	}
	return len(s)
}

// bracket matches the first character of s with the set that pattern begins
// with, and returns the set's length.
func bracket(pattern, s string) (size int, ok bool) {
	if s == "" || s[0] == '/' {
		return 0, false
	}
	c := []rune(s[:runeLen(s)])[0]
	set := []rune(pattern[1:])
	i, negated, in := 0, false, false
	if len(set) > 0 && (set[0] == '!' || set[0] == '^') {
		negated, i = true, 1
	}
	for first := i; ; i++ {
		if i >= len(set) {
			return 0, false // not closed: matches nothing
		}
		if set[i] == ']' && i > first {
			break
		}
		if set[i] == '[' && i+1 < len(set) && set[i+1] == ':' {
			if end := strings.Index(string(set[i:]), ":]"); end > 0 {
				name := string(set[i+2 : i+end])
				in = in || inClass(name, c)
				i += end + 1
				continue
			}
		}
		low := set[i]
		if low == '\\' && i+1 < len(set) {
			i++
			low = set[i]
		}
		high := low
		if i+2 < len(set) && set[i+1] == '-' && set[i+2] != ']' {
			i += 2
			high = set[i]
			if high == '\\' && i+1 < len(set) {
				i++
				high = set[i]
			}
		}
		in = in || low <= c && c <= high
	}
	return 1 + len(string(set[:i+1])), in != negated
}

func inClass(name string, c rune) bool {
	lower, upper, digit := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9'
	switch name {
	case "alpha":
		return lower || upper
	case "alnum":
		return lower || upper || digit
	case "digit":
		return digit
	case "lower":
		return lower
	case "upper":
		return upper
	case "space":
		return c == ' ' || c >= '\t' && c <= '\r'
	case "xdigit":
		return digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
	case "punct":
		return c > ' ' && c < 0x7f && !lower && !upper && !digit
	}
	return false
}
