// Package storekit has what the stores on servers share.
//
// [Compile] analyzes the words of a request once and [Writer] those of a chunk, so that a server holds and is asked
// for exactly the terms that the embedded engine holds and is asked for. Each store turns the [Plan] into its own
// language, or says which [Node] it cannot express.
//
// [Client] sends requests over HTTP with patience: it sends again, after a pause with jitter, what a server is too
// busy for or a cut connection lost. Every request may be repeated, because documents are written under IDs of their
// own: writing twice is writing once. [Calls] lets one call write at a time and bounds how long a call takes.
//
// [ColumnWord] and [ValueWord] write values of columns as words.
package storekit
