// Package dataset reads judged collections: folders in BEIR layout, TREC topics with qrels, and folders of notes
// with a YAML file of queries. It also reads and writes TREC run files. It does not judge and does not index.
//
// Faults of a file are errors that name file and line. Minor faults are warnings of the [Dataset].
package dataset

import (
	"sheaf"
	"sheaf/eval/metric"
)

// Dataset is a collection with queries and judgements.
type Dataset struct {
	// Name is the name of the folder or file.
	Name string
	// Documents are the documents of the collection, in file order; nil when Folder is set.
	Documents []Document
	// Folder is the folder of notes of the collection; "" when Documents is set.
	Folder string
	// Queries are the judged queries, in file order.
	Queries []Query
	// Qrels are the judgements: query ID to target to gain. A target is the ID of a document or, with Sections,
	// the result of [Section].
	Qrels map[string]metric.Judgements
	// Where is the position of a query's first judgement: "file:line".
	Where map[string]string
	// ByID says that targets start with IDs of documents, "tree:path", instead of paths.
	ByID bool
	// Sections says that some targets are sections of documents.
	Sections bool
	// Warnings are minor faults of the files.
	Warnings []string
	// Hash identifies the version of the documents in hexadecimal digits; "" for a Folder.
	// QueryHash identifies the version of queries and judgements.
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
	// Filter limits the documents that may be found; nil means no limit.
	Filter sheaf.Filter
	// Class is the metadata of the query by name, texts only, for reports by class.
	Class map[string]string
}

// Section returns the target for the section of a document under the heading with this slug. The
// slug "" means the document.
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
