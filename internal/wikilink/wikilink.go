// Package wikilink reads links as wikis and Obsidian write them: [[Note]],
// [[folder/Note#Heading|text]]. It knows nothing of what they lead to.
package wikilink

import (
	"path"
	"slices"
	"strings"
)

// Link is a wiki link: at least one of Target and Fragment is not "".
type Link struct {
	Target   string // what stands before "#"
	Fragment string // what stands behind it
	Alias    string // what stands behind "|"
}

// Parse reads what follows "[[" up to "]]" on the same line: size reaches behind it. In
// "[[text](address)]" a Markdown link stands between brackets, and "[[1]](#notes)" is one
// whose text has brackets.
func Parse(s string) (l Link, size int, ok bool) {
	end, bar := -1, false
	for i := 0; i+1 < len(s) && end < 0; i++ {
		switch s[i] {
		case '\n', '\r':
			return l, 0, false
		case '[':
			if s[i+1] == '[' {
				return l, 0, false
			}
		case '|':
			bar = true
		case ']':
			if s[i+1] == ']' {
				end = i
			}
			if s[i+1] == '(' && !bar {
				return l, 0, false
			}
		}
	}
	if end <= 0 || !bar && BeginsAddress(s[end+2:]) {
		return l, 0, false
	}
	inner := s[:end]
	if bar := strings.IndexByte(inner, '|'); bar >= 0 {
		inner, l.Alias = inner[:bar], strings.TrimSpace(inner[bar+1:])
		inner = strings.TrimSuffix(inner, `\`) // as written inside tables
	}
	l.Target, l.Fragment, _ = strings.Cut(inner, "#")
	l.Target, l.Fragment = strings.TrimSpace(l.Target), strings.TrimSpace(l.Fragment)
	return l, end + 2, l.Target != "" || l.Fragment != ""
}

// addressReach bounds how far the end of an address is looked for.
const addressReach = 1024

// BeginsAddress reports whether a text begins with an address in parentheses, and not with
// what a sentence adds in them.
func BeginsAddress(s string) bool {
	inner, open := strings.CutPrefix(s[:min(len(s), addressReach)], "(")
	address, _, closed := strings.Cut(inner, ")")
	return open && closed && strings.ContainsAny(address, "/.#:") && !strings.ContainsAny(address, " \t\r\n")
}

// Whole reads a text that is a link and nothing else.
func Whole(s string) (l Link, ok bool) {
	inner, ok := strings.CutPrefix(s, "[[")
	if !ok {
		return l, false
	}
	l, size, ok := Parse(inner)
	return l, ok && size == len(inner)
}

// Text is what a reader sees of the link.
func (l Link) Text() string {
	switch {
	case l.Alias != "":
		return l.Alias
	case l.Fragment != "":
		return l.Target + "#" + l.Fragment
	}
	return l.Target
}

// MarkdownEndings are the endings of the names of Markdown files.
var MarkdownEndings = [...]string{".md", ".markdown", ".mdx"}

// Name is what a text that is a link to a note and nothing else calls it: the last part of
// its target, without the ending of a Markdown file. It is "" for another text.
func Name(s string) string {
	l, ok := Whole(s)
	if !ok || l.Target == "" {
		return ""
	}
	name := path.Base(l.Target)
	ending := path.Ext(name)
	if len(ending) < len(name) && slices.Contains(MarkdownEndings[:], strings.ToLower(ending)) {
		return strings.TrimSuffix(name, ending)
	}
	return name
}
