package ingest

import (
	"strings"
)

// ignoreRule is one line of an ignore file, as gitignore(5) defines it.
type ignoreRule struct {
	pattern  string
	negated  bool
	dirOnly  bool
	anchored bool // matched against the path from the file's folder, not the name
}

// ignoreFile is the rules of one file, which lies in folder base ("" for the
// top, else ending with a slash).
type ignoreFile struct {
	base  string
	rules []ignoreRule
}

// parseIgnore reads an ignore file.
func parseIgnore(base, content string) ignoreFile {
	f := ignoreFile{base: base}
	content = strings.TrimPrefix(content, "\ufeff")
	for line := range strings.SplitSeq(content, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" || line[0] == '#' {
			continue
		}
		r := ignoreRule{pattern: trimUnescapedSpaces(line)}
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
		if r.pattern != "" {
			f.rules = append(f.rules, r)
		}
	}
	return f
}

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
// ends): the last rule that matches decides. decided is false when none does.
func (f *ignoreFile) verdict(path, name string, isDir bool) (ignored, decided bool) {
	relative, ok := strings.CutPrefix(path, f.base)
	if !ok {
		return false, false
	}
	for i := len(f.rules) - 1; i >= 0; i-- {
		r := &f.rules[i]
		if r.dirOnly && !isDir {
			continue
		}
		subject := name
		if r.anchored {
			subject = relative
		}
		if wildmatch(r.pattern, subject) {
			return !r.negated, true
		}
	}
	return false, false
}

// wildmatch matches a gitignore pattern: '?' and '[...]' are one byte or
// character that is no slash, '*' any number of those, "**" between slashes any
// number of folders, '\' takes the next character as it is.
func wildmatch(pattern, s string) bool {
	for pattern != "" {
		switch c := pattern[0]; c {
		case '*':
			if strings.HasPrefix(pattern, "**") {
				rest := pattern[2:]
				if rest == "" {
					return true
				}
				if rest[0] == '/' { // "**/" matches in every folder, this one too
					rest = rest[1:]
					for {
						if wildmatch(rest, s) {
							return true
						}
						slash := strings.IndexByte(s, '/')
						if slash < 0 {
							return false
						}
						s = s[slash+1:]
					}
				}
			}
			pattern = strings.TrimLeft(pattern, "*")
			for i := 0; ; i++ {
				if wildmatch(pattern, s[i:]) {
					return true
				}
				if i == len(s) || s[i] == '/' {
					return false
				}
			}
		case '?':
			if s == "" || s[0] == '/' {
				return false
			}
			pattern, s = pattern[1:], s[runeLen(s):]
		case '[':
			size, ok := bracket(pattern, s)
			if !ok {
				return false
			}
			pattern, s = pattern[size:], s[runeLen(s):]
		case '/':
			if strings.HasPrefix(pattern, "/**/") && s != "" && s[0] == '/' {
				// "a/**/b" is also "a/b"
				if wildmatch(pattern[3:], s) {
					return true
				}
				pattern, s = pattern[1:], s[1:]
				continue
			}
			if s == "" || s[0] != '/' {
				return false
			}
			pattern, s = pattern[1:], s[1:]
		default:
			if c == '\\' && len(pattern) > 1 {
				pattern = pattern[1:]
			}
			if s == "" || s[0] != pattern[0] {
				return false
			}
			pattern, s = pattern[1:], s[1:]
		}
	}
	return s == ""
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
