package chunk

import (
	"path"
	"strings"
	"time"

	"sheaf"
)

// dateProperties are the properties that date a document, most telling first.
var dateProperties = [...]string{"date", "created", "published", "updated", "modified", "lastmod"}

// DateOf is the date of a document: that of its frontmatter, else the one in its
// file's name, else the time at which the file was modified.
func DateOf(doc *sheaf.Document, modified time.Time) sheaf.Dated {
	for _, name := range dateProperties {
		for _, p := range doc.Properties {
			if !strings.EqualFold(p.Name, name) {
				continue
			}
			for _, v := range p.Values {
				if t, ok := dateOf(v); ok {
					return sheaf.Dated{Time: t, Source: sheaf.DateFrontmatter}
				}
			}
		}
	}
	if t, ok := dateInName(path.Base(doc.Path)); ok {
		return sheaf.Dated{Time: t, Source: sheaf.DateFileName}
	}
	return sheaf.Dated{Time: modified, Source: sheaf.DateModified}
}

// slashedLayouts are ways in which blogs write dates that are no dates to YAML.
var slashedLayouts = [...]string{"2006/1/2", "2006/1/2 15:04:05", "2006/1/2 15:04"}

// dateOf is the date that a value is, or a text that says one, also with slashes behind the
// year, or a link to the note of a day, as "[[2024-05-31]]".
func dateOf(v sheaf.Value) (time.Time, bool) {
	if v = Linked(v); v.Kind == sheaf.KindDate {
		return v.Time(), true
	}
	if v.Kind != sheaf.KindText {
		return time.Time{}, false
	}
	for _, layout := range slashedLayouts {
		if t, err := time.Parse(layout, v.Text); err == nil {
			return t, true
		}
	}
	return parseDate(v.Text)
}

// dateInName finds the first date in a file's name, written 2024-05-31,
// 2024_05_31, 2024.05.31 or 20240531, with no digit beside it.
func dateInName(name string) (time.Time, bool) {
	for i := 0; i+8 <= len(name); i++ {
		if !isDigit(name[i]) || i > 0 && isDigit(name[i-1]) {
			continue
		}
		for _, layout := range [...]string{"2006-01-02", "2006_01_02", "2006.01.02", "20060102"} {
			end := i + len(layout)
			if end > len(name) || end < len(name) && isDigit(name[end]) {
				continue
			}
			if t, err := time.Parse(layout, name[i:end]); err == nil && t.Year() >= 1900 && t.Year() < 2200 {
				return t, true
			}
		}
	}
	return time.Time{}, false
}
