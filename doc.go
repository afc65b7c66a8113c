// Package sheaf has the basic types: documents, chunks, queries, filters, hits, rankings, explanations and categories
// of error. It has only types and small pure functions, does no input or output, and imports only the standard library.
//
// A document has the same ID as the root chunk of its heading tree. So all stages of a query use one type, [ID].
package sheaf
