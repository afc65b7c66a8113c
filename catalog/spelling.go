package catalog

import (
	"path"
	"slices"
	"strings"

	"sheaf"
	"sheaf/internal/fold"
)

// maxSpellings is how many ways of writing one path are told.
const maxSpellings = 8

// Spellings are the ways in which documents write a path, the beginning of one or the name
// of a file that none of them has as it is written: those that differ from it only in
// case or in how Unicode composes their letters, in order of ID, at most 8.
func (v *View) Spellings(written string) (found []string) {
	if written == "" || slices.ContainsFunc(v.payload.Settings.Trees, func(t Tree) bool { return v.begins(t.Name + ":" + written) }) {
		return nil
	}
	folded, plain := fold.Text(written), !strings.ContainsFunc(written, func(r rune) bool { return r >= 0x80 })
	w, err := v.walk("")
	for ; err == nil && w.ok && len(found) < maxSpellings; err = w.next() {
		_, text, _ := strings.Cut(view(w.bytes()), ":")
		if plain && !strings.Contains(written, "/") {
			if name := text[strings.LastIndexByte(text, '/')+1:]; !hasFold(text, written) && !strings.EqualFold(name, written) {
				continue
			}
		} else if plain && !hasFold(text, written) {
			continue
		}
		st, fault := w.segment().state(w.number())
		if fault != nil {
			err = fault
			break
		}
		if st.tombstone() {
			continue
		}
		full := sheaf.ID(w.key()).Path()
		name := path.Base(full)
		if name == written {
			return nil
		}
		if spelt := beginning(full, folded, found); spelt != "" {
			found = append(found, spelt)
		}
		if fold.Text(name) == folded && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	v.note(translate(err))
	return found
}

// hasFold reports whether text begins with what is written, ASCII letters in any case.
func hasFold(text, written string) bool {
	return len(text) >= len(written) && strings.EqualFold(text[:len(written)], written)
}

// beginning is what text begins with that is the same as folded, "" when it does not begin so
// or as one of those that were found.
func beginning(text, folded string, found []string) string {
	if slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(text, f) }) || !strings.HasPrefix(fold.Text(text), folded) {
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
