package catalog

import (
	"slices"
	"strings"

	"sheaf"
	"sheaf/internal/fold"
)

// maxSpellings is how many spellings of one path are returned.
const maxSpellings = 8

// Spellings returns the ways in which documents spell a path, the beginning of a path or the name
// of a file, when no document has it as it is written. They differ from it only in case or in
// Unicode composition. They are in order of ID, at most 8.
func (v *View) Spellings(written string) (found []string) {
	if written == "" || slices.ContainsFunc(v.payload.Settings.Trees, func(t Tree) bool {
		return v.begins(t.Name + ":" + written)
	}) {
		return nil
	}
	s := newSpelling(written)
	for id := range v.existing("") {
		if len(found) >= maxSpellings {
			break
		}
		_, text, _ := strings.Cut(id, ":")
		if begins, called := s.compare(text, found); !begins && !called {
			continue
		}
		full := sheaf.ID(strings.Clone(id)).Path()
		name := baseName(full)
		if name == written || strings.HasPrefix(full, written) {
			return nil
		}
		if spelt := s.beginning(full, found); spelt != "" {
			found = append(found, spelt)
		}
		if fold.Text(name) == s.folded && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}

// spelling is a path to compare with those of all documents; most comparisons need no folding.
type spelling struct {
	written, folded string
	ascii           bool // written and folded are ASCII
	foldsToASCII    bool
	name            bool // it may be the name of a file
}

func newSpelling(written string) *spelling {
	folded := fold.Text(written)
	return &spelling{written, folded, isASCII(written), isASCII(folded), !strings.Contains(written, "/")}
}

// compare reports whether a path begins with the written path in a new spelling, and whether its
// file has that name.
func (s *spelling) compare(text string, found []string) (begins, called bool) {
	name := baseName(text)
	known := slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(text, f) })
	switch {
	case s.ascii:
		return !known && len(text) >= len(s.written) && strings.EqualFold(text[:len(s.written)], s.written), s.name &&
			strings.EqualFold(name, s.written)
	case !s.foldsToASCII && isASCII(text): // ASCII text folds only to itself
		return false, false
	}
	return !known && strings.HasPrefix(fold.Text(text), s.folded), s.name && fold.Text(name) == s.folded
}

// beginning returns the beginning of a path that equals the written path when folded, "" when there
// is none or it was found already.
func (s *spelling) beginning(text string, found []string) string {
	if slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(text, f) }) ||
		!strings.HasPrefix(fold.Text(text), s.folded) {
		return ""
	}
	for i := range text {
		if i > 0 && fold.Text(text[:i]) == s.folded {
			return text[:i]
		}
	}
	if fold.Text(text) == s.folded {
		return text
	}
	return ""
}

func baseName(text string) string { return text[strings.LastIndexByte(text, '/')+1:] }

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
