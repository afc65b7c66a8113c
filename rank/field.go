package rank

import (
	"fmt"
	"slices"
	"strings"

	"sheaf"
	"sheaf/internal/wikilink"
)

// FieldBoost raises hits that have one of Values in a field, for example a tree, folder, tag or property.
type FieldBoost struct {
	// Field is "tree", "folder", "tag", or "prop." and the name of a property. A folder or tag in Values also matches
	// the folders or tags below it.
	Field string
	// Values has at least one value; case does not matter. If a property has a wiki link, the name of the linked note also
	// matches.
	Values []string
	Factor float64 // above 0; below 1 lowers
	Blend  Blend
}

// Apply implements [Stage].
func (b FieldBoost) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	const stage = "field boost"
	if err := env.check(stage, in); err != nil {
		return nil, err
	}
	property, isProperty := strings.CutPrefix(b.Field, "prop.")
	known := isProperty || slices.Contains([]string{sheaf.ColumnTree, sheaf.ColumnFolder, sheaf.ColumnTag}, b.Field)
	if len(b.Values) == 0 || !known {
		return nil, sheaf.Invalidf("%s: field is %q with %d values: must be tree, folder, tag or prop.NAME with at least one",
			stage, b.Field, len(b.Values))
	}
	return boost(stage, b.Blend, 0, in, func(h *sheaf.Hit) (float64, func() sheaf.Explanation) {
		c, _ := env.Facts.Chunk(h.ID)
		d, ok := env.Facts.Document(c.Doc)
		for _, want := range b.Values {
			if ok && b.has(&c, &d, property, want) {
				return b.Factor, func() sheaf.Explanation { return part(fmt.Sprintf("%s is %s", b.Field, want), b.Factor) }
			}
		}
		return 1, nil
	})
}

func (b FieldBoost) has(c *sheaf.Chunk, d *sheaf.Document, property, want string) bool {
	switch b.Field {
	case sheaf.ColumnTree:
		return strings.EqualFold(d.Tree, want)
	case sheaf.ColumnFolder:
		return belowFold(folderOf(d.Path), want)
	case sheaf.ColumnTag:
		below := func(t string) bool { return belowFold(t, want) }
		return slices.ContainsFunc(c.Tags, below) || slices.ContainsFunc(d.Tags, below)
	}
	for _, p := range d.Properties {
		if strings.EqualFold(p.Name, property) &&
			slices.ContainsFunc(p.Values, func(v sheaf.Value) bool { return sameValue(v, want) }) {
			return true
		}
	}
	return false
}

// sameValue reports whether a value is the text want, or a link to a note called want. Case does not matter.
func sameValue(v sheaf.Value, want string) bool {
	return strings.EqualFold(v.String(), want) ||
		v.Kind == sheaf.KindText && want != "" && strings.EqualFold(wikilink.Name(v.Text), want)
}

// belowFold reports whether the path in name equals the path in want, or is below that path. For example, "a/b" is
// below "a". Case does not matter.
func belowFold(name, want string) bool {
	name, want = strings.ToLower(name), strings.ToLower(want)
	return name == want || strings.HasPrefix(name, want+"/")
}
