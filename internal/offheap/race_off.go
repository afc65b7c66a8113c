//go:build !race

package offheap

const poisoned = false
