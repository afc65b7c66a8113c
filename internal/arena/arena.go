// Package arena stores many short strings in few blocks of memory. The garbage collector then visits few objects.
package arena

import "strings"

// Texts makes strings that share blocks of memory. A block lives as long as one of its strings. Texts is not safe for
// concurrent use.
type Texts struct {
	size  int // of a block, in bytes
	block strings.Builder
}

// NewTexts returns Texts with blocks of size bytes. It allocates no block before the first string.
func NewTexts(size int) *Texts { return &Texts{size: size} }

// Join returns the parts as one string, which shares no memory with the parts.
func (t *Texts) Join(parts ...string) string {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if t.block.Cap()-t.block.Len() < n {
		t.block = strings.Builder{}
		t.block.Grow(max(n, t.size))
	}
	start := t.block.Len()
	for _, p := range parts {
		t.block.WriteString(p)
	}
	return t.block.String()[start:]
}

// Own returns a copy of list whose strings share no memory with list. It returns nil for nil.
func (t *Texts) Own(list []string) []string {
	if list == nil {
		return nil
	}
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = t.Join(text)
	}
	return out
}
