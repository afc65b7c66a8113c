// Package wikilink reads links in the syntax of wikis and Obsidian: [[Note]],
// [[folder/Note#Heading|text]]. It does not resolve them.
package wikilink

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// Link is a wiki link. At least one of Target and Fragment is not "".
type Link struct {
	Target   string // the part before "#"
	Fragment string // the part after "#"
	Alias    string // the part after "|"
}

// Parse reads a link from s, the text directly after its "[[". size is the length of the rest of the link, with "]]".
// ok is false for "[[text](address)]", a Markdown link in brackets, and if "]]" is not on the same line. It is also
// false for "[[1]](#notes)", a link whose text has brackets.
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
		inner = strings.TrimSuffix(inner, `\`) // as in tables
	}
	l.Target, l.Fragment, _ = strings.Cut(inner, "#")
	l.Target, l.Fragment = strings.TrimSpace(l.Target), strings.TrimSpace(l.Fragment)
	return l, end + 2, l.Target != "" || l.Fragment != ""
}

// addressReach is the largest number of bytes in parentheses with an address. Longer text in parentheses counts as a
// remark.
const addressReach = 1024

// BeginsAddress reports whether the parentheses at the start of a text contain an address, not a remark.
func BeginsAddress(s string) bool {
	inner, open := strings.CutPrefix(s[:min(len(s), addressReach)], "(")
	address, _, closed := strings.Cut(inner, ")")
	return open && closed && strings.ContainsAny(address, "/.#:") && !strings.ContainsAny(address, " \t\r\n")
}

// Whole parses a text that is one link and nothing else. ok is false for other texts.
func Whole(s string) (l Link, ok bool) {
	inner, ok := strings.CutPrefix(s, "[[")
	if !ok {
		return l, false
	}
	l, size, ok := Parse(inner)
	return l, ok && size == len(inner)
}

// Text returns the visible text of the link.
func (l Link) Text() string {
	switch {
	case l.Alias != "":
		return l.Alias
	case l.Fragment != "":
		return l.Target + "#" + l.Fragment
	}
	return l.Target
}

// MarkdownEndings are the extensions of Markdown files.
var MarkdownEndings = [...]string{".md", ".markdown", ".mdx"}

// Name returns the name of the note to which the link s leads. The name is the last part of the target without a
// Markdown extension. If s is not exactly one link to a note, Name returns "".
func Name(s string) string {
	target := ""
	l, wiki := Whole(s)
	if wiki {
		target = l.Target
	} else if strings.HasPrefix(s, "[") {
		target = markdownTarget(s)
	}
	if target == "" {
		return ""
	}
	name := path.Base(target)
	ending := path.Ext(name)
	if len(ending) < len(name) && slices.Contains(MarkdownEndings[:], strings.ToLower(ending)) {
		return strings.TrimSuffix(name, ending)
	}
	if !wiki {
		return ""
	}
	return name
}

// markdownTarget returns the path in a text of one Markdown link to a file, such as [Ann](people/Ann.md#top), or "".
func markdownTarget(s string) string {
	text, address, _ := strings.Cut(s[1:], "](")
	address, closed := strings.CutSuffix(address, ")")
	address, _, _ = strings.Cut(strings.Trim(address, "<>"), "#")
	if !closed || strings.ContainsAny(text, "[]") || strings.ContainsAny(address, "()<>:") {
		return ""
	}
	target, _ := url.PathUnescape(address)
	return target
}
