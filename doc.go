// Package sheaf has the project's basic types: documents, chunks, queries, filters, hits, rankings, explanations and
// categories of error. It has only types and small pure functions. It does no input or output and imports only the
// standard library.
//
// A document is the root of its own heading tree. Its ID is also the ID of its root chunk. So every
// stage of a query uses the one type [ID].
package sheaf
