// Package sheaf holds the words of the project: documents, chunks, queries,
// filters, hits, rankings, explanations and the categories of error. It has
// types and small pure functions only; it performs no input or output and
// imports nothing but the standard library.
//
// A document is the root of its own heading tree, so the identifier of a
// document is the identifier of its root chunk, and one type, [ID], serves
// every stage of a query.
package sheaf
