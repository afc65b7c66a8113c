// Package examples shows how another Go program uses Sheaf, which it finds in a
// checkout beside it:
//
//	go mod edit -require sheaf@v0.0.0 -replace sheaf=../sheaf
//	go mod tidy
//
// Every file is one example, which runs as a test:
//
//   - folder_test.go: index a folder and search it by words and by meaning, in three calls
//   - profile_test.go: rank with a profile of one's own
//   - store_test.go: keep chunks in a store of one's own
//   - program_test.go: serve a collection inside another program, to callers who
//     may see a part of it
//
// notes_test.go opens what the last three begin with.
package examples
