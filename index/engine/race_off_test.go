//go:build !race

package engine

// raced says that the race detector watches.
const raced = false
