// Package sheaf has the basic types: documents, chunks, queries, filters, hits, rankings, explanations and categories
// of error. It has only types and small pure functions, does no input or output, and imports only the standard library.
//
// A document is the root of its own heading tree, with the ID of its root chunk. So all stages of a query use one type,
// [ID].
package sheaf
