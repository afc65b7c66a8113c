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

// namedLayouts are ways in which blogs, mails and people write dates that are no dates to
// YAML. Dates with slashes and the year last are not here: 1/5/2024 is of January or of May.
var namedLayouts = [...]string{
	"2006/1/2", "2006/1/2 15:04:05", "2006/1/2 15:04", "2006/1/2 15:04:05 -0700", "2006/1/2 15:04 -0700", "2006.1.2", "2.1.2006", "2.1.2006 15:04",
	"2 Jan 2006", "2 January 2006", "Jan 2 2006", "January 2 2006", "2. January 2006",
	time.RFC1123Z, "Mon 2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 -0700",
}

// dateOf is the date that a value is, or a text that says one, also with slashes behind the
// year or the name of the month, or a link to the note of a day, as "[[2024-05-31]]". It has
// the zone that the value names, or UTC.
func dateOf(v sheaf.Value) (time.Time, bool) {
	switch v = Linked(v); v.Kind {
	case sheaf.KindDate:
		if t, err := time.Parse(time.RFC3339, v.Text); err == nil {
			return t, true
		}
		return v.Time(), true
	case sheaf.KindNumber: // 20240531
		if t, ok := dateInName(v.String()); ok && len(v.String()) == len("20060102") {
			return t, true
		}
		return time.Time{}, false
	case sheaf.KindText:
	default:
		return time.Time{}, false
	}
	if len(v.Text) > maxDateBytes || !strings.ContainsAny(v.Text, "0123456789") {
		return time.Time{}, false
	}
	plain := plainSigns.Replace(v.Text)
	text := strings.Join(strings.Fields(strings.ReplaceAll(plain, ",", " ")), " ")
	for _, layout := range namedLayouts {
		if t, err := time.Parse(strings.ReplaceAll(layout, ",", ""), text); err == nil && Writable(t) {
			return t, true
		}
	}
	return parseDate(plain)
}

// plainSigns replaces signs that only steer line breaks: non-breaking hyphens and spaces, and
// soft hyphens.
var plainSigns = strings.NewReplacer("\u2011", "-", "\u00a0", " ", "\u00ad", "")

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
