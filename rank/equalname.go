package rank

import (
	"path"
	"slices"
	"strings"

	"sheaf"
)

// foldNames folds the forms of a query: without operators, and as typed. A folded name is in lower case, with single
// spaces between its words. A name may equal the typed form, because it may contain operators such as brackets.
// foldNames drops empty forms and duplicates.
func foldNames(forms ...string) (out []string) {
	for _, form := range forms {
		if name := strings.Join(strings.Fields(strings.ToLower(form)), " "); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

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

// isSection reports whether a chunk is below the root of its document.
func isSection(c *sheaf.Node) bool { return c.Depth > 0 || c.Parent != "" }

// names calls the function each for every name of a chunk or document, with the kind of the name.
func names(facts Facts, c *sheaf.Node, each func(name string, kind nameKind)) {
	if isSection(c) {
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

// folds reports whether folded is not empty and is the folded form of name. It is faster than foldNames, because it
// stops at the first different word.
func folds(folded, name string) bool {
	rest := folded
	for word := range strings.FieldsSeq(name) {
		var ok bool
		if rest, ok = strings.CutPrefix(rest, strings.ToLower(word)); !ok {
			return false
		}
		if rest, ok = strings.CutPrefix(rest, " "); !ok && rest != "" {
			return false
		}
	}
	return rest == "" && folded != ""
}
