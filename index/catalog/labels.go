package catalog

import (
	"cmp"
	"slices"
	"strings"

	"sheaf/index/vfs/sectionfile"
)

// These are the kinds of label.
const (
	labelTag      = 't'
	labelProperty = 'p'
	// labelWarning marks the documents with warnings. This label has an empty name.
	labelWarning = 'w'
)

// label is a tag or the name of a property, in lower case, with its documents.
type label struct {
	kind byte
	name string
	docs []int // ascending
}

type labelSet map[labelKey]*label

type labelKey struct {
	kind byte
	name string
}

func (s labelSet) add(kind byte, name string, doc int) {
	l := s[labelKey{kind, name}]
	if l == nil {
		l = &label{kind: kind, name: strings.Clone(name)}
		s[labelKey{kind, l.name}] = l
	}
	if n := len(l.docs); n == 0 || l.docs[n-1] != doc {
		l.docs = append(l.docs, doc)
	}
}

// encode returns the labels in stored form, sorted by kind and name. Each label is written as kind, name, number of
// documents, and differences of document numbers.
func (s labelSet) encode() []byte {
	list := make([]*label, 0, len(s))
	for _, l := range s {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b *label) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), strings.Compare(a.name, b.name))
	})
	e := &encoder{}
	for _, l := range list {
		slices.Sort(l.docs)
		l.docs = slices.Compact(l.docs)
		e.byte(l.kind)
		e.str(l.name)
		e.uint(len(l.docs))
		last := 0
		for _, doc := range l.docs {
			e.uint(doc - last)
			last = doc
		}
	}
	return e.b
}

// decodeLabels returns the labels of a segment. docs is the number of documents in the segment. Names are valid while
// the segment is open.
func decodeLabels(section *sectionfile.Paged, docs int) (labels []label, err error) {
	data, err := section.All()
	if err != nil {
		return nil, err
	}
	for d := (&decoder{b: data}); d.pos < len(d.b); {
		l := label{kind: d.byte(), name: d.str()}
		last := 0
		for range d.count(1) {
			if last += d.uint(); last >= docs || last < 0 {
				d.fail()
			}
			l.docs = append(l.docs, last)
		}
		if d.bad {
			return nil, section.Corrupt(0, "the labels cannot be read")
		}
		labels = append(labels, l)
	}
	return labels, nil
}
