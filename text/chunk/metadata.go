package chunk

import (
	"math"
	"strings"

	"sheaf"
)

// Metadata is one property in the form that Onyx appends to a chunk's text.
type Metadata struct {
	Name   string
	Values []string
}

// separator is the text between the parts of a text that Onyx embeds.
const separator = "\n\r\n"

// MetadataSuffix returns the texts that Onyx appends to a chunk. semantic is for embedding: "Metadata:" and a line
// for each property. keyword is for word search and has only the values. Both are empty without properties.
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

// These are limits of what Onyx adds to a text.
const (
	// titleTokens is the largest number of tokens of a title before a text.
	titleTokens = 128
	// suffixShare limits the properties: if they take at least 1/suffixShare of a window's tokens, they are not
	// embedded.
	suffixShare = 4
	// textShare protects the text: title and properties are not added if they leave at most 1/textShare of a window.
	textShare = 2
)

// Enrich returns the suffix that the options append to each window of a document for embedding. The suffix is not in
// the file, so no span covers it. tokens is the largest number of tokens of text in a window, without suffix and title.
func (o WindowOptions) Enrich(doc *sheaf.Document) (suffix string, tokens int) {
	size := o.Size
	if size == 0 {
		size = DefaultWindowSize
	}
	around := 0
	if o.TitlePrefix && doc.Title != "" {
		title, _ := o.head(doc.Title, titleTokens)
		_, around = o.head(title+separator, math.MaxInt)
	}
	if o.MetadataSuffix {
		suffix, _ = MetadataSuffix(documentMetadata(doc))
		_, n := o.head(suffix, math.MaxInt)
		if suffixShare*n >= size {
			suffix, n = "", 0
		}
		around += n
	}
	if textShare*(size-around) > size {
		return suffix, size - around
	}
	return "", size
}

// Found returns the text that the options add to every window for word search: property values of any length. It
// returns "" if the option MetadataSuffix is false.
func (o WindowOptions) Found(doc *sheaf.Document) string {
	if !o.MetadataSuffix {
		return ""
	}
	_, keyword := MetadataSuffix(documentMetadata(doc))
	return keyword
}

// head returns the start of a text with at most most tokens, and the number of these tokens.
func (o WindowOptions) head(text string, most int) (start string, n int) {
	tokens, last, more := o.Tokens, 0, false
	if tokens == nil {
		tokens = words
	}
	tokens(text, func(_, end int) bool {
		if more = n == most; !more {
			n, last = n+1, end
		}
		return !more
	})
	if !more {
		return text, n
	}
	return text[:min(last, len(text))], n
}

// documentMetadata returns the properties of a document as metadata. It omits properties with their own field, and
// access rights.
func documentMetadata(doc *sheaf.Document) []Metadata {
	var out []Metadata
	for _, p := range doc.Properties {
		if IsFieldProperty(p.Name) || IsAccessProperty(p.Name) || len(p.Values) == 0 {
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

// IsAccessProperty reports whether a property says who may see the document. Such a property is not text.
func IsAccessProperty(name string) bool { return accessProperties[strings.ToLower(name)] }

// IsFieldProperty reports whether a property has its own field: title in small letters, aliases and tags.
func IsFieldProperty(name string) bool {
	return name == "title" || fieldProperties[strings.ToLower(name)]
}

var accessProperties, fieldProperties = wordsOf("tenant access sets"), wordsOf("alias aliases tag tags")

// IsTextProperty reports whether the values of this property are text to search. It returns false if the property has a
// field of its own or is an access right. A value in a map of access rights is also an access right.
func IsTextProperty(name string) bool {
	property, _, _ := strings.Cut(name, ".")
	return !IsFieldProperty(name) && !IsAccessProperty(property)
}
