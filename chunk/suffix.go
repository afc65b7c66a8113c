package chunk

import (
	"strings"

	"sheaf"
)

// Metadata is one property as Onyx writes it behind a chunk's text.
type Metadata struct {
	Name   string
	Values []string
}

// separator stands between the parts of an embedded text in Onyx.
const separator = "\n\r\n"

// MetadataSuffix is what Onyx adds to the end of a chunk: semantic to the text
// that is embedded, "Metadata:" and a line for each property; keyword to the
// text that is searched by words, the values alone. Both are empty without
// properties.
func MetadataSuffix(metadata []Metadata) (semantic, keyword string) {
	if len(metadata) == 0 {
		return "", ""
	}
	lines, values := make([]string, len(metadata)), make([]string, len(metadata))
	for i, m := range metadata {
		lines[i] = "\n\t" + m.Name + " - " + strings.Join(m.Values, ", ")
		values[i] = strings.Join(m.Values, " ")
	}
	return separator + "Metadata:" + strings.Join(lines, ""), separator + strings.Join(values, " ")
}

// EmbeddedText is a window's text with the title before it and the metadata
// behind it, as it is embedded; neither is part of the chunk's span. All three
// count in size tokens: metadata that takes a quarter or more of them is left
// out, as Onyx does. count counts tokens.
func EmbeddedText(title, text string, metadata []Metadata, size int, count func(string) int) string {
	suffix, _ := MetadataSuffix(metadata)
	if suffix != "" && 4*count(suffix) >= size {
		suffix = ""
	}
	if title != "" {
		title += separator
	}
	return title + text + suffix
}

// DocumentMetadata is the properties of a document as metadata, without those
// that are fields of their own (title, aliases, tags).
func DocumentMetadata(doc *sheaf.Document) []Metadata {
	var out []Metadata
	for _, p := range doc.Properties {
		if IsFieldProperty(p.Name) {
			continue
		}
		m := Metadata{Name: p.Name}
		for _, v := range p.Values {
			m.Values = append(m.Values, v.String())
		}
		out = append(out, m)
	}
	return out
}

// IsFieldProperty reports whether a property is a field of its own: title,
// aliases and tags.
func IsFieldProperty(name string) bool {
	switch strings.ToLower(name) {
	case "title", "alias", "aliases", "tag", "tags":
		return true
	}
	return false
}
