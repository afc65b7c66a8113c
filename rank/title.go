package rank

import (
	"path"
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
	const stage = "exact title"
	if err := firstError(env.needFacts(stage), within(stage, "title", b.Title, 1, 1e6), within(stage, "heading", b.Heading, 1, 1e6), within(stage, "alias", b.Alias, 1, 1e6)); err != nil {
		return nil, err
	}
	asked := foldName(env.Query)
	return boost(stage, in, b.Blend, func(h *sheaf.Hit) *factor {
		if asked == "" {
			return nil
		}
		c, ok := nodeOf(env.Facts, h.ID)
		if !ok {
			return nil
		}
		var best *factor
		try := func(name, label string, value float64) {
			if sameStart(name, asked) && foldName(name) == asked && (best == nil || value > best.value) {
				why := part(label+" is exactly what was asked for", value)
				best = &factor{value, &why}
			}
		}
		if c.Depth > 0 || c.Parent != "" {
			try(c.Title, "the heading", b.Heading)
		} else {
			try(c.Title, "the title", b.Title)
			if d := outlineOf(env.Facts, c.Doc); d != nil {
				for _, alias := range d.Aliases {
					try(alias, "an alias", b.Alias)
				}
				file := path.Base(d.Path)
				try(file, "the file name", b.Alias)
				try(strings.TrimSuffix(file, path.Ext(file)), "the file name", b.Alias)
			}
		}
		return best
	})
}

// sameStart tells quickly that most names are not the folded one.
func sameStart(name, folded string) bool {
	a, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(name, unicode.IsSpace))
	b, _ := utf8.DecodeRuneInString(folded)
	return unicode.ToLower(a) == b
}

// foldName brings names that people take for the same to one form.
func foldName(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), unicode.IsSpace), " ")
}
