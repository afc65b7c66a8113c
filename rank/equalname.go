package rank

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
)

// folded are names, folded, of which any is what was asked for: a name may hold what is a mark of
// the query language, such as brackets, when that was typed.
type folded []string

// foldNames are the folded forms of names, without those that are empty or there before.
func foldNames(forms ...string) (out folded) {
	for i, form := range forms {
		if i > 0 && form == forms[i-1] {
			continue
		}
		if name := foldName(form); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// call reports whether a name is one of them.
func (f folded) call(name string) bool {
	for _, one := range f {
		if called(name, one) {
			return true
		}
	}
	return false
}

// beginOtherwise reports whether a name is certainly none of them, by its first byte alone.
func (f folded) beginOtherwise(name string) bool {
	for _, one := range f {
		if !beginsOtherwise(name, one) {
			return false
		}
	}
	return true
}

// beginsOtherwise reports whether a name is certainly not the folded one, by its first
// byte alone: most are not.
func beginsOtherwise(name, folded string) bool {
	if name == "" {
		return true
	}
	c := name[0]
	if c >= utf8.RuneSelf || c <= ' ' {
		return false
	}
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c != folded[0]
}

// called reports whether a name is the folded one: it reads both side by side, as far
// as they agree.
func called(name, folded string) bool {
	text, gap := false, false // some text was read, and white space after it
	for _, r := range name {
		if unicode.IsSpace(r) {
			gap = text
			continue
		}
		if gap {
			if !strings.HasPrefix(folded, " ") {
				return false
			}
			folded = folded[1:]
		}
		text, gap = true, false
		want, size := utf8.DecodeRuneInString(folded)
		if size == 0 || unicode.ToLower(r) != want {
			return false
		}
		folded = folded[size:]
	}
	return folded == ""
}

// nameKind says what a name is.
type nameKind int

const (
	nameTitle nameKind = iota
	nameAlias
	nameFile
	nameHeading
)

func (k nameKind) String() string {
	return [...]string{"the title", "an alias", "the file name", "the heading"}[k]
}

// isSection reports whether a chunk is not that of a document.
func isSection(c *sheaf.Node) bool { return c.Depth > 0 || c.Parent != "" }

// names gives each every name of a chunk, or of a document; none of what facts
// do not know.
func names(facts Facts, c *sheaf.Node, each func(name string, kind nameKind)) {
	switch {
	case c == nil:
		return
	case isSection(c):
		each(c.Title, nameHeading)
		return
	}
	each(c.Title, nameTitle)
	if d := outlineOf(facts, c); d != nil {
		for _, alias := range d.Aliases {
			each(alias, nameAlias)
		}
		file := path.Base(d.Path)
		each(file, nameFile)
		each(strings.TrimSuffix(file, path.Ext(file)), nameFile)
	}
}

// foldName brings names that people take for the same to one form.
func foldName(s string) string {
	s = strings.ToLower(s)
	space := true // before the name, and between words that others stand after
	for _, r := range s {
		if unicode.IsSpace(r) {
			if space || r != ' ' {
				return strings.Join(strings.Fields(s), " ")
			}
			space = true
		} else {
			space = false
		}
	}
	return strings.TrimSuffix(s, " ")
}
