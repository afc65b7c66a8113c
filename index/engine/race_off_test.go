//go:build !race

package engine

// raced reports whether the race detector is on.
const raced = false
