// Package storekit has the shared parts of the stores other than the embedded engine.
//
// [Compile] analyzes the words of a request once, and [Analyze] analyzes a chunk. So a server stores and receives
// exactly the terms of the embedded engine. Each server store translates the [Plan] into its own language, or names the
// [Node] that it cannot express. Package memory evaluates the plan itself.
//
// [Client] sends requests over HTTP. If the server is busy or the connection breaks, it repeats the request after a
// pause with jitter. It may repeat every request: each document has its own ID, so a document that is written twice
// exists once. [Calls] limits the time of each call and runs one write at a time.
//
// [ColumnWord] and [ValueWord] write values of columns as words.
package storekit
