package catalog

import (
	"slices"
	"strings"

	"sheaf"
	"sheaf/internal/fold"
)

// maxSpellings is the largest number of spellings that Spellings returns.
const maxSpellings = 8

// Spellings returns how documents spell text: a path, the beginning of a path, or a file name. A spelling differs from
// text only in case or in Unicode composition. If a document is spelled exactly like text, the result is empty. The
// result is in order of ID and has at most 8 spellings.
func (v *View) Spellings(text string) (found []string) {
	if text == "" || slices.ContainsFunc(v.payload.Settings.Trees, func(t Tree) bool {
		return v.begins(t.Name + ":" + text)
	}) {
		return nil
	}
	folded := fold.Text(text)
	for id := range v.existing("") {
		if len(found) >= maxSpellings {
			break
		}
		full := sheaf.ID(id).Path()
		name := full[strings.LastIndexByte(full, '/')+1:]
		if name == text || strings.HasPrefix(full, text) {
			return nil
		}
		if spelt := beginning(full, folded, found); spelt != "" {
			found = append(found, strings.Clone(spelt))
		}
		if fold.Text(name) == folded && !slices.Contains(found, name) {
			found = append(found, strings.Clone(name))
		}
	}
	return found
}

// beginning returns the prefix of text, a path, that folds to folded. It returns "" if text has no such prefix, or
// if an element of found is already a prefix of text.
func beginning(text, folded string, found []string) string {
	if !strings.HasPrefix(fold.Text(text), folded) ||
		slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(text, f) }) {
		return ""
	}
	for i := range text {
		if i > 0 && fold.Text(text[:i]) == folded {
			return text[:i]
		}
	}
	if fold.Text(text) == folded {
		return text
	}
	return ""
}
