// Package examples shows how another Go program uses Sheaf. Every file is one
// example, which runs as a test:
//
//   - folder_test.go: index a folder and search it
//   - profile_test.go: rank with a profile of one's own
//   - store_test.go: keep chunks in a store of one's own
//   - program_test.go: serve a collection inside another program, to callers who
//     may see a part of it
//
// notes_test.go opens what the last three begin with.
package examples
