// Package dataset reads judged collections: folders in BEIR layout, TREC topics with qrels, and notes with YAML
// queries. It also reads and writes TREC run files. It does not judge and does not index.
//
// Faults of a file are errors that name file and line. Minor faults are warnings of the [Dataset].
package dataset

import (
	"sheaf"
	"sheaf/eval/metric"
)

// Dataset is a collection of documents with queries and judgements.
type Dataset struct {
	// Name is the name of the folder or file that the data set was read from.
	Name string
	// Documents are the documents of the collection, in file order. They are nil if Folder is set.
	Documents []Document
	// Folder is a folder with the notes of the collection. It is "" if Documents is set.
	Folder string
	// Queries are the queries that have judgements, in file order.
	Queries []Query
	// Qrels has the judgements: the gain for each query ID and target. A target is the ID of a document. If Sections is
	// set, it may also be a result of [Section].
	Qrels map[string]metric.Judgements
	// Where says for each query where its first judgement is: "file:line".
	Where map[string]string
	// ByID says that a target starts with the ID of a document ("tree:path") and not with a path.
	ByID bool
	// Sections says that some targets are sections of a document.
	Sections bool
	// Warnings are small faults in the files, which did not stop reading.
	Warnings []string
	// Hash identifies the version of the documents. It has hexadecimal digits, and is "" if Folder is set. QueryHash
	// identifies the version of the queries and judgements.
	Hash, QueryHash string
}

// Document is one document of a data set.
type Document struct {
	ID    string
	Title string
	Text  string
}

// Query is one query of a collection.
type Query struct {
	ID   string
	Text string
	// Filter says which documents the query may find. If it is nil, the query may find all.
	Filter sheaf.Filter
	// Own says that the query is the text of the document with its ID. This document does not answer the query.
	Own bool
	// Class has the query's metadata whose values are texts, by name. Reports can group queries by these values.
	Class map[string]string

	where string // file and line
}

// Section returns the target for a section of a document. slug is its heading's slug; "" means the whole document.
func Section(doc, slug string) string {
	if slug == "" {
		return doc
	}
	return doc + "\x00" + slug
}

// Judgements returns the number of judgements of all queries.
func (d *Dataset) Judgements() int {
	n := 0
	for _, j := range d.Qrels {
		n += len(j)
	}
	return n
}
