// Package storekit has the shared parts of the stores other than the embedded engine.
//
// [Compile] analyzes the words of a request once, and [Analyze] analyzes a chunk. So a server stores
// and receives exactly the terms of the embedded engine. Each server store translates the [Plan] into
// its own language, or names the [Node] that it cannot express. Package memory evaluates the plan
// itself.
//
// [Client] sends requests over HTTP. After a pause with jitter it repeats requests that met a busy
// server or a broken connection. Every request may be repeated, because each document has its own
// ID: writing twice equals writing once. [Calls] lets one call write at a time and limits the time
// of a call.
//
// [ColumnWord] and [ValueWord] write values of columns as words.
package storekit
