package catalog

import (
	"cmp"
	"maps"
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

// labelKey is a label: a tag or the name of a property, in lower case.
type labelKey struct {
	kind byte
	name string
}

// labelSet maps labels to the numbers of their documents.
type labelSet map[labelKey][]int

// encode returns the labels in stored form, sorted by kind and name. Each label is written as kind, name, number of
// documents, and differences of document numbers.
func (s labelSet) encode() []byte {
	e := &encoder{}
	for _, l := range slices.SortedFunc(maps.Keys(s), func(a, b labelKey) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), strings.Compare(a.name, b.name))
	}) {
		docs := slices.Compact(slices.Sorted(slices.Values(s[l])))
		e.byte(l.kind)
		e.str(l.name)
		e.uint(len(docs))
		last := 0
		for _, doc := range docs {
			e.uint(doc - last)
			last = doc
		}
	}
	return e.b
}

// storedLabel is a label of a segment.
type storedLabel struct {
	labelKey
	docs []int // ascending
}

// decodeLabels returns the labels of a segment. docs is the number of documents in the segment. Names are valid while
// the segment is open.
func decodeLabels(section *sectionfile.Paged, docs int) (labels []storedLabel, err error) {
	data, err := section.All()
	if err != nil {
		return nil, err
	}
	for d := (&decoder{b: data}); d.pos < len(d.b); {
		l := storedLabel{labelKey: labelKey{d.byte(), d.str()}}
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
