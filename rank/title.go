package rank

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
)

// TitleBoost raises hits that are called exactly what was asked for, so that
// who types a name gets the thing of that name first. Names compare without
// regard to case, to white space at the ends and to how much of it stands
// between words.
//
// A document's root chunk is also called by its aliases and by its file name,
// with and without extension.
type TitleBoost struct {
	// Title is the factor for a document of an equal title, Heading for a
	// section under an equal heading, Alias for a document with an equal
	// alias or file name; each 1 or more. The largest that applies counts.
	Title   float64
	Heading float64
	Alias   float64
	Blend   Blend
}

// Apply implements [Stage].
func (b TitleBoost) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	return alone(b, in, env)
}

func (b TitleBoost) work(row *Row, env Env) error {
	each, err := b.each(env)
	if err != nil {
		return err
	}
	return row.boost(&each)
}

func (b TitleBoost) each(env Env) (boosting, error) {
	const stage = "exact title"
	if err := firstError(env.needFacts(stage), within(stage, "title", b.Title, 1, 1e6), within(stage, "heading", b.Heading, 1, 1e6), within(stage, "alias", b.Alias, 1, 1e6)); err != nil {
		return boosting{}, err
	}
	asked := foldNames(env.Query, env.Typed)
	return boosting{stage, b.Blend, env.Facts, func(_ *sheaf.Hit, c *sheaf.Node) (best factor, found bool) {
		if len(asked) == 0 || c != nil && isSection(c) && asked.beginOtherwise(c.Title) {
			return best, false
		}
		names(env.Facts, c, func(name string, kind nameKind) {
			value := [...]float64{b.Title, b.Alias, b.Alias, b.Heading}[kind]
			if (!found || value > best.value) && asked.call(name) {
				why := part(kind.String()+" is exactly what was asked for", value)
				best, found = factor{value, &why}, true
			}
		})
		return best, found
	}}, nil
}

// Called returns what reports whether a chunk or document has a name that is what was
// asked for, in one of the forms in which that was, as [TitleBoost] compares them.
func Called(facts Facts, forms ...string) func(id sheaf.ID) bool {
	asked := foldNames(forms...)
	return func(id sheaf.ID) bool {
		found := false
		if len(asked) > 0 {
			names(facts, nodeOf(facts, id), func(name string, _ nameKind) { found = found || asked.call(name) })
		}
		return found
	}
}

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
