// Package dataset answers the question "what is asked, and what is right?". It
// reads judged collections: folders in BEIR layout, TREC topics with qrels, and
// folders of notes with a YAML file of queries; and it reads and writes TREC run
// files. It judges nothing and indexes nothing.
//
// Faults of a file are errors that name file and line; what can be lived with
// is a warning of the [Dataset].
package dataset

import (
	"sheaf"
	"sheaf/eval/metric"
)

// Dataset is a collection with queries and judgements.
type Dataset struct {
	// Name is that of its folder or file.
	Name string
	// Documents are the collection, in the order of the file; nil when
	// Folder says where it lies.
	Documents []Document
	// Folder is the folder of notes that are the collection; "" when
	// Documents are.
	Folder string
	// Queries are those that are judged, in the order of their file.
	Queries []Query
	// Qrels are the judgements: query ID to target to gain. A target is the
	// ID of a document or, with Sections, what [Section] makes of a document
	// and a heading.
	Qrels map[string]metric.Judgements
	// Where says where the judgements of a query begin: "file:line".
	Where map[string]string
	// ByID says that targets begin with the IDs of documents, "tree:path",
	// instead of their paths.
	ByID bool
	// Sections says that some targets are sections of documents.
	Sections bool
	// Warnings are what is odd about the files and could be lived with.
	Warnings []string
	// Hash tells versions of the documents apart, in hexadecimal digits; ""
	// when they lie in Folder. QueryHash does so for queries and judgements.
	Hash, QueryHash string
}

// Document is one document of a collection.
type Document struct {
	ID    string
	Title string
	Text  string
}

// Query is one query of a collection.
type Query struct {
	ID   string
	Text string
	// Filter bounds what may be found; nil is no bound.
	Filter sheaf.Filter
	// Class is its metadata by name, texts only, for reports by class.
	Class map[string]string
}

// Section is the target that stands for the section of a document under the
// heading with this slug; "" is the document itself.
func Section(doc, slug string) string {
	if slug == "" {
		return doc
	}
	return doc + "\x00" + slug
}

// Judgements counts the judgements of all queries.
func (d *Dataset) Judgements() int {
	n := 0
	for _, j := range d.Qrels {
		n += len(j)
	}
	return n
}
