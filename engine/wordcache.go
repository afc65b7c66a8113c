package engine

import (
	"math"
	"unsafe"
)

// wordCache maps raw words to tokens: a hash table with open addressing. The first
// headBytes of a word stand in its entry, so that most words are found without
// looking elsewhere; the rest of all words lies in one string of bytes. Words of
// unusual length or with very many tokens are not kept.
type wordCache struct {
	slots  []wordEntry
	rests  []wordRest // of the same entries
	count  int
	keys   []byte
	tokens []token
}

type wordEntry struct {
	head      uint64 // see wordHead
	first     uint32 // of its tokens, or the term of the only one
	size      uint8  // of the word; an entry without any is free
	count     uint8  // of its tokens, or alone
	positions uint16
}

// wordRest is what is seldom looked at of an entry.
type wordRest struct {
	hash uint32
	key  uint32 // where the bytes after the head begin in keys
}

const (
	headBytes = 8
	// alone stands for one token with offset 0, as most words have, which is in the
	// entry.
	alone = math.MaxUint8
)

// wordHead is the first headBytes of the word text[start:end], zeros after a shorter
// one.
func wordHead(text string, start, end int) uint64 {
	n := end - start
	if len(text)-start >= headBytes {
		head := load64(text[start:])
		if n < headBytes {
			head &= 1<<(8*n) - 1
		}
		return head
	}
	head := uint64(0)
	for i := range n {
		head |= uint64(text[start+i]) << (8 * i)
	}
	return head
}

func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func (c *wordCache) bytes() int64 {
	return int64(len(c.slots))*int64(unsafe.Sizeof(wordEntry{})+unsafe.Sizeof(wordRest{})) + int64(cap(c.keys)) + int64(cap(c.tokens))*8
}

// hashWord is the hash of a word with this head.
func hashWord(s string, head uint64) uint32 {
	const odd = 0x9e3779b97f4a7c15
	h := (head ^ uint64(len(s))) * odd
	if len(s) > headBytes {
		for at := headBytes; at+8 < len(s); at += 8 {
			h = (h ^ h>>29 ^ load64(s[at:])) * odd
		}
		h = (h ^ h>>29 ^ load64(s[len(s)-8:])) * odd
	}
	return uint32(h >> 32)
}

// find returns what is known of a word with this head; nil for nothing.
func (c *wordCache) find(raw string, head uint64) *wordEntry {
	if len(c.slots) == 0 {
		return nil
	}
	hash, mask := hashWord(raw, head), uint32(len(c.slots)-1)
	for i := hash & mask; ; i = (i + 1) & mask {
		e := &c.slots[i]
		if e.size == 0 {
			return nil
		}
		if e.head == head && int(e.size) == len(raw) && (len(raw) <= headBytes || string(c.keys[c.rests[i].key:][:len(raw)-headBytes]) == raw[headBytes:]) {
			return e
		}
	}
}

// insert keeps a word whose tokens are those from first on; false when it is one
// that is not kept.
func (c *wordCache) insert(raw string, head uint64, first int, positions uint32) bool {
	count := len(c.tokens) - first
	if len(raw) == 0 || len(raw) > math.MaxUint8 || count >= alone || positions > math.MaxUint16 || uint64(len(c.keys)+len(raw)) > math.MaxUint32 {
		return false
	}
	if c.count*4 >= len(c.slots)*3 {
		c.grow()
	}
	e := wordEntry{head: head, first: uint32(first), size: uint8(len(raw)), count: uint8(count), positions: uint16(positions)}
	rest := wordRest{hash: hashWord(raw, head), key: uint32(len(c.keys))}
	if count == 1 && c.tokens[first].offset == 0 {
		e.first, e.count = c.tokens[first].term, alone
		c.tokens = c.tokens[:first]
	}
	if len(raw) > headBytes {
		c.keys = append(c.keys, raw[headBytes:]...)
	}
	c.count++
	c.place(e, rest)
	return true
}

func (c *wordCache) place(e wordEntry, rest wordRest) {
	mask := uint32(len(c.slots) - 1)
	i := rest.hash & mask
	for c.slots[i].size != 0 {
		i = (i + 1) & mask
	}
	c.slots[i], c.rests[i] = e, rest
}

func (c *wordCache) grow() {
	old, rests := c.slots, c.rests
	n := max(1024, 2*len(old))
	c.slots, c.rests = make([]wordEntry, n), make([]wordRest, n)
	for i, e := range old {
		if e.size != 0 {
			c.place(e, rests[i])
		}
	}
}
